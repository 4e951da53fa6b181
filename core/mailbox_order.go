package core

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Order is a mailbox order of the user's own: it chooses which of the waiting messages begins next.
// Each actor with Ordered has an Order to itself. Its methods are called in turns of the actor's
// worker only, and must not block.
//
// If Put panics, or Len is wrong afterwards, the message that was put has failed. If Take panics,
// or returns a message that doesn't wait, the message that has waited longest has failed. After
// either, and when a restart turns asks away, a fresh Order gets all messages that still wait, in
// order of arrival.
type Order interface {
	// Put adds a message. Messages are put in order of arrival.
	Put(m Waiting)
	// Take removes the message that begins next, and returns it. It is called only if there is one.
	Take() Waiting
	// Len returns the number of messages.
	Len() int
}

// Waiting is a message in a mailbox, as its Order sees it: a value of two words that may be kept
// and copied. Handler.Request and NoticeHandler.Message return what was sent. It is valid until the
// Order's Take has returned it, or the Order is replaced by a fresh one.
type Waiting struct {
	in     *ordered
	place  uint32
	number uint32
}

// Ordered is a mailbox for n messages, 1 to 524,288, and more are rejected, in which an Order
// chooses the next message. The function makes the actor's Order, in a turn of the actor's worker.
// A drain (Address.Drain, Passivation) begins when all that came before it has begun. A batch
// handler gets its messages one by one.
func Ordered(n int, order func() Order) Mailbox {
	if order == nil {
		panic("core: Ordered without a function that makes an Order")
	}
	return Mailbox{stack.MailboxRules{Max: bound(n), Sort: func() stack.Mailbox { return &ordered{make: order} }}}
}

// Request returns the request of m, if m is an ask for h. The Order must not change it. Request
// panics if m is no longer valid.
func (h Handler[A, Req, Rep]) Request(m Waiting) (*Req, bool) {
	if s := m.stack(); s.Handler() == h.route.by {
		return stack.Request[Req, Rep](s), true
	}
	return nil, false
}

// Message returns the message of m, if m is a notice for h; see Handler.Request.
func (h NoticeHandler[A, Msg]) Message(m Waiting) (*Msg, bool) {
	if s := m.stack(); s.Handler() == h.by {
		return stack.Message[Msg](s), true
	}
	return nil, false
}

// Sender returns the actor that asked; see the function Sender. It panics if m is no longer valid.
func (m Waiting) Sender() AnyAddress { return m.stack().Sender() }

func (m Waiting) stack() *stack.Stack {
	if !m.waits() {
		panic("core: a message that waits no more is looked at")
	}
	return m.in.places[m.place].s
}

func (m Waiting) waits() bool {
	return m.in != nil && m.in.places[m.place].number == m.number && m.in.places[m.place].s != nil
}

// ordered is a mailbox with an Order of the user's. It keeps the waiting calls itself, so that none
// is lost or begun twice, whatever the Order does.
type ordered struct {
	make   func() Order
	by     Order   // nil: the next use makes a fresh one, which gets all that wait
	places []place // the first one isn't used: 0 means no place
	oldest uint32  // of the calls that wait, chained by after and before
	newest uint32
	free   uint32 // chained by after
	n      int
}

// place is where a call waits. Its number changes when the call has gone, which makes a Waiting for
// it invalid.
type place struct {
	s             *stack.Stack // nil: it is free
	number        uint32
	before, after uint32
}

func (o *ordered) Len() int { return o.n }

// Peek returns nil: only the Order knows what is next, and Take would remove it.
func (o *ordered) Peek() *stack.Stack { return nil }

func (o *ordered) Push(s *stack.Stack) {
	at := o.add(s)
	defer o.giveUp(&at)
	if o.by == nil {
		o.begin()
	} else {
		o.by.Put(o.waiting(at))
	}
	if n := o.by.Len(); n != o.n {
		panic(fmt.Sprintf("core: the mailbox's order, a %T, has %d messages and should have %d", o.by, n, o.n))
	}
	at = 0
}

func (o *ordered) Pop() *stack.Stack {
	at := o.oldest
	if at == 0 {
		return nil
	}
	s := o.places[at].s
	w := s.Engine()
	defer o.giveUp(&at)
	w.Blame(s)
	if o.by == nil {
		o.begin()
	}
	m := o.by.Take()
	if m.in != o || !m.waits() {
		panic(fmt.Sprintf("core: the mailbox's order, a %T, gave a message that doesn't wait", o.by))
	}
	w.Spare(s)
	at = 0
	return o.remove(m.place)
}

// Drain removes the call that has waited longest, without asking the Order, which is given up.
func (o *ordered) Drain() *stack.Stack {
	o.by = nil
	return o.remove(o.oldest)
}

// begin makes a fresh Order, and puts all waiting calls into it.
func (o *ordered) begin() {
	o.by = o.make()
	for at := o.oldest; at != 0; at = o.places[at].after {
		o.by.Put(o.waiting(at))
	}
}

// giveUp is deferred. Unless at is 0, the Order has panicked or was wrong: it is given up, and the
// call at that place is removed.
func (o *ordered) giveUp(at *uint32) {
	if *at != 0 {
		o.by = nil
		o.remove(*at)
	}
}

func (o *ordered) waiting(at uint32) Waiting { return Waiting{o, at, o.places[at].number} }

// add has s wait, behind all others, and returns its place.
func (o *ordered) add(s *stack.Stack) uint32 {
	at := o.free
	if at == 0 {
		at = uint32(max(1, len(o.places)))
		o.places = append(o.places, make([]place, int(at)+1-len(o.places))...)
	} else {
		o.free = o.places[at].after
	}
	p := &o.places[at]
	p.s, p.before, p.after = s, o.newest, 0
	if o.newest == 0 {
		o.oldest = at
	} else {
		o.places[o.newest].after = at
	}
	o.newest = at
	o.n++
	return at
}

// remove frees a place, and returns the call that waited there; nil if at is 0.
func (o *ordered) remove(at uint32) *stack.Stack {
	if at == 0 {
		return nil
	}
	p := &o.places[at]
	if p.before == 0 {
		o.oldest = p.after
	} else {
		o.places[p.before].after = p.after
	}
	if p.after == 0 {
		o.newest = p.before
	} else {
		o.places[p.after].before = p.before
	}
	s := p.s
	p.s, p.after = nil, o.free
	p.number++
	o.free = at
	o.n--
	return s
}
