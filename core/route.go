package core

import (
	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack"
)

// A message to what is no one actor takes three steps: a stack is taken for it; the port, which
// knows its type, writes it there; and a router says where the stack goes. So there is one code for
// the messages of all types. It may be the message of a step, or of a guest, or of a call that is
// forwarded.

// route is how a port is asked; all ports of one handler share it.
type route struct {
	by    *stack.Handler // whose stacks the calls are; nil: the router says
	among router         // nil: there is one actor, which the port knows
	timer bool           // it is Timer's
}

// router says where asks go.
type router interface {
	// choose returns whose stacks the calls are, and who is asked, of a router for whose routes
	// that isn't said.
	choose() (by *stack.Handler, all []*stack.House)
	// guests returns what guests take stacks from; nil: nobody is there.
	guests() *stack.Guests
	// aim returns where c goes, which has its request; nil: nowhere, it begins where its asker
	// is. Of a guest w is nil. What it calls of users' may panic.
	aim(w *stack.Engine, c *stack.Stack, all []*stack.House) (*stack.House, error)
	// single reports whether one actor answers.
	single() bool
}

func (r *route) chosen() (by *stack.Handler, all []*stack.House) {
	if r.by != nil {
		return r.by, nil
	}
	return r.among.choose()
}

// isTimer reports whether it is Timer's. It panics if it is none.
func (r *route) isTimer() bool {
	if r == nil || r.among == nil && !r.timer {
		panic("core: ask of a zero Port")
	}
	return r.timer
}

// bind begins an ask of s. Once its request is written, it is sent.
func (r *route) bind(s *stack.Stack, p *future.Promise, limit int64) (c *stack.Stack, all []*stack.House) {
	by, all := r.chosen()
	return s.Bind(p, by, limit), all
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

// forward begins a call in place of s. Once its request is written, forwarded sends it.
func (r *route) forward(s *stack.Stack) (c *stack.Stack, y Yield) {
	if r == nil || r.among == nil || !r.among.single() {
		panic("core: Forward to a Port that has no one actor to answer: a zero one, or one as of Broadcast, First or Timer")
	}
	return s.Forward(r.by)
}

// forwarded sends a call. If what it calls of users' panics, so does the step.
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

// call begins an ask of a guest. Once its request is written, called says where it goes.
func (r *route) call() begun {
	if r == nil || r.among == nil {
		panic("core: a guest asks a Port without an actor: a zero one, or one for steps, as Timer is")
	}
	by, all := r.chosen()
	g := r.among.guests()
	if g == nil {
		return begun{err: ErrNoMember}
	}
	return begun{guests: g, call: g.Call(nil, by), all: all}
}

func (r *route) called(b *begun) error {
	aimed := false
	defer func() {
		if !aimed {
			b.guests.Done(b.call)
		}
	}()
	h, err := r.among.aim(nil, b.call.Stack(), b.all)
	if err != nil {
		return err
	}
	aimed = true
	b.call.Stack().Aim(h)
	return nil
}

// noticeRoute is how a port is told that has no one actor.
type noticeRoute struct {
	by    *stack.Handler
	among noticeRouter
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

// begin begins a notice of a step. Once its message is written, it is sent.
func (r *noticeRoute) begin(w *stack.Engine) *stack.Stack {
	if r == nil {
		panic("core: notice to a zero NoticePort")
	}
	return w.Begin(r.by)
}

//alloc:none
func (r *noticeRoute) send(w *stack.Engine, c *stack.Stack) (err error) {
	sent := false
	defer func() {
		if !sent {
			w.Discard(c)
		}
	}()
	sent, err = r.among.tell(w, c)
	return err
}

// beginPost begins a notice of a guest. Once its message is written, post sends it.
func (r *noticeRoute) beginPost() (*stack.Guests, *stack.Stack, error) {
	if r == nil {
		panic("core: notice to a zero NoticePort")
	}
	g, err := r.among.guests()
	if g == nil {
		return nil, nil, err
	}
	return g, g.Begin(nil, r.by), nil
}

func (r *noticeRoute) post(g *stack.Guests, c *stack.Stack) (err error) {
	sent := false
	defer func() {
		if !sent {
			g.Pools.Put(&c.Object)
		}
	}()
	sent, err = r.among.tell(nil, c)
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
