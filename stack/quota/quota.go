package quota

import "sync/atomic"

// Quota is how many actors of a kind there are, and may be. Any goroutine may use it. A nil Quota
// has no bound, and counts nothing.
type Quota struct {
	max int64
	now atomic.Int64 // Invariant: 0 <= now <= max
}

// New returns a quota of at most max actors.
func New(max int) *Quota { return &Quota{max: int64(max)} }

// Join counts another actor, and reports false if there are max already.
func (q *Quota) Join() bool {
	if q == nil {
		return true
	}
	for {
		n := q.now.Load()
		if n >= q.max {
			return false
		}
		if q.now.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Leave counts an actor that had joined no more.
func (q *Quota) Leave() {
	if q != nil {
		q.now.Add(-1)
	}
}

// Len returns how many there are.
func (q *Quota) Len() int { return int(q.now.Load()) }

// Full reports whether there are max.
func (q *Quota) Full() bool { return q.now.Load() >= q.max }
