package stack

import (
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// A step may put the call that it runs back into the house's stash: its stack is then what it was
// before it began, and begins again, with all others there, when a step says so. What is stashed
// doesn't count as waiting: the stash has a bound of its own, the mailbox's. Unstashed calls wait
// like others, ahead of them, and then count; so a mailbox may hold twice its bound for a while.
//
// With a restart what is stashed begins again; with a stop, also behind a drain, it ends with
// ErrStopped.

// stash is the calls put back, in the order in which they were. It belongs to the owner of the
// house.
type stash struct {
	calls queue
	n     int
}

// Stash puts the call that s runs back. The stack keeps what its step wrote into it. Only a step
// of s may call it, and it has asked nothing yet.
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

// Unstash has all that is stashed begin again, in its order and before what is queued. Only a
// step of s may call it.
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

// stash is the transition running -> idle of s, or of the members of a batch.
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

// keep puts s into the stash. If that is full its sender gets ErrMailboxFull, or it is a dead
// letter.
func (w *Engine) keep(h *House, s *Stack) {
	a := h.rooms()
	if a.stash == nil {
		a.stash = &stash{}
	}
	st := a.stash
	if bound, _ := h.rules(); st.n >= bound {
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

// unstash puts what is stashed before what is queued.
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
		a.rules.again.join(&st.calls)
		if !a.rules.marked {
			a.rules.marked = true
			q.push(&a.rules.mark)
		}
	} else {
		st.calls.join(q)
		*q, st.calls = st.calls, queue{}
	}
	h.flags.Set(flags.Urged) // what loops over calls looks up
	w.makeReady(h)
}

// len returns how many calls are in the sorter and ahead of it: it is 0 only if there are none.
func (r *rules) len() int {
	n := r.sorter.Len()
	if r.again.head != nil {
		n++
	}
	return n
}

// pop removes the next.
func (r *rules) pop() *Stack {
	if s := r.again.pop(); s != nil {
		return s
	}
	return r.sorter.Pop()
}

// peek returns the next.
func (r *rules) peek() *Stack {
	if r.again.head != nil {
		return r.again.head
	}
	return r.sorter.Peek()
}
