package frame

import (
	"bytes"
	"math"
	"slices"
)

// Tell is a notice to an actor.
type Tell struct {
	To      uint64 // the number of the actor, which a REF has declared
	Method  uint64 // the number of the message's method
	Message []byte
}

// Append appends t as a frame.
//
//alloc:none
func (t *Tell) Append(dst []byte) []byte {
	start := len(dst)
	dst = open(dst, KindTell, 0)
	dst = appendNumber(dst, t.To)
	dst = appendNumber(dst, t.Method)
	return closed(append(dst, t.Message...), start)
}

// Read reads t from a TELL.
//
//alloc:none
func (t *Tell) Read(r Raw) error {
	f := fieldsOf(r, KindTell)
	t.To = f.number()
	t.Method = f.number()
	t.Message = f.rest()
	return f.end()
}

// Join adds t to f, a frame in memory with room behind it: a TELL or a TELLS of the same method to
// the same actor becomes the TELLS that has t's message behind its own. It reports false, and f
// stays as it is, if f is another frame, or t doesn't fit: within cap(f), and JoinMax.
//
//alloc:none
func (t *Tell) Join(f []byte) (joined []byte, ok bool) {
	k := Kind(f[lengthBytes])
	if k != KindTell && k != KindTells {
		return f, false
	}
	var b [2 * numberMax]byte
	to := appendNumber(appendNumber(b[:0], t.To), t.Method)
	if !bytes.HasPrefix(f[head:], to) || len(f)+len(t.Message)+2*numberMax > min(cap(f), JoinMax) {
		return f, false
	}
	if k == KindTell { // its message has no length before it yet
		messages := head + len(to)
		f = slices.Insert(f, messages, appendNumber(b[:0], uint64(len(f)-messages))...)
		f[lengthBytes] = byte(KindTells)
	}
	return closed(AppendMessage(f, t.Message), 0), true
}

// JoinMax is the longest frame that Join makes, bytes. A frame that comes in part before its
// connection is lost comes again whole, and nothing of it is done before all of it has come: so it
// isn't as long as a frame may be. With some ten messages what a frame costs is hardly seen.
const JoinMax = 4 << 10

// Tells is many notices of one method to one actor: an envelope.
type Tells struct {
	To       uint64
	Method   uint64
	Messages []byte // one or more, as AppendMessage has appended them; Take takes them
}

// Append appends t as a frame. It panics without a message.
//
//alloc:none
func (t *Tells) Append(dst []byte) []byte {
	demand(len(t.Messages) > 0)
	start := len(dst)
	dst = open(dst, KindTells, 0)
	dst = appendNumber(dst, t.To)
	dst = appendNumber(dst, t.Method)
	return closed(append(dst, t.Messages...), start)
}

// Read reads t from a TELLS. It looks at the length of each message: so Take finds them all.
//
//alloc:none
func (t *Tells) Read(r Raw) error {
	f := fieldsOf(r, KindTells)
	t.To = f.number()
	t.Method = f.number()
	t.Messages = f.in
	f.must(f.err != nil || len(f.in) > 0)
	for f.err == nil && len(f.in) > 0 {
		f.bytes(LongMax)
	}
	return f.end()
}

// AppendMessage appends a message to those of a Tells.
//
//alloc:none
func AppendMessage(messages, message []byte) []byte {
	return appendBytes(messages, message, LongMax)
}

// Take takes out the first message; ok is false if none is left. It aliases Messages.
//
//alloc:none
func (t *Tells) Take() (message []byte, ok bool) {
	if len(t.Messages) == 0 {
		return nil, false
	}
	f := fields{in: t.Messages}
	message = f.bytes(LongMax)
	if f.err != nil {
		panic("frame: messages that weren't read from a frame")
	}
	t.Messages = f.in
	return message, true
}

// Ask is a request to an actor. A REPLY or a FAIL with its slot answers it, a CANCEL ends it.
type Ask struct {
	Slot      uint64 // where the asker waits; it is used again after the answer
	To        uint64
	Method    uint64
	Remaining uint64 // until the deadline, ns, at most the highest int64; 0: there is none
	Context   []byte // what the ask brings along, at most ContextMax bytes; empty: nothing
	Message   []byte
}

// Append appends a as a frame.
//
//alloc:none
func (a *Ask) Append(dst []byte) []byte {
	demand(a.Remaining <= math.MaxInt64)
	start := len(dst)
	dst = open(dst, KindAsk, 0)
	dst = appendNumber(dst, a.Slot)
	dst = appendNumber(dst, a.To)
	dst = appendNumber(dst, a.Method)
	dst = appendNumber(dst, a.Remaining)
	dst = appendBytes(dst, a.Context, ContextMax)
	return closed(append(dst, a.Message...), start)
}

// Read reads a from an ASK.
//
//alloc:none
func (a *Ask) Read(r Raw) error {
	f := fieldsOf(r, KindAsk)
	a.Slot = f.number()
	a.To = f.number()
	a.Method = f.number()
	a.Remaining = f.between(0, math.MaxInt64)
	a.Context = f.bytes(ContextMax)
	a.Message = f.rest()
	return f.end()
}
