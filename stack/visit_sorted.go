package stack

import "github.com/stackhouse-go/stackhouse/stack/flags"

// visitSorted is the loop of visit for a sorted house: it takes calls in the order of the Mailbox,
// up to n messages.
func (w *Engine) visitSorted(h *House, n int) {
	r := h.annex.Load().rules
	for ; n > 0; n-- {
		if h.flags.Has(flags.Urged | flags.Held | flags.Alone) {
			w.attend(h)
			if h.TurnsAway() {
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
		if r.remote != nil {
			w.handOn(h, r.remote)
			continue
		}
		w.sort(h, r)
		if r.drain != nil && r.sorter.Len() == 0 {
			w.beginDrain(h, r)
			continue
		}
		s := r.sorter.Pop()
		if r.sorter.Len() == 0 && r.drain == nil {
			h.calls.pop() // the mark
			r.marked = false
		}
		if s == nil {
			return
		}
		h.unshown -= s.by.counts
		w.took(h, s)
		if s.by.batch.by != nil {
			w.beginBatch(h, r, s)
			continue
		}
		w.begin(h, s)
	}
}

// beginBatch is begin for the first call of a batch. If that call is dropped, the calls behind it
// stay in the sorter.
func (w *Engine) beginBatch(h *House, r *rules, s *Stack) {
	if w.dead(h, s) {
		w.drop(h, s)
		return
	}
	h.line(r, s.by)
	w.beginNoted(h, s)
}

// sort moves the calls in the lane into the sorter. Afterwards the mark is alone in the lane. The
// mark is pushed before the first call is moved, because the sorter may call code of users that
// panics.
func (w *Engine) sort(h *House, r *rules) {
	q := &h.calls
	if !r.marked {
		r.marked = true
		q.push(&r.mark)
	}
	for q.head != q.tail {
		switch s := q.pop(); {
		case s == &r.mark:
			q.push(s)
		case r.drain != nil:
			r.late.push(s)
		case s.by == drainHandler:
			r.drain = s
		default:
			w.Blame(s)
			r.sorter.Push(s)
			w.Spare(s)
		}
	}
}

// Blame is called before a Mailbox calls code of users for s, which waits in it. Until Spare a
// panic is the failure of s, and ends s. Only who runs w's turn calls it.
func (w *Engine) Blame(s *Stack) {
	w.current, w.by, w.inStep = s, s.by, true
	s.to.unshown -= s.by.counts
}

// Spare ends what Blame began.
func (w *Engine) Spare(s *Stack) {
	s.to.unshown += s.by.counts
	w.inStep = false
}

// unsort is the reverse of sort: it puts all calls for which the mark stood, which has just been
// taken from q, first into q.
func (r *rules) unsort(q *queue) {
	var all queue
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

// beginDrain begins the drain, as all calls that came before it have begun. The calls that came
// after it are next in the lane. They don't begin, unless the actor is spared.
func (w *Engine) beginDrain(h *House, r *rules) {
	s := r.drain
	h.calls.pop() // the mark
	r.drain, r.marked = nil, false
	r.late.join(&h.calls)
	h.calls, r.late = r.late, queue{}
	w.took(h, s)
	w.begin(h, s)
}

// line moves the next calls, as long as they are for by, from the sorter to the head of the lane,
// where gather finds them for the batch.
func (h *House) line(r *rules, by *Handler) {
	q := &h.calls
	q.pop() // the mark, if it is there
	r.marked = false
	for n, s := 1, r.sorter.Peek(); n < by.batch.max && s != nil && s.by == by; n, s = n+1, r.sorter.Peek() {
		q.push(r.sorter.Pop())
	}
	if r.sorter.Len() > 0 || r.drain != nil {
		r.marked = true
		q.push(&r.mark)
	}
}
