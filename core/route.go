package core

import (
	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack"
)

// A message to a port with a route takes four steps: functions look at it (see through); a stack is
// taken for it; the port, which knows its type, writes it there; and a router says where the stack
// goes. Only the third step depends on the message's type, so the others are compiled once. The
// message may come from a step, from a guest, or from a call that is forwarded.

// route says how a port is asked or told; all ports of one handler share it.
type route struct {
	by *stack.Handler // of the calls' stacks; nil: among, a nester, says which

	// At most one of these is set: with none the port itself knows its one actor.
	among router       // of asks
	tells noticeRouter // of notices
	timer bool         // it is Timer's
	look  any          // a func(M) (M, error), called before the port made of to and next
	to    *stack.House
	next  *route
}

// router says where asks go.
type router interface {
	// guests returns where guests take their stacks; nil: there is no member.
	guests() *stack.Guests
	// aim returns where c, whose request is written, goes; nil: it begins in its asker's house. all
	// is what choose returned. For a guest w is nil. Functions of users that it calls may panic.
	aim(w *stack.Engine, c *stack.Stack, all []*stack.House) (*stack.House, error)
}

// nester is a router whose asks are stacks of its own, nested in the asker's house; those of
// guests, in a host's.
type nester interface {
	router
	// choose returns the handler of these stacks and, for a fan, the members to ask.
	choose() (by *stack.Handler, all []*stack.House)
}

// leads reports whether r leads to any actor.
func (r *route) leads() bool { return r != nil && (r.among != nil || r.tells != nil || r.look != nil) }

// through calls the functions that look at a message. It returns the message to send in its place,
// and where: an actor, or a route without such functions.
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

// chosen returns the handler of the calls' stacks and, for a fan, the members to ask.
func (r *route) chosen() (by *stack.Handler, all []*stack.House) {
	if r.by != nil {
		return r.by, nil
	}
	for r.look != nil {
		r = r.next
	}
	return r.among.(nester).choose()
}

// zero panics, as no actor is behind a port of r, or of by, a notice's: with the name of the method
// if the port is at a zero address, or else with otherwise.
//
//go:noinline
func (r *route) zero(by *stack.Handler, what, otherwise string) {
	if r != nil {
		by = r.by
	}
	if by != nil {
		panic("core: " + what + " a zero address: " + by.Name())
	}
	panic(otherwise)
}

// isTimer reports whether r is Timer's.
func (r *route) isTimer() bool { return r != nil && r.timer }

// bind begins an ask of s. The caller writes the request, then calls send.
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

// forwarded sends c, the forwarded call of s, whose request is written. If a function of users'
// panics in it, the step panics.
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

// begun is an ask of a guest whose request isn't written yet, or the error of why there is no ask.
type begun struct {
	to     *stack.House // nil: route says where
	route  *route
	guests *stack.Guests
	call   *stack.Call
	all    []*stack.House
	err    error
}

// take takes the call. The caller writes the request, then calls aim.
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

// aim has the router, if there is one, say where the ask goes. If it fails or panics, the call is
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
	// guests returns where guests take their stacks; nil: there is no member, and the guest gets
	// the error.
	guests() (*stack.Guests, error)
	// tell sends c, whose message is written. If it reports that c wasn't sent, c is still the
	// caller's. For a guest w is nil. Functions of users that it calls may panic.
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

// beginPost begins a notice of a guest. The caller writes the message, then calls post.
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

// deliver sends a notice to one actor; for a guest w is nil.
func deliver(w *stack.Engine, h *stack.House, c *stack.Stack) error {
	if w == nil {
		c.Aim(h)
		return c.Post()
	}
	return w.Push(h, c)
}
