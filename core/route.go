package core

import (
	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack"
)

// A message to what is no one actor takes four steps: functions that look at it do, see through; a
// stack is taken for it; the port, which knows its type, writes it there; and a router says where
// the stack goes. So there is one code for the messages of all types, but for the first. It may be
// the message of a step, or of a guest, or of a call that is forwarded.

// route is how a port is asked, or told; all ports of one handler share it.
type route struct {
	by *stack.Handler // whose stacks the calls are; nil: of asks, among says, a nester

	// One of these is set, or there is one actor, which the port knows.
	among router       // of asks
	tells noticeRouter // of notices
	timer bool         // it is Timer's
	look  any          // a func(M) (M, error), on the way to the port of to and next
	to    *stack.House
	next  *route
}

// router says where asks go.
type router interface {
	// guests returns what guests take stacks from; nil: nobody is there.
	guests() *stack.Guests
	// aim returns where c goes, which has its request; nil: nowhere, it begins where its asker
	// is. All is what the fan chose. Of a guest w is nil. What it calls of users' may panic.
	aim(w *stack.Engine, c *stack.Stack, all []*stack.House) (*stack.House, error)
}

// nester is a router whose asks are stacks of its own, nested in the house of who asks, or, of
// guests, in that of a host.
type nester interface {
	router
	// choose returns whose stacks they are, and of a fan who is asked.
	choose() (by *stack.Handler, all []*stack.House)
}

// leads reports whether it leads anywhere.
func (r *route) leads() bool { return r != nil && (r.among != nil || r.tells != nil || r.look != nil) }

// through has the functions on the way look at a message. It returns that which is sent in its
// place, and to whom: an actor, or what the route behind them leads to.
func through[M any](r *route, m M) (M, *stack.House, *route, error) {
	for r.look != nil {
		var err error
		if m, err = r.look.(func(M) (M, error))(m); err != nil {
			return m, nil, r, err
		}
		if r.to != nil {
			return m, r.to, r.next, nil
		}
		r = r.next
	}
	return m, nil, r, nil
}

// chosen returns whose stacks the calls are and, of a fan, who is asked.
func (r *route) chosen() (by *stack.Handler, all []*stack.House) {
	if r.by != nil {
		return r.by, nil
	}
	for r.look != nil {
		r = r.next
	}
	return r.among.(nester).choose()
}

// isTimer reports whether it is Timer's. It panics if it is none.
func (r *route) isTimer() bool {
	if r == nil || !r.timer && !r.leads() {
		panic("core: ask of a zero Port")
	}
	return r.timer
}

// bind begins an ask of s. Once its request is written, it is sent.
func (r *route) bind(s *stack.Stack, p *future.Promise, limit int64) (c *stack.Stack, all []*stack.House) {
	by, all := r.chosen()
	return s.Bind(p, by, limit), all
}

// refuse answers an ask of s with err.
func (r *route) refuse(s *stack.Stack, p *future.Promise, limit int64, err error) {
	c, _ := r.bind(s, p, limit)
	s.Engine().FailAsk(c, err)
}

//alloc:none
func (r *route) send(s, c *stack.Stack, all []*stack.House) {
	w, aimed := s.Engine(), false
	defer func() {
		if !aimed {
			w.FailAsk(c, ErrPanic)
		}
	}()
	h, err := r.among.aim(w, c, all)
	aimed = true
	switch {
	case err != nil:
		w.FailAsk(c, err)
	case h == nil:
		s.Nest(c)
	default:
		w.Push(h, c)
	}
}

// checkForward panics if no one actor answers.
func (r *route) checkForward() {
	if !r.leads() || r.by == nil {
		panic("core: Forward to a Port that has no one actor to answer: a zero one, or one as of Broadcast, First, ByName or Timer")
	}
}

// forwarded sends c, by which s is forwarded, once its request is written. If what it calls of
// users' panics, so does the step.
//
//alloc:none
func (r *route) forwarded(s, c *stack.Stack, y Yield) Yield {
	h, err := r.among.aim(s.Engine(), c, nil)
	if err != nil {
		return s.Dropped(err)
	}
	c.Aim(h)
	return y
}

// begun is an ask of a guest whose request isn't written yet, or the error why there is none.
type begun struct {
	to     *stack.House // nil: the route says
	route  *route
	guests *stack.Guests
	call   *stack.Call
	all    []*stack.House
	err    error
}

// looksOnWay reports whether functions look at the request. It panics if the port is none of
// guests.
func (b *begun) looksOnWay() bool {
	if b.route == nil || b.to == nil && !b.route.leads() {
		panic("core: a guest asks a Port without an actor: a zero one, or one for steps, as Timer is")
	}
	return b.to == nil && b.route.look != nil
}

// take takes the call. Once its request is written, it is aimed.
func (b *begun) take() bool {
	by, all := b.route.chosen()
	if b.to != nil {
		b.guests = b.to.Owner().Guests
	} else if b.guests = b.route.among.guests(); b.guests == nil {
		b.err = ErrNoMember
		return false
	}
	b.call, b.all = b.guests.Call(b.to, by), all
	return true
}

// aim has the ask go where the router says, if there is one. If that panics, or fails, the ask is
// freed.
func (b *begun) aim() {
	if b.to != nil {
		return
	}
	aimed := false
	defer func() {
		if !aimed {
			b.guests.Done(b.call)
		}
	}()
	h, err := b.route.among.aim(nil, b.call.Stack(), b.all)
	if err != nil {
		b.err = err
		return
	}
	aimed = true
	b.call.Stack().Aim(h)
}

// noticeRouter sends notices.
type noticeRouter interface {
	// guests returns what guests take stacks from; nil: nobody is there, and the error is what
	// they get.
	guests() (*stack.Guests, error)
	// tell sends c, which has its message, or says that it didn't: then c is the caller's still.
	// Of a guest w is nil. What it calls of users' may panic.
	tell(w *stack.Engine, c *stack.Stack) (sent bool, err error)
}

// tell sends a notice of a step, whose message is written.
//
//alloc:none
func (r *route) tell(w *stack.Engine, c *stack.Stack) (err error) {
	sent := false
	defer func() {
		if !sent {
			w.Discard(c)
		}
	}()
	sent, err = r.tells.tell(w, c)
	return err
}

// beginPost begins a notice of a guest. Once its message is written, post sends it.
func (r *route) beginPost() (*stack.Guests, *stack.Stack, error) {
	g, err := r.tells.guests()
	if g == nil {
		return nil, nil, err
	}
	return g, g.Begin(nil, r.by), nil
}

func (r *route) post(g *stack.Guests, c *stack.Stack) (err error) {
	sent := false
	defer func() {
		if !sent {
			g.Pools.Put(&c.Object)
		}
	}()
	sent, err = r.tells.tell(nil, c)
	return err
}

// deliver sends a notice to one actor; of a guest w is nil.
func deliver(w *stack.Engine, h *stack.House, c *stack.Stack) error {
	if w == nil {
		c.Aim(h)
		return c.Post()
	}
	return w.Push(h, c)
}
