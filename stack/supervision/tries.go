package supervision

import (
	"math"
	"slices"
)

const (
	restartsDefault = 5
	windowDefault   = 60e9
	// holdFirst and holdMax are the shortest and the longest hold, ns: what is down for a moment
	// is back, and what is down for good costs a start each half minute.
	holdFirst, holdMax = 1e9, 30e9
)

// Tries is the restarts of late, of an actor or of a parent's children together. The zero Tries
// has none.
type Tries struct {
	at   []int64 // when, within the window
	row  int     // without a pause of a window between them
	hold int64   // before the last of these, ns
}

// Again notes one more restart now, if there may be one, and returns the delay in it, ns:
// negative for a hold. The pauses of actors with different serials differ by chance.
func (t *Tries) Again(s *Strategy, now int64, serial uint64) (delay int64, yes bool) {
	return t.again(s, now, luck(serial, t.row))
}

// again is Again; the luck is a number from 0 to 1.
func (t *Tries) again(s *Strategy, now int64, luck float64) (delay int64, yes bool) {
	limit, window := s.Restarts, int64(s.Window)
	if limit == 0 {
		limit = restartsDefault
	}
	if window <= 0 {
		window = windowDefault
	}
	// a hold is no time without a failure
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
