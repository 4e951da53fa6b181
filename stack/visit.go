package stack

import (
	"fmt"
	"runtime/debug"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

const (
	// hotStreak is how many houses with replies are visited in a row while
	// houses with calls only wait: answers finish work that holds memory, but
	// nobody starves.
	hotStreak = 16
	// replyStreak is the same between the lanes of one house.
	replyStreak = 16
)

// Run visits ready houses until none is ready, about limit messages were handled, or the
// turn's time is up. It returns the number handled. Only who runs w's turn calls it.
func (w *Engine) Run(limit int) int {
	handled, visits := w.handled, w.visits
	end := handled + uint64(limit)
	w.setVisitMax()
	for w.handled < end && !w.overtime() && !w.Idle() && !w.done() {
		if w.handled >= w.pace.next {
			w.readClock()
			continue
		}
		w.guarded(min(end, w.pace.next))
	}
	w.Count.Add(CountVisits, w.visits-visits)
	w.Count.Add(CountMessages, w.handled-handled)
	return int(w.handled - handled)
}

// done reports whether a guest runs the turn and has its answer.
func (w *Engine) done() bool { return w.borrower != nil && w.borrower.Ready() }

// guarded is Run up to the first panic of user code, which it contains.
func (w *Engine) guarded(end uint64) {
	defer w.contain()
	for w.handled < end && !w.done() {
		h := w.pick()
		if h == nil {
			return
		}
		w.visit(h)
	}
}

// pick unlinks the house to visit next. While it is visited it counts as hot, so
// that nobody moves it between the queues.
func (w *Engine) pick() *House {
	if w.hot.head != nil && (w.cold.head == nil || w.streak < hotStreak) {
		if w.cold.head != nil {
			w.streak++
		}
		return w.hot.pop()
	}
	w.streak = 0
	if w.cold.head == nil {
		return nil
	}
	h := w.cold.pop()
	h.queued = queuedHot
	return h
}

// visit handles up to visitMax messages of h, which is ready and unlinked.
func (w *Engine) visit(h *House) {
	h.enter(w)
	w.house = h
	w.urgents = int(h.urgents)
	w.visits++
	if w.visits&15 == 0 {
		w.Driver.Queued(w.Now - h.waiting())
	}
	invariant.Point("visit.look")
	if h.inbox.Load() != nil {
		w.drain(h)
	}
	for n := w.visitMax; n > 0; n-- {
		invariant.Point("visit.urged")
		if h.flags.has(flagUrged | flagHeld | flagAlone | flagSorted) {
			if !w.attend(h) {
				if h.ahead { // the end of the hold, perhaps
					w.first(h)
				}
				break
			}
			if h.flags.has(flagSorted) && !h.turnsAway() {
				w.visitSorted(h, n)
				break
			}
		}
		if h.ahead && (w.urgents < replyStreak || h.calls.head == nil || h.system.last != nil) {
			w.first(h)
			continue
		}
		w.urgents = 0
		s := h.calls.head
		if s == nil {
			break
		}
		if s.by.envelope.opens != nil {
			n = 1 + w.open(h, envelopeOf(s), n)
			continue
		}
		h.calls.pop()
		h.unshown -= s.by.counts
		w.handled++
		if w.Trace != nil {
			w.Trace(h, s)
		}
		if s.by.bare.is {
			n = w.beginBare(h, s, n)
		} else {
			w.begin(h, s)
		}
	}
	w.leave(h)
}

// first handles what goes ahead of calls: a hook, a system message, a timer or an answer.
func (w *Engine) first(h *House) {
	a := h.annex.Load()
	if h.system.last == nil && a.fired.Empty() {
		w.handled++
		s := a.replies.pop()
		h.ahead = a.replies.head != nil
		w.urgents++
		if w.Trace != nil {
			w.Trace(h, s)
		}
		w.resolve(h, s)
		return
	}
	if s := h.system.pop(); s != nil {
		h.lookAhead()
		if s.by.class == classHook { // no message, but what follows from one
			w.hook(h, s)
			return
		}
		w.handled++
		if w.Trace != nil {
			w.Trace(h, s)
		}
		w.control(h, s)
		return
	}
	w.handled++
	w.urgents++
	p := future.PromiseOf(a.fired.Pop())
	h.lookAhead()
	if w.Trace != nil {
		w.Trace(h, stackOf(p.Owner))
	}
	w.expire(h, p)
}

// waiting returns since when the oldest known message of h waits.
func (h *House) waiting() int64 {
	if s := h.calls.head; s != nil && s.sent != 0 && s.sent < h.readyAt {
		return s.sent
	}
	return h.readyAt
}

// leave ends the visit of h, behind the hooks that what was handled calls for: it is queued again if it has mail.
func (w *Engine) leave(h *House) {
	for w.seen != 0 || h.hookFirst() {
		if h.hookFirst() { // first of all: a failure, perhaps, of an actor that now drains
			w.first(h)
			continue
		}
		if w.seen&flagNoted != 0 {
			w.dated(h)
		}
		w.seen = 0
		w.drained(h)
	}
	if w.out.to != nil {
		w.sendOut()
	}
	h.exit()
	if h.unshown != 0 {
		h.count(int(h.unshown))
		h.unshown = 0
	}
	h.urgents = uint8(min(w.urgents, replyStreak)) // also if none is left: the next visit may begin with one
	if h.ahead {
		h.readyAt = w.Now
		w.hot.push(h)
		return
	}
	invariant.Point("visit.leave")
	if h.calls.head == nil && (w.Gathers || h.inbox.Load() == nil) { // who sent rings
		h.queued = notQueued
		return
	}
	h.queued = queuedCold
	h.readyAt = w.Now
	w.cold.push(h)
}

// begin starts the handler of a call, or drops it.
func (w *Engine) begin(h *House, s *Stack) {
	invariant.Point("visit.begin")
	if h.flags.has(flagStopped|flagNoted) || s.cancelled.Load() || (s.deadline != 0 && w.Now > s.deadline) {
		w.doubt(h, s)
		return
	}
	if s.by.batch.by != nil {
		s = w.gather(h, s)
	}
	s.run()
	w.current, w.by, w.inStep = s, s.by, true // current stays until the next step
	w.after(h, s, s.by.first(h.self(), s.self()))
}

// doubt begins a call that looked dead if it was only forwarded or is to be noted, and else drops it.
//
//go:noinline
func (w *Engine) doubt(h *House, s *Stack) {
	if s.by.request.aside != nil && s.cancelled.Uint32.Load() == heldBack && !h.Gone() {
		s.by.request.aside(s)
		return
	}
	if w.dead(h, s) {
		w.drop(h, s)
		return
	}
	s.begunOnward()
	w.beginNoted(h, s)
}

// dead reports whether s, which h takes, doesn't begin.
func (w *Engine) dead(h *House, s *Stack) bool {
	return h.Gone() || s.givenUp() || s.deadline != 0 && w.Now > s.deadline
}

// beginNoted is begin of a call that isn't dead, and notes that if it is to be noted.
func (w *Engine) beginNoted(h *House, s *Stack) {
	noted := h.flags.has(flagNoted)
	if noted {
		w.noteBegun(h, s)
	}
	if s.by.batch.by != nil {
		s = w.gather(h, s)
		if noted {
			w.noteBatch(h, s)
		}
	}
	w.enter(h, s, s.by.first)
}

// beginBare is begin for s and for what follows it in the lane, as long as its handlers are bare,
// nothing goes ahead, and n, which it returns the rest of, isn't used up. Nobody cancels such
// stacks, no deadline ends them, and they have the shortest life of all.
func (w *Engine) beginBare(h *House, s *Stack, n int) int {
	for {
		if h.flags.has(flagStopped|flagNoted) && !w.begins(h, s) {
			return n
		}
		s.run()
		w.current, w.by, w.inStep = s, s.by, true
		if y := s.by.first(h.self(), s.self()); y.how != yieldEnd || s.odd() {
			w.after(h, s, y)
			return n
		}
		w.inStep = false
		if w.out.to != nil {
			w.sendFirst()
		}
		if s.by.bare.wipe != nil {
			s.by.bare.wipe(s)
		}
		s.blank()
		if !w.Shard.PutHere(&s.Object) {
			w.Shard.PutClear(&s.Object)
		}
		invariant.Point("bare.urged")
		if n == 1 || h.interrupted() {
			return n
		}
		if s = h.calls.head; s == nil || !s.by.bare.is {
			return n
		}
		h.calls.pop()
		h.unshown--
		n--
		w.handled++
		if w.Trace != nil {
			w.Trace(h, s)
		}
	}
}

// odd reports whether a step of a bare handler, which said that it has ended, did more
// than beginBare and open clear.
func (s *Stack) odd() bool {
	return s.state != ended || s.used
}

// enter goes on with a suspended stack.
func (w *Engine) enter(h *House, s *Stack, f step) {
	s.run()
	w.current, w.by, w.inStep = s, s.by, true
	w.after(h, s, f(h.self(), s.self()))
}

// after is the transition out of running, as the step that ended says.
func (w *Engine) after(h *House, s *Stack, y Yield) {
	w.inStep = false
	if w.out.to != nil {
		w.sendFirst()
	}
	if y.how == yieldEnd && s.state == ended && s.bound == nil && s.err == nil && s.ends == 0 {
		if s.by.class == classAsk && s.back != nil {
			w.reply(s) // the most frequent end, without the detours of end
			return
		}
	}
	if y.how == yieldWait && s.state == suspended {
		if s.fresh == 0 {
			w.suspend(s)
		}
		if w.seen&flagAlone != 0 {
			s.isolate()
		}
		return
	}
	w.oddly(h, s, y)
}

// oddly is after for the less frequent ends.
func (w *Engine) oddly(h *House, s *Stack, y Yield) {
	switch {
	case y.how == yieldEnd && s.state == ended:
		w.end(h, s)
	case y.how == yieldForward && s.state == ended && w.onward != nil && w.onward.relay().call == s:
		w.forward(h, s)
	case y.how == yieldAgain && s.state == idle:
		if s.pending != 0 && s.fresh == 0 {
			w.suspend(s)
		}
	case y.how == yieldStash && s.state == idle:
		w.stash(h, s)
	case y.how == yieldOver:
		w.command(h, control{verb: verbLeft})
		w.end(h, s)
	case y.how == yieldNone:
		w.fail(h, s, "stack: a step returned the zero Yield")
	default:
		w.fail(h, s, "stack: a step returned the Yield of another stack")
	}
}

// suspend notes that s waits: if it still does at the end of the turn, its
// deadlines are armed.
func (w *Engine) suspend(s *Stack) {
	w.fresh = append(w.fresh, s)
	s.fresh = int32(len(w.fresh))
}

// ArmFresh arms the promises that still wait, of stacks suspended since the last
// call. Only who runs w's turn calls it, at its end.
func (w *Engine) ArmFresh() {
	for i, s := range w.fresh {
		w.fresh[i] = nil
		if s == nil {
			continue
		}
		s.fresh = 0
		left := s.pending
		for p := s.bound; p != nil && left > 0; p = p.Next {
			if p.State != future.Waiting {
				continue
			}
			left--
			if p.Slot == 0 {
				w.Driver.Arm(&p.Node)
			}
		}
	}
	w.fresh = w.fresh[:0]
}

// Fire queues a promise whose time came at its house. Only who runs w's turn calls it.
func (w *Engine) Fire(n *future.Node) {
	h := stackOf(future.PromiseOf(n).Owner).to
	h.annex.Load().fired.Push(n)
	h.ahead = true
	w.makeReady(h)
}

// resolve brings an answer home: the late ones end here.
func (w *Engine) resolve(h *House, c *Stack) {
	p := h.annex.Load().table.Take(c.id, &w.Shard)
	if p == nil {
		w.Count.Add(CountLate, 1)
		c.late()
		return
	}
	if p.Slot != 0 {
		w.disarm(h, p)
	}
	w.answered(h, p, c.err)
}

// expire ends a promise whose time came and whose answer didn't.
func (w *Engine) expire(h *House, p *future.Promise) {
	h.annex.Load().table.Take(p.ID, &w.Shard)
	var err error
	if !p.Timer {
		w.Count.Add(CountTimeouts, 1)
		err = fault.ErrTimeout
		w.abandon(p)
	}
	w.answered(h, p, err)
}

// answered finishes p, which is out of the table, and resumes its stack if
// that is what it waits for.
func (w *Engine) answered(h *House, p *future.Promise, err error) {
	p.Finish(err)
	s := stackOf(p.Owner)
	s.pending--
	invariant.Point("visit.answered")
	if s.cancelled.Load() && s.givenUp() && w.giveUp(h, s) {
		return
	}
	if s.pending == 0 || s.mode == waitAny || (s.mode == waitUntil && w.won(h, s)) {
		w.enter(h, s, s.step)
	}
}

// won asks the predicate of a stack suspended by SuspendUntil.
func (w *Engine) won(h *House, s *Stack) bool {
	s.judge()
	w.current, w.inStep = s, true
	won := s.ready(h.self(), s.self())
	s.judged()
	w.inStep = false
	return won
}

// flagJob has a pool not begin the job that p waits for, if it is one, which is about to be abandoned with
// others: those at work that are told make room for it.
func flagJob(p *future.Promise) {
	if p.Call == nil {
		return
	}
	if c := stackOf(p.Call); c.by.job.onGiveUp != nil && !isKept(p) {
		c.cancelled.Store(givenUp)
	}
}

// disarm takes p out of the wheel or of the queue of fired promises.
func (w *Engine) disarm(h *House, p *future.Promise) {
	if p.Queued() {
		h.annex.Load().fired.Remove(&p.Node)
		h.lookAhead()
	} else {
		w.Driver.Disarm(&p.Node)
	}
}

// contain is deferred around visits: it ends the stack whose step panicked, and
// the visit. A panic of the runtime itself goes on.
func (w *Engine) contain() {
	if !w.inStep {
		return // no panic, or none of user code: it passes
	}
	w.inStep = false
	value := recover()
	if value == nil {
		value = "runtime.Goexit was called" // it goes on: the driver needs another goroutine
	}
	w.contained(value)
}

// contained ends the stack and the visit. A hook runs before that has ended, and may panic in its turn.
func (w *Engine) contained(value any) {
	defer w.contain()
	h := w.house
	w.fail(h, w.current, value)
	w.leave(h)
}

// fail ends s because user code panicked with value.
//
//go:noinline
func (w *Engine) fail(h *House, s *Stack, value any) {
	s.close()
	if w.onward != nil {
		w.dropOnward()
	}
	s.err = &fault.PanicError{Actor: h.Describe(), Step: s.StepName(), Value: value, Trace: debug.Stack()}
	w.failed(h, s, s.err)
	err, blamed := s.err, h.blamedFor(s)
	w.end(h, s)
	if blamed {
		w.noteFailure(h, err)
	}
}

// blamedFor reports whether a panic in s is a failure of the actor: not in a hook, which says what its own means, nor in
// the stack of a connection, which is no step of the actor. In a request of a connection it is the result of that alone,
// as strangers send those, unless the actor has a strategy of its own.
func (h *House) blamedFor(s *Stack) bool {
	switch {
	case s.by.class == classHook || s.by.kind == nil:
		return false
	case s.by.class == classOwned:
		l := h.life()
		return l != nil && l.own != nil
	}
	return true
}

// failure is what a Throw in a notice tells the driver.
func failure(h *House, s *Stack) error {
	return fmt.Errorf("%s threw in %s: %w", h.Describe(), s.StepName(), s.err)
}
