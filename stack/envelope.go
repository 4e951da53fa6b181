package stack

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Notices without locals share envelopes: many in one object, side by side. A stack for
// each would take several cache lines, which to another worker travel there and back, one
// waiting for the other, with a push that contends with the receiver's swaps.
//
// An envelope stands in the inbox and in the lane like a stack. Who owns the house fills it in
// the lane, by filled: see House.Join. Another worker fills it first and then sends it closed:
// see outbox.go. A guest's goes at once, and is
//
//	open    its word is the number of messages in it: guests of the stripe that sent it, behind
//	        the mutex of its shard, may add as long as it is the newest mail of the inbox, by
//	        writing the next one and raising the word
//	closed  the word has the bit envelopeClosed too: the receiver has begun to handle it, and
//	        handles what was counted. The sender, whose raise fails, clears what it wrote behind that
//
// The word stays closed until the sender, at whose shard the envelope is at home, takes
// it for another house or message. What is added to the newest mail comes behind all that was
// sent before, by whichever guest. Who adds rings as who pushes does.
type envelope struct {
	Stack
	word atomic.Uint32

	// By the owner of the house itself, see tell.go.
	filled uint32 // so many messages, which word doesn't count
	places uint32 // up to so many the owner may fill. Invariant: 0 if filled is
}

// opening is how far a house has come with the envelope that is first in its lane of
// calls. It isn't in the envelope, whose lines the sender writes.
type opening struct {
	read uint8 // how many messages have been handled, or are
	seen uint8 // how many there were at the last look
}

const (
	// envelopeBytes is how long the messages of an envelope are together, at most: enough
	// to make the price of a crossing a small part of what handling them costs.
	envelopeBytes = 1 << 10
	// entryMin and entryMax are the fewest and the most that an envelope takes.
	entryMin, entryMid, entryMax = 16, 64, 128

	envelopeClosed = 1 << 31
)

// envelopeFor is the envelope of one type of message. Entries is an array of them.
type envelopeFor[Entries any] struct {
	envelope
	entries Entries
}

func envelopeOf(s *Stack) *envelope { return (*envelope)(unsafe.Pointer(s)) }

// close is the transition open -> closed. It returns the number of messages.
func (e *envelope) close() int {
	invariant.Point("envelope.close")
	return int(e.word.Or(envelopeClosed) &^ envelopeClosed)
}

// newEnvelope makes the handler of the envelopes for the messages of by; nil if they are too
// long.
func newEnvelope[Msg any](by *Handler) *Handler {
	var probe Msg
	switch n := max(1, unsafe.Sizeof(probe)); {
	case n <= envelopeBytes/entryMax:
		return newEnvelopeFor[Msg, [entryMax]Msg](by, entryMax)
	case n <= envelopeBytes/entryMid:
		return newEnvelopeFor[Msg, [entryMid]Msg](by, entryMid)
	case n <= envelopeBytes/entryMin:
		return newEnvelopeFor[Msg, [entryMin]Msg](by, entryMin)
	}
	return nil
}

func newEnvelopeFor[Msg, Entries any](by *Handler, max int) *Handler {
	if max > entryMax { // see opening
		panic("stack: an envelope takes more than can be counted")
	}
	m := &Handler{class: classNotice, title: "envelope of " + by.Name(), envelope: envelopePart{opens: by, max: max}}
	var probe Msg
	m.envelope.size = unsafe.Sizeof(probe)
	m.envelope.word = m.envelope.size == 8 && by.bare.wipe == nil
	m.envelope.unpack = func(s *Stack, at unsafe.Pointer) { *Message[Msg](s) = *(*Msg)(at) }
	m.kind = pool.NewKind(m.title,
		pool.Layout{Size: unsafe.Sizeof(envelopeFor[Entries]{}), Fixed: fixedSize},
		func() *pool.Object {
			e := new(envelopeFor[Entries])
			e.by = m
			return &e.Object
		},
		func(o *pool.Object) {
			e := envelopeOf(stackOf(o))
			if invariant.Enabled && (e.filled != 0 || e.places != 0) {
				panic("stack: an envelope is put that the owner of a house still fills")
			}
			e.next, e.to, e.sent = nil, nil, 0
			// The others are the sender's.
			clear(unsafe.Slice(entry[Msg](e, 0), e.word.Load()&^envelopeClosed))
		}).Keeps().Shared()
	return m
}

// open handles messages of e, the first in the lane of calls of h, as long as nothing
// goes ahead, n at most, and returns the rest of n.
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

