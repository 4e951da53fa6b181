package stack

import (
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
// see send_outbox.go. A guest's goes at once, and is
//
//	open    its word is the number of messages in it: guests of the stripe that sent it, behind
//	        the mutex of its shard, may add as long as it is the newest mail of the inbox, by
//	        writing the next one and raising the word
//	closed  the word has the bit envelopeClosed too: the receiver has begun to handle it, and
//	        handles what was counted. The sender, whose raise fails, clears what it wrote behind
//	        that
//
// The word stays closed until the sender, at whose shard the envelope is at home, takes
// it for another house or message. What is added to the newest mail comes behind all that was
// sent before, by whichever guest. Who adds rings as who pushes does.
type envelope struct {
	Stack
	word atomic.Uint32

	// By the owner of the house itself, see send_tell.go.
	filled uint32 // so many messages, which word doesn't count
	places uint32 // up to so many the owner may fill. Invariant: 0 if filled is
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
	head    envelope
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
			e.head.by = m
			return &e.head.Object
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
