package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// TestTimesAreFarFromNow: no argument that a server might take for a time comes to be
// within a day, so that what expires has expired before.
func TestTimesAreFarFromNow(t *testing.T) {
	now := time.Now()
	day := 24 * time.Hour
	g := newGenerator(options{seed: 1})
	for range 100_000 {
		c := g.next()
		for i, arg := range c {
			n, ok := resp.ParseInt([]byte(arg))
			if !ok || !isTime(c, i) {
				continue
			}
			for _, at := range []time.Time{time.Unix(n, 0), time.UnixMilli(n)} {
				if away := at.Sub(now); -day < away && away < day {
					t.Fatalf("%v: %s is %v from now", c, arg, away)
				}
			}
			if n > 0 && n < shortest(c, i) {
				t.Fatalf("%v: %s is soon", c, arg)
			}
		}
	}
}

// isTime reports whether argument i may be read as a time.
func isTime(c command, i int) bool {
	switch c.name() {
	case "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT":
		return i == 2
	case "SETEX", "PSETEX":
		return i == 2 && len(c) == 4 // otherwise refused
	case "SET", "GETEX":
		return i > 2 && slices.Contains([]string{"EX", "PX", "EXAT", "PXAT"}, command{c[i-1]}.name())
	}
	return false
}

// shortest is 100 s in the unit of argument i if that says how long a key lives.
func shortest(c command, i int) int64 {
	switch (command{c[i-1]}).name() {
	case "EX":
		return 100
	case "PX":
		return 100_000
	}
	switch c.name() {
	case "EXPIRE", "SETEX":
		return 100
	case "PEXPIRE", "PSETEX":
		return 100_000
	}
	return 0
}

func TestFreshTimesDiffer(t *testing.T) {
	d := dice{}
	seen := map[int]bool{}
	for range 1_000_000 {
		n := d.fresh()
		if seen[n] {
			t.Fatalf("%d comes twice", n)
		}
		seen[n] = true
	}
}

func TestSameSeedSameCommands(t *testing.T) {
	a, b, other := newGenerator(options{seed: 7}), newGenerator(options{seed: 7}), newGenerator(options{seed: 8})
	equal := 0
	for i := range 1000 {
		x, y := a.next(), b.next()
		if !slices.Equal(x, y) {
			t.Fatalf("command %d: %v, then %v", i, x, y)
		}
		if slices.Equal(x, other.next()) {
			equal++
		}
	}
	if equal > 100 {
		t.Errorf("another seed makes %d of 1000 commands the same", equal)
	}
}

func TestChoiceOfCommands(t *testing.T) {
	g := newGenerator(options{seed: 1, only: names("get, set"), without: names("SET")})
	for range 100 {
		if c := g.next(); c.name() != "GET" {
			t.Fatal(c)
		}
	}
}
