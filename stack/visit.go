package stack

import (
	"fmt"
	"runtime/debug"

	"github.com/stackhouse-go/stackhouse/future"
)

const (
	// hotStreak is how many houses with replies are visited in a row while
	// houses with calls only wait: answers finish work that holds memory, but
	// nobody starves.
	hotStreak = 16
	// replyStreak is the same between the lanes of one house.
	replyStreak = 16
)

// Run visits ready houses until none is ready or about limit messages were
// handled. It returns the number handled. Only who runs w's turn calls it.
func (w *Worker) Run(limit int) (done int) {
	before := w.Count.Messages
	for {
		done = int(w.Count.Messages - before)
		if done >= limit || w.Idle() {
			return done
		}
		w.guarded(limit - done)
	}
}

// guarded is Run up to the first panic of user code, which it contains.
func (w *Worker) guarded(limit int) {
	defer w.contain()
	end := w.Count.Messages + uint64(limit)
	for w.Count.Messages < end {
		h := w.pick()
		if h == nil {
			return
		}
		w.visit(h)
	}
}

// pick unlinks the house to visit next.
func (w *Worker) pick() *House {
	h := w.hot.head
	if h != nil && (w.cold.head == nil || w.streak < hotStreak) {
		w.hot.remove(h)
		if w.cold.head != nil {
			w.streak++
		}
		return h
	}
	w.streak = 0
	if h = w.cold.head; h != nil {
		w.cold.remove(h)
	}
	return h
}

// visit handles up to Budget messages of h, which is ready and unlinked.
func (w *Worker) visit(h *House) {
	w.house = h
	w.urgents = 0
	w.Count.Visits++
	if w.Count.Visits&15 == 0 {
		w.Driver.Queued(w.Now - h.waiting())
	}
	if h.inbox.Load() != nil {
		h.drain()
	}
	for n := w.Budget; n > 0; n-- {
		if h.urgent() && w.urgents < replyStreak {
			w.first(h)
			continue
		}
		w.urgents = 0
		s := h.lanes[Calls].pop()
		if s == nil {
			if !h.urgent() {
				break
			}
			continue
		}
		w.Count.Messages++
		if w.Trace != nil {
			w.Trace(h, s)
		}
		w.begin(h, s)
	}
	w.leave(h)
}

// first handles what goes ahead of calls: a system message, a timer or an answer.
func (w *Worker) first(h *House) {
	if s := h.lanes[System].pop(); s != nil {
		w.Count.Messages++
		if w.Trace != nil {
			w.Trace(h, s)
		}
		w.control(h, s)
		return
	}
	w.urgents++
	if !h.fired.Empty() {
		w.expire(h, future.PromiseOf(h.fired.Pop()))
		return
	}
	s := h.lanes[Replies].pop()
	w.Count.Messages++
	if w.Trace != nil {
		w.Trace(h, s)
	}
	w.resolve(h, s)
}

// waiting returns since when the oldest known message of h waits.
func (h *House) waiting() int64 {
	if s := h.lanes[Calls].head; s != nil && s.sent != 0 && s.sent < h.readyAt {
		return s.sent
	}
	return h.readyAt
}

// leave ends the visit of w.house: it is queued again if it has mail.
func (w *Worker) leave(h *House) {
	w.house = nil
	h.readyAt = w.Now
	if h.hasMail() {
		w.enqueue(h)
	} else {
		h.ready, h.hot = false, false
	}
}

// begin starts the handler of a call, or drops it.
func (w *Worker) begin(h *House, s *Stack) {
	if s.back != nil {
		w.Count.Asks++
	}
	if h.phase != open || s.cancelled.Load() || (s.deadline != 0 && w.Now > s.deadline) {
		w.drop(h, s)
		return
	}
	if s.by.batch != nil {
		s = w.gather(h, s)
	}
	w.enter(h, s, s.by.first)
}

// enter runs a step of s: the transition idle or suspended -> running, and out
// of it as the step says.
func (w *Worker) enter(h *House, s *Stack, f step) {
	s.state = running
	w.current, w.inStep = s, true
	y := f(h.self(), s.self)
	w.inStep = false
	if y.how == yieldEnd && s.state == ended && s.bound == nil && s.err == nil {
		// The most frequent ends, without the detours of w.end.
		if s.by.class == classNotice {
			w.Shard.Put(&s.Object)
			return
		}
		if s.by.class == classAsk && s.back != nil {
			w.reply(s)
			return
		}
	}
	if y.how == yieldWait && s.state == suspended {
		if s.fresh == 0 {
			w.suspend(s)
		}
		return
	}
	w.leaveStep(h, s, y)
}

