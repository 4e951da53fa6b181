package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// relay is the way back of an onward call. An actor forwards a call by an onward call, whose answer
// becomes the answer of the forwarded one. The forwarded call is
//
//	running    its step calls Forward: the onward call is made, and waits in Engine.onward
//	forwarded  the step has ended and the onward call was sent: whoever holds that holds this too
//	home       the onward call has ended: its reply or error, and the bytes that it carries, were
//	           moved to this call
//
// So the asker's promise holds the same stack all the time, the reply is in it, and the actor that
// forwarded may stop. The onward call may be forwarded, too. Then the next onward call takes its
// place, see stepAside.
type relay struct {
	pool.Object
	house House  // the way back of the onward call; an actor's house has an owner, this hasn't
	call  *Stack // the forwarded call
}

// relaySerial is the serial of the house in a relay, unlike that in a guest's Call.
const relaySerial = ^uint64(0)

var relayKind = pool.NewKind("forward",
	pool.Layout{Size: unsafe.Sizeof(relay{}), Fixed: pool.ObjectSize},
	func() *pool.Object {
		r := &relay{house: House{serial: relaySerial}}
		return &r.Object
	},
	func(o *pool.Object) { (*relay)(unsafe.Pointer(o)).call = nil }).Keeps()

// Forward ends the step of s, an ask, and makes an onward call that answers in its place. h, its
// handler, has replies of the same type. The caller writes the request, and calls Aim. The onward
// call is sent when the step has ended. Only a step of s may call it.
//
//alloc:none
func (s *Stack) Forward(h *Handler) (onward *Stack, y Yield) {
	s.finish()
	w := s.Engine()
	r := (*relay)(unsafe.Pointer(w.Shard.Take(relayKind)))
	r.call = s
	c := w.Begin(h)
	c.back, c.deadline, c.context = &r.house, s.deadline, s.context.Share()
	c.cancelled.GiveUp() // so that its receiver looks at the first call's word, see givenUp
	w.onward = c
	return c, Yield{yieldForward}
}

// Dropped takes back Forward, and ends s with err: the onward call isn't sent.
func (s *Stack) Dropped(err error) Yield {
	s.Engine().dropOnward()
	s.used, s.err = true, err
	return Yield{yieldEnd}
}

// stepAside frees s, an onward call that was forwarded by c. c goes home by the relay of s, so a
// call that is forwarded many times takes no more memory, and its way home is as short. The bytes
// that s carries move to the first call.
func (w *Engine) stepAside(s, c *Stack) {
	w.Shard.Put(&c.relay().Object)
	c.back = s.back
	s.relay().call.carried.Join(&s.carried)
	w.Shard.Put(&s.Object)
}

// dropOnward frees an onward call that won't be sent.
func (w *Engine) dropOnward() {
	c := w.onward
	w.onward = nil
	w.Shard.Put(&c.relay().Object)
	w.Shard.Put(&c.Object)
}

// relay returns the relay of s; nil: s isn't an onward call.
func (s *Stack) relay() *relay {
	if s.back == nil || s.back.serial != relaySerial {
		return nil
	}
	return (*relay)(unsafe.Add(unsafe.Pointer(s.back), -int(unsafe.Offsetof(relay{}.house))))
}

// origin returns the first call, if s is an onward call; otherwise s.
func (s *Stack) origin() *Stack {
	if r := s.relay(); r != nil {
		return r.call
	}
	return s
}

// begunOnward notes that s, if it is an onward call, has begun, so that giving up the first call
// ends s.
func (s *Stack) begunOnward() {
	if first := s.origin(); first != s {
		first.forwardTo(s)
	}
}

// givenUp reports whether the asker of s has given up: of an onward call, the asker of the first.
func (s *Stack) givenUp() bool { return s.cancelled.Doubtful() && s.origin().cancelled.Doubtful() }

// inherit moves the outcome of s, an onward call, to the forwarded one, and returns that.
func (r *relay) inherit(s *Stack) *Stack {
	call := r.call
	if call.state == forwarded {
		call.forwardEnded()
	}
	if s.err == nil {
		s.by.ask.hand(s, call)
	}
	call.err = s.err
	call.carried.Join(&s.carried)
	return call
}

// passOn ends an onward call on a worker.
func (w *Engine) passOn(r *relay, s *Stack) {
	call := r.inherit(s)
	w.Shard.Put(&s.Object)
	w.Shard.Put(&r.Object)
	if call.back == nil {
		w.Shard.Put(&call.Object)
		return
	}
	w.reply(call)
}

// passOnOutside ends an onward call that no actor answers, on any goroutine.
func (r *relay) passOnOutside(s *Stack) {
	call := r.inherit(s)
	pool.Send(&s.Object)
	pool.Send(&r.Object)
	call.endOutside(call.err)
}

// Sender returns the address of the actor that asked s, however often the ask was forwarded. It is
// zero if a guest or another process asked, or if s is a notice: notices don't say who sent them,
// because many travel in one object. An actor that must know gets the address in the message.
func (s *Stack) Sender() AnyAddress {
	if s.origin().id&servedBit != 0 {
		return AnyAddress{}
	}
	return s.asker().any()
}

// asker returns the house of the actor that waits for s; nil: no actor does.
func (s *Stack) asker() *House {
	h := s.origin().back
	if h == nil || h.owner.Load() == nil {
		return nil
	}
	return h
}
