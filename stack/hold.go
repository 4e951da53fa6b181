package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// A house may hold its calls: none begins, and those that come wait in the annex, behind each
// other, until no reason is left. Answers, timers and system messages go on. What a hold costs
// who holds nothing is a bit in a word that visits look at anyway.

// reasons is why a house holds its calls, a bit each. Only the owner touches it.
type reasons uint8

const (
	// heldByLife: a hook runs, or the actor waits for its supervisor, see life.go.
	heldByLife reasons = 1 << iota
	// heldByBarrier: a stack has the actor for itself.
	heldByBarrier
	// heldByUser: the actor was told to pause.
	heldByUser
)

// hold keeps calls from beginning, for one more reason. Only the owner calls it, or who knows
// the house alone.
func (h *House) hold(why reasons) {
	h.rooms()
	h.why |= why
	h.interrupt(flagHeld)
}

// release takes a reason away. With the last one the calls that wait are next, in their order.
func (w *Engine) release(h *House, why reasons) {
	if h.why&why == 0 {
		return
	}
	if h.why &^= why; h.why != 0 {
		return
	}
	h.flags.clear(flagHeld)
	w.recall(h, h.annex.Load())
}

// recall puts the calls that are held before what is queued.
func (w *Engine) recall(h *House, a *annex) {
	a.held.join(&h.calls)
	h.calls, a.held = a.held, queue{}
	w.makeReady(h)
}

// attend does what the flags of h ask of a visit before the next message. It reports whether the visit goes on.
//
//go:noinline
func (w *Engine) attend(h *House) bool {
	if h.flags.has(flagUrged) {
		invariant.Point("visit.calm")
		h.flags.clear(flagUrged)
		w.drain(h)
	}
	w.seen = w.seen&flagNoted | h.flags.now()&(flagHeld|flagAlone)
	if w.seen&flagHeld != 0 {
		h.withdraw()
		switch a := h.annex.Load(); {
		case !h.turnsAway():
			a.held.join(&h.calls)
		case h.system.last == nil: // which goes ahead
			return w.turnAway(h, a)
		}
	}
	return true
}

// turnsAway reports whether asks end at once, while h holds its calls.
func (h *House) turnsAway() bool {
	l := h.life()
	return l != nil && l.Down()
}

// turnAway ends the asks, and the requests of connections, that are first in the lane of calls of h, and moves notices to
// those that are held. The stack of a connection, which is the runtime's, stays, and is begun by the visit, before it goes on. It
// reports false if it has ended what a visit handles, and there are more.
func (w *Engine) turnAway(h *House, a *annex) bool {
	q, last := &h.calls, w.handled+uint64(w.visitMax)
	for s := q.head; s != nil && (s.by.class != classOwned || s.by.kind != nil); s = q.head {
		if w.handled >= last {
			return false
		}
		q.pop()
		switch {
		case s.by == markHandler:
			a.rules.unsort(q)
		case s.by.class != classAsk && s.by.class != classOwned:
			a.held.push(s)
		default:
			h.unshown -= s.by.counts
			w.handled++
			s.err = fault.ErrRestarted
			w.end(h, s)
		}
	}
	return true
}

// join appends what other holds, which is empty then.
func (q *queue) join(other *queue) {
	if other.head == nil {
		return
	}
	if q.head == nil {
		q.head = other.head
	} else {
		q.tail.next = other.head
	}
	q.tail = other.tail
	*other = queue{}
}

// endBars is set in Stack.ends of one that keeps other calls of its actor from beginning.
const endBars = 1 << 7

// Barrier holds the actor's calls until s ends: nothing else of the actor begins. Those in
// progress go on. Only a step of s may call it.
func (s *Stack) Barrier() {
	if s.state != running {
		s.misuse()
	}
	s.used = true
	s.bar()
}

// bar has s be one for which the actor's calls are held.
func (s *Stack) bar() {
	if s.ends&endBars != 0 {
		return
	}
	s.ends |= endBars
	s.to.rooms().bars++
	s.to.hold(heldByBarrier)
}

// unbar ends the barrier of s.
//
//go:noinline
func (w *Engine) unbar(s *Stack) {
	s.ends &^= endBars
	a := s.to.annex.Load()
	if a.bars--; a.bars == 0 {
		w.release(s.to, heldByBarrier)
	}
}

// isolate is Barrier for s, which is suspended, of an actor that is handled alone.
//
//go:noinline
func (s *Stack) isolate() {
	if s.by.kind != nil && s.by.class != classHook { // a connection's own stack has no kind
		s.bar()
	}
}
