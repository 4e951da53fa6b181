package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFloats: what is added without allocation is what package big says.
func TestFloats(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 1))
	number := func() string {
		digits := strings.Repeat("0", rng.IntN(4))
		for range rng.IntN(20) {
			digits += string(rune('0' + rng.IntN(10)*rng.IntN(2)))
		}
		if digits == "" {
			digits = "5"
		}
		if i := rng.IntN(len(digits) + 5); i < len(digits) {
			digits = digits[:i] + "." + digits[i:]
		}
		return []string{"", "-", "+"}[rng.IntN(3)] + digits
	}
	fast := 0
	for range 40_000 {
		a, b := number(), number()
		x, ok := parseExtended([]byte(a))
		y, okY := parseExtended([]byte(b))
		if !ok || !okY {
			continue
		}
		got, ok := x.plus(y).append(nil)
		if !ok {
			continue
		}
		fast++
		if want, _ := addBig(nil, []byte(a), []byte(b)); string(got) != string(want) {
			t.Fatalf("seed %d: %s + %s = %s, want %s", seed, a, b, got, want)
		}
	}
	require.Greater(t, fast, 20_000)
}

// TestFloatsHalfway: sums that lie between two numbers of 64 bits.
func TestFloatsHalfway(t *testing.T) {
	for _, x := range []struct{ a, b, sum string }{
		{"9223372036854775809", "0.5", "9223372036854775810"}, // half, odd: up
		{"9223372036854775808", "0.5", "9223372036854775808"}, // half, even
		{"9223372036854775808", "0.50000000000000001", "9223372036854775809"},
		{"9999999999999999999", "9999999999999999999", "19999999999999999998"},
		{"18446744073709551615", "0.5", "18446744073709551616"},
		{"0.000000000000000005", "0", "0"},
		{"0.000000000000000015", "0", "0.00000000000000002"},
		{"1", "-0.99999999999999999", "0.00000000000000001"},
		{"-0", "-0", "0"},
	} {
		sum, problem := addFloats(nil, []byte(x.a), []byte(x.b))
		require.Equal(t, fine, problem, x)
		require.Equal(t, x.sum, string(sum), x)
	}
}

func BenchmarkAddFloats(b *testing.B) {
	x, y, out := []byte("3.25"), []byte("0.1"), make([]byte, 0, 64)
	for b.Loop() {
		out, _ = addFloats(out[:0], x, y)
	}
	_ = fmt.Sprint(out)
}
