package stack

import (
	"sync/atomic"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Notices without locals share envelopes: many in one object, side by side. A stack for
// each would take several cache lines. Sent to another worker, each line travels there and
// back, one after the other, and each push contends with the receiver's swaps.
//
// An envelope stands in the inbox and in the lane like a stack. The owner of the house fills its
// own in the lane, by the field filled: see House.Join. Another worker fills an envelope first and
// then sends it closed: see send_outbox.go. A guest sends one at once; then it is
//
//	open    its word is the number of messages in it. Guests of the stripe that sent it may add,
//	        under the mutex of their shard, as long as it is the newest mail of the inbox: they
//	        write the next message and raise the word
//	closed  the word has the bit envelopeClosed too: the receiver has begun to handle it, and
//	        handles the messages counted so far. A sender whose raise fails clears the message
//	        that it wrote
//
// The word stays closed until the sender, from whose shard the envelope is, takes it again for
// another house or message. As only the newest mail is added to, an added message comes behind all
// that was sent before, by whichever guest. A guest that adds rings, as one that pushes does.
type envelope struct {
	Stack
	word atomic.Uint32

	// Written by the owner of the house if it fills the envelope, see send_tell.go.
	filled uint32 // how many messages it has put in, which word doesn't count
	places uint32 // how many it may put in without a look at the mailbox. Invariant: 0 if filled is
}

const (
	// envelopeBytes is how long the messages of an envelope are together, at most: enough
	// to make the price of a crossing a small part of the cost of handling them.
	envelopeBytes = 1 << 10
	// entryMin, entryMid and entryMax are how many messages an envelope takes, by their size.
	entryMin, entryMid, entryMax = 16, 64, 128

	envelopeClosed = 1 << 31
)

// envelopeFor is the envelope of one type of message. Entries is an array of them.
type envelopeFor[Entries any] struct {
	head    envelope
	entries Entries
}

func envelopeOf(s *Stack) *envelope { return (*envelope)(unsafe.Pointer(s)) }

// close is the transition open -> closed. It returns the number of messages.
func (e *envelope) close() int {
	invariant.Point("envelope.close")
	return int(e.word.Or(envelopeClosed) &^ envelopeClosed)
}

// newEnvelope makes the handler of the envelopes for the messages of by; nil if the messages are
// too long.
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
	m := &Handler{class: classNotice, Title: "envelope of " + by.Name(), envelope: envelopePart{opens: by, max: max}}
	var probe Msg
	m.envelope.size = unsafe.Sizeof(probe)
	m.envelope.word = m.envelope.size == 8 && by.bare.wipe == nil
	m.envelope.unpack = func(s *Stack, at unsafe.Pointer) { *Message[Msg](s) = *(*Msg)(at) }
	m.kind = pool.NewKind(m.Title,
		pool.Layout{Size: unsafe.Sizeof(envelopeFor[Entries]{}), Fixed: fixedSize},
		func() *pool.Object {
			e := new(envelopeFor[Entries])
			e.head.by = m
			return &e.head.Object
		},
		func(o *pool.Object) {
			e := envelopeOf(stackOf(o))
			if invariant.Enabled && (e.filled != 0 || e.places != 0) {
				panic("stack: an envelope is put that the owner of a house still fills")
			}
			e.next, e.to, e.sent = nil, nil, 0
			// a place behind these was cleared by its sender, see say
			clear(unsafe.Slice(entry[Msg](e, 0), e.word.Load()&^envelopeClosed))
		}).Keeps().Shared()
	return m
}

// entryAt is entry for messages whose type isn't known: mail is the handler of e.
func entryAt(e *envelope, mail *Handler, i int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(e), unsafe.Sizeof(envelope{})+uintptr(i)*mail.envelope.size)
}

// message is Message for a notice whose type isn't known.
func (s *Stack) message() unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(s), unsafe.Sizeof(Stack{}))
}

// entry returns the i-th place of e.
func entry[Msg any](e *envelope, i int) *Msg {
	first := &(*envelopeFor[[1]Msg])(unsafe.Pointer(e)).entries[0]
	return (*Msg)(unsafe.Add(unsafe.Pointer(first), uintptr(i)*unsafe.Sizeof(*first)))
}