// read handles n messages of e, fewer if something is to go ahead of the next, or if a step does something
// odd. One stack of the own shard does for all of them, unless a step keeps or ends it, which is odd.
//
//alloc:none
func (w *Engine) read(h *House, e *envelope, n int) {
	var words *[entryMax]uint64 // the messages, if they are taken without a call, as most are
	if w.Trace == nil && e.by.envelope.word && !h.flags.has(flagNoted) {
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
			if w.Trace != nil || h.flags.has(flagNoted) {
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
		if invariant.Enabled { // the next message gets another life
			w.putBlank(s)
			s = w.reader(h, e)
			self = s.self()
		}
	}
}

// reader returns a stack for messages of e.
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

// dropAll is open for a house that has stopped.
func (w *Engine) dropAll(h *House, e *envelope, n int) (left int) {
	o := &h.opening
	for ; n > 0; n-- {
		if o.read == o.seen && !h.recount(e) {
			w.popEnvelope(h, e)
			return n
		}
		s := stackOf(w.Shard.Take(e.by.envelope.opens.kind))
		s.to, s.sent = h, e.sent
		e.by.envelope.unpack(s, entryAt(e, e.by, int(o.read)))
		o.read++
		h.unshown--
		w.handled++
		if w.Trace != nil {
			w.Trace(h, s)
		}
		w.drop(h, s)
	}
	return 0
}

// popEnvelope puts e, all of whose messages have been handled.
func (w *Engine) popEnvelope(h *House, e *envelope) {
	h.opening = opening{}
	h.calls.pop()
	w.Shard.Put(&e.Object)
}

// recount finds out how many messages there are in e, the first in the lane of calls: a guest's is closed, and the owner of
// the house may have added to its own since the last look. It reports whether there are more than then.
func (h *House) recount(e *envelope) bool {
	o := &h.opening
	before := o.seen
	switch {
	case e.filled == 0:
		o.seen = uint8(e.close())
	case uint8(e.filled) > before:
		o.seen = uint8(e.filled)
	default:
		e.word.Store(e.filled) // for clearing
		e.filled, e.places = 0, 0
	}
	return o.seen > before
}

// add counts the i-th message, which the sender has written. It reports false if the
// receiver came first.
func (e *envelope) add(i uint32) bool {
	invariant.Point("envelope.add")
	return e.word.CompareAndSwap(i, i+1)
}

// entryAt is entry of a message whose type isn't known.
func entryAt(e *envelope, mail *Handler, i int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(e), unsafe.Sizeof(envelope{})+uintptr(i)*mail.envelope.size)
}

// message is Message of one whose type isn't known.
func (s *Stack) message() unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(s), unsafe.Sizeof(Stack{}))
}

// entry returns the i-th place.
func entry[Msg any](e *envelope, i int) *Msg {
	first := &(*envelopeFor[[1]Msg])(unsafe.Pointer(e)).entries[0]
	return (*Msg)(unsafe.Add(unsafe.Pointer(first), uintptr(i)*unsafe.Sizeof(*first)))
}

// Tell sends a notice. The error is ErrMailboxFull or ErrStopped.
func Tell[Msg any](g *Guests, h *House, by *Handler, msg *Msg) error {
	if !h.reserve() {
		return noticeFor(g, h, by, msg).refusePost()
	}
	sendNotice(g, h, by, msg)
	return nil
}

// TellWait is Tell that waits for room, until ctx ends.
func TellWait[Msg any](ctx context.Context, g *Guests, h *House, by *Handler, msg *Msg) error {
	for !h.reserve() {
		if h.Gone() {
			return noticeFor(g, h, by, msg).refusePost()
		}
		if err := g.waitForRoom(ctx, h); err != nil {
			g.Pools.Put(&noticeFor(g, h, by, msg).Object) // which releases it
			return err
		}
	}
	sendNotice(g, h, by, msg)
	return nil
}

// noticeFor returns a stack for a notice.
func noticeFor[Msg any](g *Guests, h *House, by *Handler, msg *Msg) *Stack {
	s := g.Begin(h, by)
	*Message[Msg](s) = *msg
	return s
}

// sendNotice sends a notice for which there is room.
func sendNotice[Msg any](g *Guests, h *House, by *Handler, msg *Msg) {
	if by.bare.envelope == nil {
		noticeFor(g, h, by, msg).send()
		return
	}
	say(g, h, by, msg)
	if w := h.ring(); w != nil { // not behind the lock: what it finds there may be ended here
		w.wake()
	}
}

// say pushes a notice for which there is room, without ringing. What comes behind a notice from its own stripe, if that is
// still the newest mail, begins an envelope, or joins the one that it is if that is by the same handler.
func say[Msg any](g *Guests, h *House, by *Handler, msg *Msg) {
	from := g.Pools.Lock()
	defer g.Pools.Unlock()
	last := &g.stripes[pool.Stripe()].last[h.serial%lastMax]
	invariant.Point("envelope.newest")
	behind := last.mail != nil && h.inbox.Load() == last.mail
	if behind && last.by == by.bare.envelope {
		e := envelopeOf(last.mail)
		invariant.Point("envelope.word")
		if i := e.word.Load(); i < uint32(by.bare.envelope.envelope.max) { // neither full nor closed
			at := entry[Msg](e, int(i))
			*at = *msg
			if e.add(i) {
				return
			}
			var zero Msg
			*at = zero
		}
	}
	if behind && !h.flags.has(flagSingles) {
		e := envelopeOf(stackOf(from.Take(by.bare.envelope.kind)))
		*entry[Msg](e, 0) = *msg
		invariant.Point("envelope.start")
		e.word.Store(1)
		last.mail, last.by = &e.Stack, by.bare.envelope
	} else {
		s := stackOf(from.Take(by.kind))
		*Message[Msg](s) = *msg
		last.mail, last.by = s, by
	}
	last.mail.to = h
	h.push(last.mail, last.mail)
}

// lastNotice is the mail by which the guests of a stripe sent their last notice to a house: who still finds it newest in the inbox is
// behind it, and nothing else. As long as it stands there nobody takes it for anything else.
type lastNotice struct {
	mail *Stack // nil: none
	by   *Handler
}

// lastMax is for how many houses a stripe remembers it, in places by their number.
const lastMax = 8
