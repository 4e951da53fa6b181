package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestFair: beside an actor that is always fed, and connections, cold actors wait no longer than
// twice the bound, in one of some rounds: another process may take the processor away. That makes
// steps and the bound longer too, so that on a busy machine this shows little.
func TestFair(t *testing.T) {
	fairly(t, 20, 200*time.Millisecond, 1, time.Hour)
}

// TestLongFair: the same of one message in a thousand, in a round with a bound of a millisecond
// at most.
func TestLongFair(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("STACKHOUSE_LONG isn't set")
	}
	fairly(t, 10, 5*time.Second, 2, time.Millisecond)
}

// fairly requires of one of some rounds that the quantile of the waits, p99 or p99.9, is within
// twice the bound. Those whose bound is above most don't count.
func fairly(t *testing.T, rounds int, length time.Duration, quantile int, most time.Duration) {
	var seen []string
	for range rounds {
		res, teller, err := fairLoad.run(options{length: length})
		if err != nil {
			t.Fatal(err)
		}
		wait, bound := res.p[quantile], teller.bound()
		if bound <= 0 || wait <= 0 {
			t.Fatalf("a wait of %d ns, a bound of %d ns", wait, bound)
		}
		seen = append(seen, span(wait)+" of "+span(bound))
		if wait <= 2*bound && bound <= int64(most) { // a greater one isn't the worker's
			return
		}
	}
	t.Errorf("in no round waits are within twice the bound: %s", strings.Join(seen, ", "))
}

func TestTabulate(t *testing.T) {
	var out strings.Builder
	if err := tabulate(&out, options{length: 10 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"\n       8 ", "\n     256 ", "8 actors on one worker"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("no %q in\n%s", row, out.String())
		}
	}
}
