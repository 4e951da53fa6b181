package stack

import "github.com/stackhouse-go/stackhouse/pool"

// Inflight is the requests of one connection that came in and whose results are
// not written yet, in order.
type Inflight struct {
	head, tail *Inbound
	n          int
	bytes      int  // of all requests
	held       int  // bytes that stacks hold, see Held
	back       int  // requests that are kept from beginning
	fresh      bool // some may not have begun, and aren't among those
}

// Len returns the number of requests in flight.
func (q *Inflight) Len() int { return q.n }

// Bytes returns how many bytes the requests are in.
func (q *Inflight) Bytes() int { return q.bytes }

// Held returns how many bytes the stacks hold of requests that are complete, or wait behind a
// part: what their steps took, and the answers that they got.
func (q *Inflight) Held() int { return q.held }

// Accept queues a request, whose bytes are input, behind those in flight and
// starts its handler.
func (q *Inflight) Accept(w *Engine, c *Inbound, input pool.Bytes) {
	c.input = input.Retain()
	q.push(c)
	w.Push(c.to, &c.Stack)
}

// Refuse queues a request, whose bytes are input, behind those in flight with err as its
// result: no handler starts.
func (q *Inflight) Refuse(c *Inbound, input pool.Bytes, err error) {
	c.input = input.Retain()
	c.err, c.complete, c.used = err, true, true
	c.close()
	q.push(c)
}

func (q *Inflight) push(c *Inbound) {
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.after = c
	}
	q.tail = c
	q.n++
	q.bytes += c.input.Len()
	q.fresh = true
}

// Complete reports whether the oldest request's result is there.
func (q *Inflight) Complete() bool { return q.head != nil && q.head.complete }

// Oldest returns the oldest request. If it is Ready its reply, or error, is its result, or the part
// of it: valid until Written.
func (q *Inflight) Oldest() *Inbound { return q.head }

// Last reports whether the connection is to be closed behind the result.
func (c *Inbound) Last() bool { return c.last }

// Pop frees the oldest request, whose result must be there.
func (q *Inflight) Pop(w *Engine) {
	c := q.head
	if !c.complete {
		panic("stack: a request leaves the inflight queue before its end")
	}
	q.head = c.after
	if q.head == nil {
		q.tail = nil
	}
	q.n--
	q.bytes -= c.input.Len()
	q.held -= c.holds
	w.letAnswersGo(&c.Stack)
	w.Shard.Put(&c.Object)
}

// Cancel ends the requests that aren't complete: their results find nobody. Those that wait end at
// once, unless they keep a job, those still queued before their first step. It returns how many
// were held back, or had been at a part and go on.
func (q *Inflight) Cancel(w *Engine) (back int) {
	for c := q.head; c != nil; c = c.after {
		if c.complete {
			continue
		}
		if c.KeptBack() {
			back++
			q.back--
		}
		c.cancelled.Store(givenUp)
		switch {
		case c.state == suspended:
			if !w.giveUp(c.to, &c.Stack) && c.AtPart() {
				c.goOn(w)
				back++
			}
		case c.aside:
			c.aside = false
			w.Push(c.to, &c.Stack) // to end there
		}
	}
	return back
}

// Ended notes what c, which has just completed, holds.
func (q *Inflight) Ended(c *Inbound) {
	if c.KeptBack() {
		q.back--
	}
	q.hold(c)
}

// hold notes what c holds now.
func (q *Inflight) hold(c *Inbound) {
	q.held -= c.holds
	c.holds = c.carried.Size()
	for p := c.bound; p != nil && p.Bound; p = p.Next {
		if p.Call != nil {
			c.holds += stackOf(p.Call).carried.Size()
		}
	}
	q.held += c.holds
}

// HoldBack keeps requests that haven't begun from beginning, until LetBegin, and returns how many.
// Each is put aside when its turn comes.
func (q *Inflight) HoldBack() (n int) {
	if !q.fresh {
		return 0
	}
	q.fresh = false
	for c := q.head; c != nil; c = c.after {
		if !c.complete && c.state == idle && c.cancelled.Uint32.Load() == wanted {
			c.cancelled.Store(heldBack)
			n++
		}
	}
	q.back += n
	return n
}

// HeldBack reports whether LetBegin is called for.
func (q *Inflight) HeldBack() bool { return q.back > 0 }

// LetBegin lets the first most of those that were held back begin, and returns how many there
// were; false: not all were put aside yet, so that it is called too early, and again.
func (q *Inflight) LetBegin(w *Engine, most int) (n int, aside bool) {
	for c := q.head; c != nil; c = c.after {
		if c.KeptBack() && !c.complete && !c.aside {
			return 0, false
		}
	}
	for c := q.head; c != nil && n < most; c = c.after {
		if c.aside {
			c.cancelled.Store(wanted)
			c.aside = false
			w.Push(c.to, &c.Stack)
			n++
		}
	}
	q.back -= n
	q.fresh = q.fresh || n > 0
	return n, true
}

// KeptBack reports whether c was held back, and not let begin since.
func (c *Inbound) KeptBack() bool { return c.cancelled.Uint32.Load() == heldBack }
