package stack

import (
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// A step may put the call that it runs into the house's stash. The call's stack is idle again, and
// begins again, with all others there, when a step calls Unstash. Stashed calls don't count in the
// mailbox: the stash takes as many more as the mailbox does. Unstashed calls wait ahead of the
// others, and count again, so a mailbox may hold twice its bound for a while.
//
// In a restart stashed calls begin again. In a stop, also by a drain, they end with ErrStopped.

// stash is the stashed calls, in the order in which they were stashed. It belongs to the owner of
// the house.
type stash struct {
	calls queue
	n     int
	swept int64 // when sweep last looked, ns
}

// Stash ends the step and puts its call, or the calls of its batch, into the stash. The stack keeps
// what its step wrote into it. Only a step of s may call it. It panics if s has asked, or if it is
// a request of a connection or a hook.
func (s *Stack) Stash() Yield {
	switch {
	case s.state != running:
		s.misuse()
	case s.by.kind == nil || s.by.class > classBatch:
		panic("stack: only asks and notices can be stashed: " + s.by.Name())
	case s.bound != nil:
		panic("stack: a stack that has asked is stashed in " + s.by.Name())
	}
	s.stay()
	return Yield{yieldStash}
}

// Unstash has all stashed calls begin again, in their order and before the queued ones. Only a step
// of s may call it.
func (s *Stack) Unstash() {
	if s.state != running {
		s.misuse()
	}
	s.Engine().unstash(s.to)
}

// stashed returns how many calls are stashed.
func (h *House) stashed() int {
	if a := h.annex.Load(); a != nil && a.stash != nil {
		return a.stash.n
	}
	return 0
}

// stash puts s or, if it is a batch, its members into the stash of h.
//
//go:noinline
func (w *Engine) stash(h *House, s *Stack) {
	if s.ends != 0 {
		w.endOwed(h, s)
	}
	if s.by.class != classBatch {
		w.keep(h, s)
		return
	}
	b := BatchOf(s)
	for m := b.members.first; m != nil; {
		next := m.next
		m.next = nil
		w.keep(h, m)
		m = next
	}
	b.members = Members{}
	w.Shard.Put(&s.Object)
}

// keep puts s into the stash. If the stash is full of calls for which somebody still waits, an ask
// ends with ErrMailboxFull, and a notice becomes a dead letter.
func (w *Engine) keep(h *House, s *Stack) {
	a := h.rooms()
	if a.stash == nil {
		a.stash = &stash{}
	}
	st := a.stash
	if bound, _ := h.rules(); st.n >= bound && !w.sweep(h, st) {
		s.err = fault.ErrMailboxFull
		w.Count.Add(count.Full, 1)
		if s.by.class == classNotice {
			w.Lost(h, s, lost.Full)
		}
		w.end(h, s)
		return
	}
	st.calls.push(s)
	st.n++
}

// sweep ends the stashed calls that are dead, and reports whether there were any. It looks once in
// a turn.
func (w *Engine) sweep(h *House, st *stash) bool {
	if st.swept == w.Now {
		return false
	}
	all, n := st.calls, st.n
	st.calls, st.n, st.swept = queue{}, 0, w.Now
	for s := all.pop(); s != nil; s = all.pop() {
		if w.dead(h, s) {
			w.drop(h, s)
		} else {
			st.calls.push(s)
			st.n++
		}
	}
	return st.n < n
}

// unstash puts the stashed calls before the queued ones.
func (w *Engine) unstash(h *House) {
	a := h.annex.Load()
	if a == nil || a.stash == nil || a.stash.n == 0 {
		return
	}
	st := a.stash
	h.unshown += int32(st.n)
	h.withdraw()
	st.n = 0
	q := &h.calls
	if h.flags.Has(flags.Held) {
		q = &a.held
	}
	if h.flags.Has(flags.Sorted) {
		for s := st.calls.pop(); s != nil; s = st.calls.pop() {
			a.rules.sorter.PushAhead(s)
		}
		if !a.rules.marked {
			a.rules.marked = true
			q.push(&a.rules.mark)
		}
	} else {
		st.calls.join(q)
		*q, st.calls = st.calls, queue{}
	}
	h.flags.Set(flags.Urged) // loops over calls end, as the lane has changed
	w.makeReady(h)
}
