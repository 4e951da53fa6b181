package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// This file is how a visit handles the notices of an envelope, see call_envelope.go.

// opening is how far a house has read the envelope that is first in its lane of
// calls. It isn't in the envelope because the sender writes the lines of that.
type opening struct {
	read uint8 // how many messages have begun to be handled
	seen uint8 // how many there were at the last look
}

// open handles messages of e, the first in the lane of calls of h: n at most, until
// something goes ahead of the next. It returns the rest of n.
//
//alloc:none
func (w *Engine) open(h *House, e *envelope, n int) (left int) {
	if h.Gone() {
		return w.dropAll(h, e, n)
	}
	o := &h.opening
	for {
		if o.read == o.seen && !h.recount(e) {
			w.popEnvelope(h, e)
			return n
		}
		from := o.read
		w.read(h, e, min(n, int(o.seen-o.read)))
		if n -= int(o.read - from); n == 0 || h.interrupted() {
			return n
		}
	}
}

// read handles n messages of e: fewer if something goes ahead of the next, or if a step is odd, see
// Stack.odd. All of them use one stack of the worker's shard, one after the other.
//
//alloc:none
func (w *Engine) read(h *House, e *envelope, n int) {
	var words *[entryMax]uint64 // the messages, if they can be copied without a call; most can
	if w.Trace == nil && e.by.envelope.word && !h.flags.Has(flags.Noted) {
		words = (*[entryMax]uint64)(entryAt(e, e.by, 0))
	}
	s := w.reader(h, e)
	o, first, actor, self := &h.opening, s.by.first, h.self(), s.self()
	for last := o.read + uint8(n); ; {
		i := o.read
		o.read = i + 1
		h.unshown--
		w.handled++
		if words != nil {
			*(*uint64)(s.message()) = words[i%entryMax]
		} else {
			e.by.envelope.unpack(s, entryAt(e, e.by, int(i)))
			if w.Trace != nil || h.flags.Has(flags.Noted) {
				w.see(h, s)
			}
		}
		s.run()
		w.inStep = true
		if y := first(actor, self); y.how != yieldEnd || s.odd() {
			w.after(h, s, y)
			invariant.Point("envelope.urged")
			return
		}
		w.inStep = false
		if w.out.to != nil {
			w.sendFirst()
		}
		invariant.Point("envelope.urged")
		if o.read == last || h.interrupted() {
			w.putBlank(s)
			return
		}
		if invariant.Enabled { // put and take are checked for each message
			w.putBlank(s)
			s = w.reader(h, e)
			self = s.self()
		}
	}
}

// reader takes a stack for messages of e.
func (w *Engine) reader(h *House, e *envelope) *Stack {
	by := e.by.envelope.opens
	s := stackOf(w.Shard.Take(by.kind))
	s.to, s.sent = h, e.sent
	w.current, w.by = s, by
	return s
}

// putBlank puts the stack that read has used, once its last step has ended.
func (w *Engine) putBlank(s *Stack) {
	if s.by.bare.wipe != nil {
		s.by.bare.wipe(s)
	}
	s.blank()
	w.Shard.PutClear(&s.Object)
}

// dropAll is open for a house that has stopped: it drops the messages.
func (w *Engine) dropAll(h *House, e *envelope, n int) (left int) {
	for ; n > 0; n-- {
		s := w.takeOut(h, e)
		if s == nil {
			return n
		}
		w.drop(h, s)
	}
	return 0
}

// takeOut takes the next message of e, the first in the lane of calls of h, in a stack of its own.
// It returns nil if there is none: then e was put.
func (w *Engine) takeOut(h *House, e *envelope) *Stack {
	o := &h.opening
	if o.read == o.seen && !h.recount(e) {
		w.popEnvelope(h, e)
		return nil
	}
	s := stackOf(w.Shard.Take(e.by.envelope.opens.kind))
	s.to, s.sent = h, e.sent
	e.by.envelope.unpack(s, entryAt(e, e.by, int(o.read)))
	o.read++
	h.unshown--
	w.took(h, s)
	return s
}

// popEnvelope puts e, all of whose messages have been handled.
func (w *Engine) popEnvelope(h *House, e *envelope) {
	h.opening = opening{}
	h.calls.pop()
	w.Shard.Put(&e.Object)
}

// recount finds out how many messages there are in e, the first in the lane of calls, and reports
// whether there are more than at the last look. Unless the owner of the house fills e, this closes
// it; to an envelope of its own the owner may have added since.
func (h *House) recount(e *envelope) bool {
	o := &h.opening
	before := o.seen
	switch {
	case e.filled == 0:
		o.seen = uint8(e.close())
	case uint8(e.filled) > before:
		o.seen = uint8(e.filled)
	default:
		e.word.Store(e.filled) // so many messages are to be cleared when e is put
		e.filled, e.places = 0, 0
	}
	return o.seen > before
}
