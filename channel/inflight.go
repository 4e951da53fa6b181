package channel

import (
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// inflight is the requests of one connection whose results are not written yet, in the order in
// which they came. It belongs to the connection's worker.
type inflight struct {
	head, tail *stack.Inbound
	n          int
	bytes      int  // of the input of all requests
	heldBytes  int  // held by stacks of requests that are complete, or wait behind a part
	heldBack   int  // requests that holdBack keeps from beginning
	fresh      bool // holdBack may find requests that haven't begun
}

// accept queues c, which was decoded from input, behind the others and starts its handler.
func (q *inflight) accept(w *stack.Engine, c *stack.Inbound, input pool.Bytes) {
	q.push(c, input)
	w.Push(c.House(), &c.Stack)
}

// refuse queues c, which was decoded from input, behind the others with err as its result: no
// handler starts.
func (q *inflight) refuse(c *stack.Inbound, input pool.Bytes, err error) {
	c.Refuse(err)
	q.push(c, input)
}

func (q *inflight) push(c *stack.Inbound, input pool.Bytes) {
	c.Input = input.Retain()
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.After = c
	}
	q.tail = c
	q.n++
	q.bytes += input.Len()
	q.fresh = true
}

// complete reports whether the oldest request has its result.
func (q *inflight) complete() bool { return q.head != nil && q.head.Complete }

// ready reports whether the oldest request has something to be written: its result, or a part.
func (q *inflight) ready() bool { return q.head != nil && q.head.Ready() }

// waits reports whether the oldest request has had a part of its result encoded and waits for room
// for the next one.
func (q *inflight) waits() bool { return q.head != nil && q.head.Waits() }

// written notes that the oldest request's result, or a part of it, was encoded. After the result it
// frees the request; after a part it reports true: the request goes on when there is room.
func (q *inflight) written(w *stack.Engine) (goesOn bool) {
	if c := q.head; !c.Complete {
		c.PartWritten()
		q.hold(c)
		return true
	}
	q.pop(w)
	return false
}

// pop frees the oldest request, which must be complete.
func (q *inflight) pop(w *stack.Engine) {
	c := q.head
	if !c.Complete {
		panic("channel: a request leaves the queue before its end")
	}
	q.head = c.After
	if q.head == nil {
		q.tail = nil
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

// ended notes how many bytes c holds, which has just completed.
func (q *inflight) ended(c *stack.Inbound) {
	if c.IsHeldBack() {
		q.heldBack--
	}
	q.hold(c)
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
	q.heldBack += n
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
	for c := q.head; c != nil && n < most; c = c.After {
		if c.Aside {
			c.LetBegin()
			c.Aside = false
			w.Push(c.House(), &c.Stack)
			n++
		}
	}
	q.heldBack -= n
	q.fresh = q.fresh || n > 0
	return n, true
}
