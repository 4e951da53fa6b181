package supervision

import (
	"math"
	"slices"
)

const (
	restartsDefault = 5
	windowDefault   = 60e9
	// holdFirst and holdMax are the shortest and the longest hold, ns. A resource that is down for
	// a moment is back after the first; if it is down for good, a start each half minute is cheap.
	holdFirst, holdMax = 1e9, 30e9
)

// Tries is the record of recent restarts, of an actor or of a parent's children together. The zero
// Tries has none.
type Tries struct {
	at   []int64 // when they were, within the window; ns
	row  int     // how many in a row, without a window without failures between them
	hold int64   // the hold before the last one in the row, ns; 0: none
}

// Record is the restarts of an actor by its own failures, and those of its children that it decided
// together.
type Record struct{ Own, Group Tries }

// Again notes one more restart now, unless there were too many: then yes is false. delay is its
// pause, ns; if it is negative, a hold of -delay ns. Actors with different serials get different
// pauses.
func (t *Tries) Again(s *Strategy, now int64, serial uint64) (delay int64, yes bool) {
	return t.again(s, now, luck(serial, t.row))
}

// again is Again with luck as an argument, a number from 0 to 1.
func (t *Tries) again(s *Strategy, now int64, luck float64) (delay int64, yes bool) {
	limit, window := s.Restarts, int64(s.Window)
	if limit == 0 {
		limit = restartsDefault
	}
	if window <= 0 {
		window = windowDefault
	}
	// the time of a hold doesn't count as time without a failure
	if n := len(t.at); n > 0 && now-t.at[n-1]-t.hold > window {
		t.row, t.hold = 0, 0
	}
	t.at = slices.DeleteFunc(t.at, func(at int64) bool { return now-at >= window })
	tooOften := limit > 0 && len(t.at) >= limit
	if tooOften && s.Restarts > 0 {
		return 0, false
	}
	if limit < 0 {
		t.at = t.at[:0] // the last one is enough
	}
	t.at = append(t.at, now)
	delay = s.pause(t.row, luck)
	t.row++
	if tooOften || t.hold > 0 {
		t.hold = min(max(holdFirst, 2*t.hold), holdMax)
		delay = -max(delay, t.hold)
	}
	return delay, true
}

// pause returns the delay before the n-th restart in a row, ns.
func (s *Strategy) pause(n int, luck float64) int64 {
	if s.Backoff <= 0 {
		return 0
	}
	limit := s.BackoffMax
	if limit <= 0 {
		limit = 64 * s.Backoff
	}
	full := math.Min(float64(limit), float64(s.Backoff)*math.Pow(2, float64(n)))
	return int64(full/2 + full/2*luck)
}

// luck is a number from 0 to 1 that differs between actors and restarts: by splitmix64.
func luck(serial uint64, n int) float64 {
	z := (serial<<8 + uint64(n) + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}
