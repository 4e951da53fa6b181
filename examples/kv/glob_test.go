package main

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

// TestGlobInSteps: a match that is interrupted comes out the same, and takes no more steps than
// it says.
func TestGlobInSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for _, c := range []struct{ pattern, text string }{
		// all ways to divide a text
		{strings.Repeat("\x00*", 200) + "x", strings.Repeat("\x00", 2000)},
		{"*" + strings.Repeat("a", 500) + "b", strings.Repeat("a", 2000)},
		{"*[" + strings.Repeat("b", 500) + "]", strings.Repeat("a", 2000)},
		{strings.Repeat("*", 3000), strings.Repeat("a", 2000)},
		{"a" + strings.Repeat("*", 3000), "a"},
		{strings.Repeat("?", 2000), strings.Repeat("a", 2000)},
	} {
		pattern, text := []byte(c.pattern), []byte(c.text)
		g, taken := newGlob(pattern, text), 0
		for done := false; !done; {
			n, left := 1+rng.IntN(1000), 0
			left, done = g.run(n)
			taken += n - left
			require.LessOrEqual(t, -left, len(pattern), c.pattern)
		}
		require.Equal(t, matches(pattern, text), g.matches, c.pattern)
		require.LessOrEqual(t, taken, (len(pattern)+1)*(len(text)+1), c.pattern)
	}
}
