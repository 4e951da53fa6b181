package stack

import "sync/atomic"

// tallyMax is how many handlers a Tally tells apart: a bound on its memory, 4 KiB. Programs have
// dozens of notices, seldom more that get lost.
const tallyMax = 64

// Tally counts dead letters by handler and by reason. It is ready when zero. Adding takes no
// memory and no lock; those of a worker are added by that worker only, and read by anyone.
type Tally struct {
	rows   [tallyMax]tallyRow
	others tallyRow // of handlers that came when all rows were taken
}

type tallyRow struct {
	by atomic.Pointer[Handler] // set once
	n  [lostReasons]atomic.Uint64
}

// add counts n letters of by.
//
//alloc:none
func (t *Tally) add(by *Handler, why Reason, n uint64) { t.row(by).n[why].Add(n) }

// row returns the row of by, which may get one now: rows are taken in the order in which
// handlers come.
func (t *Tally) row(by *Handler) *tallyRow {
	for i := range t.rows {
		r := &t.rows[i]
		switch r.by.Load() {
		case by:
			return r
		case nil:
			if r.by.CompareAndSwap(nil, by) || r.by.Load() == by {
				return r
			}
		}
	}
	return &t.others
}

// Each calls f with each count that isn't 0; kind is the type of the messages,
// "other" of those beyond the bound, and may come several times. Any goroutine may call it.
func (t *Tally) Each(f func(kind string, why Reason, n uint64)) {
	for i := range t.rows {
		if by := t.rows[i].by.Load(); by != nil {
			t.rows[i].each(by.DeadLetter(nil, 0).Type, f)
		}
	}
	t.others.each("other", f)
}

func (r *tallyRow) each(kind string, f func(kind string, why Reason, n uint64)) {
	for why := range r.n {
		if n := r.n[why].Load(); n > 0 {
			f(kind, Reason(why), n)
		}
	}
}
