package stack

import "github.com/stackhouse-go/stackhouse/stack/flags"

// visitSorted is visit, after its beginning, of a house whose calls aren't taken in the order of
// its lane.
func (w *Engine) visitSorted(h *House, n int) {
	r := h.annex.Load().rules
	for ; n > 0; n-- {
		if h.flags.Has(flags.Urged | flags.Held | flags.Alone) {
			w.attend(h)
			if h.turnsAway() {
				return
			}
		}
		if h.ahead && (w.urgents < replyStreak || h.calls.head == nil || h.system.last != nil) {
			w.first(h)
			continue
		}
		w.urgents = 0
		if h.calls.head == nil {
			return
		}
		w.sort(h, r)
		if r.drain != nil && r.len() == 0 {
			w.beginDrain(h, r)
			continue
		}
		s := r.pop()
		if r.len() == 0 && r.drain == nil {
			h.calls.pop() // the mark
			r.marked = false
		}
		if s == nil {
			return
		}
		h.unshown -= s.by.counts
		w.handled++
		if w.Trace != nil {
			w.Trace(h, s)
		}
		if s.by.batch.by != nil {
			w.beginBatch(h, r, s)
			continue
		}
		w.begin(h, s)
	}
}

// beginBatch is begin for a call whose batch takes what follows it. If it doesn't begin, what
// follows stays in the sorter, where it has its place.
func (w *Engine) beginBatch(h *House, r *rules, s *Stack) {
	if w.dead(h, s) {
		w.drop(h, s)
		return
	}
	h.line(r, s.by)
	w.beginNoted(h, s)
}

// sort moves what is in the lane of calls into the sorter, behind which the mark is alone in the
// lane. It is there all the time: what orders calls may be the user's, and panic.
func (w *Engine) sort(h *House, r *rules) {
	q := &h.calls
	if !r.marked {
		r.marked = true
		q.push(&r.mark)
	}
	for q.head != q.tail {
		s := q.pop()
		if s == &r.mark {
			q.push(s)
			continue
		}
		if r.drain != nil {
			r.late.push(s)
			continue
		}
		if s.by == drainHandler {
			r.drain = s
			continue
		}
		w.Blame(s)
		r.sorter.Push(s)
		w.Spare(s)
	}
}

// Blame has a panic be the failure of s, which waits in a Mailbox, and its end, until Spare.
func (w *Engine) Blame(s *Stack) {
	w.current, w.by, w.inStep = s, s.by, true
	s.to.unshown -= s.by.counts
}

// Spare ends what Blame began.
func (w *Engine) Spare(s *Stack) {
	s.to.unshown += s.by.counts
	w.inStep = false
}

// unsort is the reverse of sort: all that the mark, which has just been taken from q, stands for
// is first there.
func (r *rules) unsort(q *queue) {
	var all queue
	all.join(&r.again)
	for s := r.sorter.Drain(); s != nil; s = r.sorter.Drain() {
		all.push(s)
	}
	if r.drain != nil {
		all.push(r.drain)
	}
	all.join(&r.late)
	all.join(q)
	*q, r.drain, r.marked = all, nil, false
}

// beginDrain begins what has h stop, now that all that came before it has begun. What came
// behind is next, and the actor won't begin it.
func (w *Engine) beginDrain(h *House, r *rules) {
	s := r.drain
	h.calls.pop() // the mark
	r.drain, r.marked = nil, false
	r.late.join(&h.calls)
	h.calls, r.late = r.late, queue{}
	w.handled++
	if w.Trace != nil {
		w.Trace(h, s)
	}
	w.begin(h, s)
}

// line puts the calls that follow one for by, and are for by too, where a batch finds them: first
// in the lane.
func (h *House) line(r *rules, by *Handler) {
	q := &h.calls
	q.pop() // the mark, if it is there
	r.marked = false
	for n := 1; n < by.batch.max; n++ {
		if s := r.peek(); s == nil || s.by != by {
			break
		}
		q.push(r.pop())
	}
	if r.len() > 0 || r.drain != nil {
		r.marked = true
		q.push(&r.mark)
	}
}
