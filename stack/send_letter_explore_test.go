//go:build explore

package stack

import "github.com/stackhouse-go/stackhouse/stack/lost"

// Several goroutines lose notices to two handlers for the first time: each handler has one row.
func exploreTally(s *stage) {
	var t lost.Tally[Handler]
	for i, by := range []*Handler{listenWords, listenLong, listenWords} {
		s.Go(guestNames[i], func() { t.Add(by, lost.Stopped, 1) })
	}
	s.After(func() {
		var rows []uint64
		t.Each(func(by *Handler, _ lost.Reason, n uint64) {
			if want := map[*Handler]uint64{listenWords: 2, listenLong: 1}[by]; n != want {
				s.Fail("a row has counted %d, want %d", n, want)
			}
			rows = append(rows, n)
		})
		if len(rows) != 2 {
			s.Fail("two handlers have rows of %v", rows)
		}
	})
}
