package supervision

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTries: the delay of each restart, for failures at given times.
func TestTries(t *testing.T) {
	type failure struct {
		at, delay int64
		refused   bool
	}
	for name, c := range map[string]struct {
		by       Strategy
		failures []failure
		kept     int // how many times are kept
	}{
		"what is as old as the window doesn't count": {Strategy{Restarts: 2, Window: 100},
			[]failure{{at: 1}, {at: 50}, {at: 100, refused: true}, {at: 101}, {at: 149, refused: true}, {at: 150}}, 2},
		"a window below 0 is a minute": {Strategy{Restarts: 1, Window: -1},
			[]failure{{at: 0}, {at: 60e9 - 1, refused: true}, {at: 60e9}}, 1},
		"without a limit the last one is kept": {Strategy{Restarts: -1, Window: 100},
			[]failure{{at: 1}, {at: 2}, {at: 3}, {at: 4}}, 1},
		"without a maximum a pause is up to 64 times the first": {Strategy{Restarts: -1, Backoff: 10},
			[]failure{{0, 10, false}, {1, 20, false}, {2, 40, false}, {3, 80, false}, {4, 160, false}, {5, 320, false},
				{6, 640, false}, {7, 640, false}}, 1},
		"a maximum below the first is the pause": {Strategy{Restarts: -1, Backoff: 10, BackoffMax: 4},
			[]failure{{0, 4, false}, {1, 4, false}}, 1},
		"it begins anew behind more than a window": {Strategy{Restarts: -1, Window: 100, Backoff: 10},
			[]failure{{0, 10, false}, {100, 20, false}, {201, 10, false}}, 1},
		"a hold is as long as the pause would be": {Strategy{Window: 100, Backoff: 1e9, BackoffMax: 50e9},
			[]failure{{0, 1e9, false}, {1, 2e9, false}, {2, 4e9, false}, {3, 8e9, false}, {4, 16e9, false}, {5, -32e9, false},
				{6, -50e9, false}}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			var of Tries
			for _, f := range c.failures {
				delay, yes := of.again(&c.by, f.at, 1)
				require.Equal(t, f, failure{f.at, delay, !yes})
			}
			require.Len(t, of.at, c.kept)
		})
	}
}
