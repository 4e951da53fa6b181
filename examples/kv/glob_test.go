package main

import (
	"math/rand/v2"
	"testing"
	"time"
)

// matchesSlowly tries everything: a star takes nothing, or a byte and stays.
func matchesSlowly(pattern, text []byte) bool {
	if len(pattern) == 0 {
		return len(text) == 0
	}
	if pattern[0] == '*' {
		return matchesSlowly(pattern[1:], text) || len(text) > 0 && matchesSlowly(pattern, text[1:])
	}
	if len(text) == 0 {
		return false
	}
	next, ok := one(pattern, 0, text[0])
	return ok && matchesSlowly(pattern[next:], text[1:])
}

func TestGlob(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 1))
	draw := func(letters string, n int) (b []byte) {
		for range rng.IntN(n) {
			b = append(b, letters[rng.IntN(len(letters))])
		}
		return b
	}
	for range 50_000 {
		pattern, text := draw(`ab**?[]^-\`, 10), append(draw("ab-", 8), 'a')
		if got, want := matches(pattern, text), matchesSlowly(pattern, text); got != want {
			t.Fatalf("seed %d: matches(%q, %q) = %v", seed, pattern, text, got)
		}
	}
}

// TestGlobIsQuick: no pattern makes it try all ways to divide a text.
func TestGlobIsQuick(t *testing.T) {
	text := make([]byte, 2000)
	var pattern []byte
	for range 200 {
		pattern = append(pattern, "\x00*"...)
	}
	if matches(append(pattern, 'x'), text) {
		t.Fatal("it matches")
	}
}
