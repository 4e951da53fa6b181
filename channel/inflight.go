package channel

import (
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// inflight is the requests of one connection whose results are not written yet, as a state machine
// without I/O. It belongs to the connection's worker. A request is
//
//	begun      by accept, or by letBegin: its handler has started, or stands in a lane
//	held back  by holdBack before its handler has started, or by accept if it is Alone and isn't
//	           the only one: letBegin lets it begin
//	ready      by ended or refuse, or, with a part of its result, by offered: to be written
//	in parts   by written, after a part: it goes on when there is room, and is ready again by
//	           offered or ended. Nothing else is written before its result
//	out        by written, or by pop: freed
//
// The oldest request is the next to be written, though others are ready. Unordered, the one that
// was ready first is: those that are ready stand before the others, up to fore.
type inflight struct {
	head, tail *stack.Inbound
	// nil unless requests are unordered, and some ready or in parts. Invariant: then head to fore
	// are those, in the order in which they became so, and fore.After to tail the others, in the
	// order in which they came
	fore      *stack.Inbound
	n         int
	bytes     int   // of the input of all requests
	heldBytes int   // held by stacks of requests that are complete, or wait behind a part
	heldBack  int32 // requests held back
	fresh     bool  // holdBack may find requests that haven't begun
	unordered bool  // from the beginning, until cancel
	alone     bool  // Invariant: alone implies that tail is Alone, and held back unless n == 1
	inParts   bool  // Invariant: inParts implies that head is in parts
}

// admits reports whether another request may be accepted, if at most most may be in flight.
func (q *inflight) admits(most int) bool { return q.n < most && q.heldBack == 0 && !q.alone }

// accept queues c, which was decoded from input, behind the others and starts its handler. It
// reports false if c must be alone, and isn't yet: then c is held back.
func (q *inflight) accept(w *stack.Engine, c *stack.Inbound, input pool.Bytes, alone bool) (begins bool) {
	q.push(c, input)
	if q.alone = alone; alone && q.n > 1 {
		c.Aside = c.HoldBack()
		q.heldBack++
		return false
	}
	w.Push(c.House(), &c.Stack)
	return true
}

// refuse queues c, which was decoded from input, with err as its result: no handler starts.
func (q *inflight) refuse(c *stack.Inbound, input pool.Bytes, err error) {
	c.Refuse(err)
	q.push(c, input)
	q.moveAhead(c)
}

func (q *inflight) push(c *stack.Inbound, input pool.Bytes) {
	c.Input = input.Retain()
	q.link(c, q.tail)
	q.n++
	q.bytes += input.Len()
	q.fresh = true
}

// link puts c behind another request, or before all if that is nil.
func (q *inflight) link(c, behind *stack.Inbound) {
	at := &q.head
	if behind != nil {
		at = &behind.After
	}
	c.Before, c.After, *at = behind, *at, c
	if c.After == nil {
		q.tail = c
	} else {
		c.After.Before = c
	}
}

func (q *inflight) unlink(c *stack.Inbound) {
	if c.Before == nil {
		q.head = c.After
	} else {
		c.Before.After = c.After
	}
	if c.After == nil {
		q.tail = c.Before
	} else {
		c.After.Before = c.Before
	}
}

// moveAhead moves c, which is ready now, behind the others that are, if requests are unordered.
func (q *inflight) moveAhead(c *stack.Inbound) {
	if !q.unordered || q.inParts && c == q.head {
		return
	}
	q.unlink(c)
	q.link(c, q.fore)
	q.fore = c
}

// complete reports whether the first request has its result.
func (q *inflight) complete() bool { return q.head != nil && q.head.Complete }

// ready reports whether the first request has something to be written: its result, or a part. Not
// yet if the step still runs that has offered the part, or has ended the request, which keeps a
// function: then others wait for that, unordered too.
func (q *inflight) ready() bool { return q.head != nil && q.head.Ready() }

// waits reports whether the first request has had a part of its result encoded and waits for room
// for the next one.
func (q *inflight) waits() bool { return q.head != nil && q.head.Waits() }

// written notes that the first request's result, or a part of it, was encoded. After the result it
// frees the request; after a part it reports true: the request goes on when there is room.
func (q *inflight) written(w *stack.Engine) (goesOn bool) {
	c := q.head
	if q.inParts = !c.Complete; q.inParts {
		c.PartWritten()
		q.hold(c)
		return true
	}
	q.pop(w)
	return false
}

// pop frees the first request, which must be complete.
func (q *inflight) pop(w *stack.Engine) {
	c := q.head
	if !c.Complete {
		panic("channel: a request leaves the queue before its end")
	}
	if q.head = c.After; q.head == nil {
		q.tail, q.alone = nil, false
	} else {
		q.head.Before = nil
	}
	if c == q.fore {
		q.fore = nil
	}
	q.n--
	q.bytes -= c.Input.Len()
	q.heldBytes -= c.Holds
	w.Free(c)
}

// cancel ends the requests that aren't complete: nobody gets their results. Those that wait for
// answers end at once, unless they keep a job; those still queued end before their first step. It
// returns how many were held back, or go on from a part: these don't count in the site's quota.
func (q *inflight) cancel(w *stack.Engine) (back int) {
	q.unordered = false // none is moved ahead any more
	for c := q.head; c != nil; c = c.After {
		if c.Complete {
			continue
		}
		if c.IsHeldBack() {
			back++
			q.heldBack--
		}
		switch goesOn := c.GiveUp(w); {
		case goesOn && c.AtPart():
			c.GoOn(w)
			back++
		case c.Aside:
			c.Aside = false
			w.Push(c.House(), &c.Stack) // to end there
		}
	}
	return back
}

// ended notes that c has just completed.
func (q *inflight) ended(c *stack.Inbound) {
	if c.IsHeldBack() {
		q.heldBack--
	}
	q.hold(c)
	if !c.AtPart() { // otherwise it is ahead
		q.moveAhead(c)
	}
}

// offered notes that c has offered a part of its result.
func (q *inflight) offered(c *stack.Inbound) {
	q.hold(c)
	q.moveAhead(c)
}

// hold notes how many bytes c holds now.
func (q *inflight) hold(c *stack.Inbound) {
	q.heldBytes -= c.Holds
	c.Holds = c.Carries()
	q.heldBytes += c.Holds
}

// holdBack keeps requests that haven't begun from beginning until letBegin. It returns how many.
func (q *inflight) holdBack() (n int) {
	if !q.fresh {
		return 0
	}
	q.fresh = false
	for c := q.head; c != nil; c = c.After {
		if c.HoldBack() {
			n++
		}
	}
	q.heldBack += int32(n)
	return n
}

// mayBegin is how many of the requests held back may begin, as far as others of the connection go:
// all but one that must be alone and isn't yet.
func (q *inflight) mayBegin() int {
	n := int(q.heldBack)
	if q.alone && q.n > 1 {
		n--
	}
	return n
}

// letBegin lets the oldest requests held back begin, at most as many as most, and returns how many
// did. It reports false if some of those held back still stand in a lane: then it must be called
// again.
func (q *inflight) letBegin(w *stack.Engine, most int) (n int, aside bool) {
	for c := q.head; c != nil; c = c.After {
		if c.IsHeldBack() && !c.Complete && !c.Aside {
			return 0, false
		}
	}
	most = min(most, q.mayBegin()) // what must be alone is the last
	for c := q.head; c != nil && n < most; c = c.After {
		if c.Aside {
			c.LetBegin()
			c.Aside = false
			w.Push(c.House(), &c.Stack)
			n++
		}
	}
	q.heldBack -= int32(n)
	q.fresh = q.fresh || n > 0
	return n, true
}
