package stack

// timed is the search for a slow step. The clock isn't read for each message, so of a slow one
// among several only the last of them is known. Then the next ones are timed one by one: visits
// handle one message, the clock is read behind each, and Trace notes the step to come.
type timed struct {
	on    bool
	until uint64                   // Worker.handled at which it is off again
	by    *Handler                 // of the message handled now, or last; nil: not known
	step  step                     // where it goes on; nil: it begins
	trace func(h *House, s *Stack) // what Worker.Trace was
}

// timedMax is how many messages are timed one by one. That costs some hundred microseconds at
// most, a hundredth of what was slow.
const timedMax = 1000

// slow takes down that n messages took so long, ns, that a step of theirs was slow.
//
//go:noinline
func (w *Worker) slow(n uint64, took int64) {
	w.wasSlow(n, took)
	w.Now = w.Driver.Clock() // the Logger may be slow, too
	t := &w.timed
	t.until = w.handled + timedMax
	if !t.on {
		t.on, t.trace = true, w.Trace
		w.Trace = w.note
	}
}

// timeNext has the next message timed, or ends that.
//
//go:noinline
func (w *Worker) timeNext() {
	t := &w.timed
	t.by, t.step = nil, nil
	if w.handled < t.until {
		w.pace.stride = 1
		return
	}
	w.Trace = t.trace
	*t = timed{}
}

// note is Trace while messages are timed: s is a call, an answer, or the stack whose time came.
func (w *Worker) note(h *House, s *Stack) {
	t := &w.timed
	t.by, t.step = s.by, s.step
	if s.lane == Replies {
		t.by, t.step = nil, nil
		if p := h.annex.Load().table.Find(s.id); p != nil {
			asker := stackOf(p.Owner)
			t.by, t.step = asker.by, asker.step
		}
	}
	if t.by != nil && t.by.class == classOwned { // its steps are the runtime's
		t.step = nil
	}
	if t.trace != nil {
		t.trace(h, s)
	}
}

// assisted is what a worker has handled in turns of others since it read the clock last. If that was slow,
// it is told as theirs. It is noted before a turn is given back, and the house with it.
type assisted struct {
	messages uint64   // 0: nothing
	worker   int      // whose turn was the last
	house    *House   // visited there last
	by       *Handler // of the message there that began or went on last
}

// noteAssist notes what w has handled in a turn of to, which had handled so many messages before.
func (w *Worker) noteAssist(to *Worker, handled uint64) {
	a, p := &w.past, &w.pace
	if to.pace.last != handled { // the clock was read there
		p.last, p.lastAt = w.handled, to.pace.lastAt
		handled, a.messages = to.pace.last, 0
	}
	if n := to.handled - handled; n > 0 {
		*a = assisted{a.messages + n, to.Index, to.house, to.by}
	}
}

// Timed reports whether messages are timed one by one. Only who runs w's turn may ask.
func (w *Worker) Timed() bool { return w.timed.on }

// LastStep names the worker, the actor visited last, and the step: of a message that was timed alone, the
// one that ran; otherwise the first step for the message that began or went on last. For
// Driver.Slow.
func (w *Worker) LastStep() (worker int, actor, step string) {
	if a := &w.past; a.messages > 0 {
		step = "none"
		if a.by != nil {
			step = a.by.Name()
		}
		return a.worker, a.house.Describe(), step
	}
	actor, step = "none", "none"
	if h := w.house; h != nil {
		actor = h.Describe()
	}
	switch t := &w.timed; {
	case t.step != nil:
		step = t.step.name()
	case t.by != nil:
		step = t.by.Name()
	case w.by != nil && !t.on:
		step = w.by.Name()
	}
	return w.Index, actor, step
}