// leaveStep is the transition out of running, as the step says.
func (w *Worker) leaveStep(h *House, s *Stack, y Yield) {
	switch {
	case y.how == yieldEnd && s.state == ended:
		w.end(h, s)
	case y.how == yieldAgain && s.state == idle:
		if s.pending != 0 && s.fresh == 0 {
			w.suspend(s)
		}
	case y.how == yieldNone:
		w.fail(h, s, "stack: a step returned the zero Yield")
	default:
		w.fail(h, s, "stack: a step returned the Yield of another stack")
	}
}

// suspend notes that s waits: if it still does at the end of the turn, its
// deadlines are armed.
func (w *Worker) suspend(s *Stack) {
	w.fresh = append(w.fresh, s)
	s.fresh = int32(len(w.fresh))
}

// ArmFresh arms the promises that still wait, of stacks suspended since the last
// call. Only who runs w's turn calls it, at its end.
func (w *Worker) ArmFresh() {
	for i, s := range w.fresh {
		w.fresh[i] = nil
		if s == nil {
			continue
		}
		s.fresh = 0
		for p := s.bound; p != nil; p = p.Next {
			if p.State == future.Waiting && p.Slot == 0 {
				w.Driver.Arm(&p.Node)
			}
		}
	}
	w.fresh = w.fresh[:0]
}

// Fire queues a promise whose time came at its house. Only who runs w's turn calls it.
func (w *Worker) Fire(n *future.Node) {
	h := stackOf(future.PromiseOf(n).Owner).to
	h.fired.Push(n)
	w.makeReady(h)
}

// resolve brings an answer home: the late ones end here.
func (w *Worker) resolve(h *House, c *Stack) {
	p := h.table.Take(c.id, &w.Shard)
	if p == nil {
		w.Count.Late++
		w.Shard.Put(&c.Object)
		return
	}
	if p.Slot != 0 {
		w.disarm(h, p)
	}
	p.Err = c.err
	w.answered(h, p)
}

// expire ends a promise whose time came and whose answer didn't.
func (w *Worker) expire(h *House, p *future.Promise) {
	w.Count.Messages++
	h.table.Take(p.ID, &w.Shard)
	if !p.Timer {
		w.Count.Timeouts++
		p.Err = ErrTimeout
		abandon(p)
	}
	if w.Trace != nil {
		w.Trace(h, stackOf(p.Owner))
	}
	w.answered(h, p)
}

// answered marks p, which is out of the table, done, and resumes its stack if
// that is what it waits for.
func (w *Worker) answered(h *House, p *future.Promise) {
	p.State = future.Done
	s := stackOf(p.Owner)
	s.pending--
	if s.cancelled.Load() {
		w.giveUp(h, s)
		return
	}
	if s.pending == 0 || s.mode == waitAny || (s.mode == waitUntil && w.won(h, s)) {
		w.enter(h, s, s.step)
	}
}

// won asks the predicate of a stack suspended by SuspendUntil.
func (w *Worker) won(h *House, s *Stack) bool {
	s.state, w.current, w.inStep = running, s, true
	won := s.ready(h.self(), s.self)
	s.state, w.inStep = suspended, false
	return won
}

// giveUp ends a suspended stack whose asker gave up.
func (w *Worker) giveUp(h *House, s *Stack) {
	w.Count.Cancelled++
	s.err = ErrCancelled
	w.end(h, s)
}

// abandon flags the callee's stack, if there is one, and lets go of it: its
// answer will find nobody. The promise stood until now, so the stack hasn't been
// recycled: only this worker recycles it, after its answer came.
func abandon(p *future.Promise) {
	if p.Call != nil {
		stackOf(p.Call).cancelled.Store(true)
		p.Call = nil
	}
}

// disarm takes p out of the wheel or of the queue of fired promises.
func (w *Worker) disarm(h *House, p *future.Promise) {
	if p.Queued() {
		h.fired.Remove(&p.Node)
	} else {
		w.Driver.Disarm(&p.Node)
	}
}

// contain is deferred around visits: it ends the stack whose step panicked and
// the visit. A panic of the runtime itself goes on.
func (w *Worker) contain() {
	if !w.inStep {
		return // no panic, or none of user code: it passes
	}
	w.inStep = false
	h, s := w.house, w.current
	if value := recover(); value != nil {
		w.fail(h, s, value)
		w.leave(h)
	}
}

// fail ends s because user code panicked with value.
//
//go:noinline
func (w *Worker) fail(h *House, s *Stack, value any) {
	s.state = ended
	s.err = &PanicError{Actor: h.Describe(), Step: s.StepName(), Value: value, Trace: debug.Stack()}
	w.Count.Failures++
	w.Driver.Failed(h, s, s.err)
	w.end(h, s)
}

// Failure is what a Throw in a notice tells the driver.
func failure(h *House, s *Stack) error {
	return fmt.Errorf("%s threw in %s: %w", h.Describe(), s.StepName(), s.err)
}
