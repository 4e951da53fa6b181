package lost

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// tallyMax is how many handlers a Tally tells apart: a bound on its memory, 4 KiB. Programs have
// dozens of notices, seldom more that get lost.
const tallyMax = 64

// Tally counts dead letters by reason and by the handler, a By, that was to handle them. The zero
// Tally is ready. Any goroutine may add and read, without a lock; adding takes no memory. A
// worker's Tally only that worker adds to.
type Tally[By any] struct {
	rows   [tallyMax]row[By]
	others row[By] // of all handlers that came when the rows were taken
}

type row[By any] struct {
	by atomic.Pointer[By] // set once; nil: the row is free
	n  [reasons]atomic.Uint64
}

// Add counts n letters to by, which is not nil.
//
//alloc:none
func (t *Tally[By]) Add(by *By, why Reason, n uint64) { t.row(by).n[why].Add(n) }

// row returns the row of by, and gives it the first free one if it has none. If all rows are taken
// it is others.
func (t *Tally[By]) row(by *By) *row[By] {
	for i := range t.rows {
		r := &t.rows[i]
		invariant.Point("tally.look")
		switch r.by.Load() {
		case by:
			return r
		case nil:
			invariant.Point("tally.row")
			if r.by.CompareAndSwap(nil, by) || r.by.Load() == by {
				return r
			}
		}
	}
	return &t.others
}

// Each calls f with each count that isn't 0. by is nil for the handlers without a row, counted
// together. Any goroutine may call it.
func (t *Tally[By]) Each(f func(by *By, why Reason, n uint64)) {
	for i := range t.rows {
		if by := t.rows[i].by.Load(); by != nil {
			t.rows[i].each(by, f)
		}
	}
	t.others.each(nil, f)
}

func (r *row[By]) each(by *By, f func(by *By, why Reason, n uint64)) {
	for why := range r.n {
		if n := r.n[why].Load(); n > 0 {
			f(by, Reason(why), n)
		}
	}
}
