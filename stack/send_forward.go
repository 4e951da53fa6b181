package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// relay is the way back of a call by which an actor has forwarded another, so that its answer is
// the other's. The forwarded call is
//
//	running    its step calls Forward: the onward call is made, and waits in Engine.onward
//	forwarded  the step has ended, and the onward call was sent: whoever holds that holds this too
//	home       the onward call has ended: its answer, and the bytes that it carries, were moved
//	           here
//
// So the asker's promise still holds the stack that it knows, with the reply where it looks for
// it, and the actor that forwarded may stop. The onward call may be forwarded, too: the next one
// takes its place, see stepAside.
type relay struct {
	pool.Object
	// what the onward call has as its way back: without an owner, which tells it from an actor's
	house House
	call  *Stack // the forwarded call
}

// relaySerial tells the house of a relay from that of a guest's Call.
const relaySerial = ^uint64(0)

var relayKind = pool.NewKind("forward",
	pool.Layout{Size: unsafe.Sizeof(relay{}), Fixed: pool.ObjectSize},
	func() *pool.Object {
		r := &relay{house: House{serial: relaySerial}}
		return &r.Object
	},
	func(o *pool.Object) { (*relay)(unsafe.Pointer(o)).call = nil }).Keeps()

// Forward ends the step of s, an ask, which another call answers in its place: one handled by h,
// whose replies are of the same type. The caller writes the request, and where to: Aim. It is
// sent when the step has ended.
//
//alloc:none
func (s *Stack) Forward(h *Handler) (onward *Stack, y Yield) {
	s.finish()
	w := s.Engine()
	r := (*relay)(unsafe.Pointer(w.Shard.Take(relayKind)))
	r.call = s
	c := w.Begin(h)
	c.back, c.deadline = &r.house, s.deadline
	c.cancelled.GiveUp() // it looks so: who doubts it asks the first call, see givenUp
	w.onward = c
	return c, Yield{yieldForward}
}

// Dropped ends s, which Forward has ended, with err: the onward call isn't to be sent.
func (s *Stack) Dropped(err error) Yield {
	s.Engine().dropOnward()
	s.used, s.err = true, err
	return Yield{yieldEnd}
}

// stepAside frees s, an onward call that is forwarded to c, which goes home by the relay of s: so
// a call that is forwarded time and again takes no more memory, and its way home is as short.
// What s carries lives on with the first call.
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

// relay returns the relay by which the answer of s goes; nil: it goes home.
func (s *Stack) relay() *relay {
	if s.back == nil || s.back.serial != relaySerial {
		return nil
	}
	return (*relay)(unsafe.Add(unsafe.Pointer(s.back), -int(unsafe.Offsetof(relay{}.house))))
}

// origin returns the call that was forwarded until it became s; s itself, if it wasn't.
func (s *Stack) origin() *Stack {
	if r := s.relay(); r != nil {
		return r.call
	}
	return s
}

// begunOnward notes that s, if it is an onward call, has begun: by whoever gives up the first
// one, it ends.
func (s *Stack) begunOnward() {
	if first := s.origin(); first != s {
		first.forwardTo(s)
	}
}

// givenUp reports whether nobody waits for s any more.
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

// passOnOutside ends an onward call, which nobody answers, on any goroutine.
func (r *relay) passOnOutside(s *Stack) {
	call := r.inherit(s)
	pool.Send(&s.Object)
	pool.Send(&r.Object)
	call.endOutside(call.err)
}

// Sender returns the actor that asked s, however often the ask was forwarded; nobody: a guest
// did, or s is no ask. Notices don't say who sent them, as many travel in one object: who wants
// to know has the address in the message.
func (s *Stack) Sender() AnyAddress {
	return s.asker().any()
}

// asker returns the house that waits for s; nil: no actor's.
func (s *Stack) asker() *House {
	h := s.origin().back
	if h == nil || h.owner.Load() == nil {
		return nil
	}
	return h
}
