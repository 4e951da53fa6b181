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
// see outbox.go. A guest's goes at once, and is
//
//	open    its word is the number of messages in it: the sender may add, also while it
//	        stands in the inbox or the lane, by writing the next one and raising the word
//	closed  the word has the bit envelopeClosed too: the receiver has handled what was
//	        counted, and set the bit; it handles what came before that, and puts the
//	        envelope. The sender, whose raise fails, clears what it wrote behind the count
//
// The word stays closed until the sender, at whose shard the envelope is at home, takes
// it for another house or message. The sender is the guests of one stripe behind its
// mutex. It adds only while it has sent nothing else to that house, so order holds; and
// because it rang for the envelope before it added, the receiver comes.
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
	read  uint8 // how many messages have been handled, or are
	seen  uint8 // how many the word counted at the last look
	rests uint8 // visits without a look since all that was seen has been handled; restMax: it is whole, nobody adds to it any more
}

const (
	// envelopeBytes is how long the messages of an envelope are together, at most: enough
	// to make the price of a crossing a small part of what handling them costs.
	envelopeBytes = 1 << 10
	// letterMin and letterMax are the fewest and the most that an envelope takes.
	letterMin, letterMid, letterMax = 16, 64, 128

	envelopeClosed = 1 << 31
)

// envelopeFor is the envelope of one type of message. Letters is an array of them.
type envelopeFor[Letters any] struct {
	envelope
	letters Letters
}

func envelopeOf(s *Stack) *envelope { return (*envelope)(unsafe.Pointer(s)) }

// close is the transition open -> closed. It returns the number of messages.
func (e *envelope) close() int {
	invariant.Point("envelope.close")
	return int(e.word.Or(envelopeClosed) &^ envelopeClosed)
}

// newMail makes the handler of the envelopes for the messages of by; nil if they are too
// long.
func newMail[Msg any](by *Handler) *Handler {
	var probe Msg
	switch n := max(1, unsafe.Sizeof(probe)); {
	case n <= envelopeBytes/letterMax:
		return newMailFor[Msg, [letterMax]Msg](by, letterMax)
	case n <= envelopeBytes/letterMid:
		return newMailFor[Msg, [letterMid]Msg](by, letterMid)
	case n <= envelopeBytes/letterMin:
		return newMailFor[Msg, [letterMin]Msg](by, letterMin)
	}
	return nil
}

func newMailFor[Msg, Letters any](by *Handler, max int) *Handler {
	if max > letterMax { // see opening
		panic("stack: an envelope takes more than can be counted")
	}
	m := &Handler{class: classNotice, title: "envelope of " + by.Name(), max: max, opens: by}
	var probe Msg
	m.size = unsafe.Sizeof(probe)
	m.word = m.size == 8 && by.wipe == nil
	m.unpack = func(s *Stack, at unsafe.Pointer) { *Message[Msg](s) = *(*Msg)(at) }
	m.kind = pool.NewKind(m.title,
		pool.Layout{Size: unsafe.Sizeof(envelopeFor[Letters]{}), Fixed: fixedSize},
		func() *pool.Object {
			e := new(envelopeFor[Letters])
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
			clear(unsafe.Slice(letter[Msg](e, 0), e.word.Load()&^envelopeClosed))
		}).Keeps().Shared()
	return m
}

// open handles messages of e, the first in the lane of calls of h, as long as nothing
// goes ahead, n at most, and returns the rest of n.
//
//alloc:none
func (w *Worker) open(h *House, e *envelope, n int) (left int) {
	if h.Gone() {
		return w.dropAll(h, e, n)
	}
	o := &h.opening
	for before := w.handled; ; {
		if o.read == o.seen {
			if (o.rests > 0 || w.handled > before) && w.rests(h, e) {
				return 0
			}
			if !h.look(e) {
				w.popEnvelope(h, e)
				return n
			}
		}
		from := o.read
		w.read(h, e, min(n, int(o.seen-o.read)))
		if n -= int(o.read - from); n == 0 || h.ahead || h.flags.has(flagUrged|flagHeld) {
			return n
		}
	}
}

// read handles n messages of e, fewer if something is to go ahead of the next, or if a step does something
// odd. One stack of the own shard does for all of them, unless a step keeps or ends it, which is odd.
//
//alloc:none
func (w *Worker) read(h *House, e *envelope, n int) {
	var words *[letterMax]uint64 // the messages, if they are taken without a call, as most are
	if w.Trace == nil && e.by.word && !h.flags.has(flagNoted) {
		words = (*[letterMax]uint64)(letterAt(e, e.by, 0))
	}
	s := w.reader(h, e)
	o, first, actor, self := &h.opening, s.by.first, h.self(), s.self()
	for last := o.read + uint8(n); ; {
		i := o.read
		o.read = i + 1
		h.unshown--
		w.handled++
		if words != nil {
			*(*uint64)(s.message()) = words[i%letterMax]
		} else {
			e.by.unpack(s, letterAt(e, e.by, int(i)))
			if w.Trace != nil || h.flags.has(flagNoted) {
				w.see(h, s)
			}
		}
		s.state, w.inStep = running, true
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
		if o.read == last || h.ahead || h.flags.has(flagUrged|flagHeld) {
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
func (w *Worker) reader(h *House, e *envelope) *Stack {
	by := e.by.opens
	s := stackOf(w.Shard.Take(by.kind))
	s.to, s.sent = h, e.sent
	w.current, w.by = s, by
	return s
}

// putBlank puts the stack that read has used, once its last step has ended.
func (w *Worker) putBlank(s *Stack) {
	if s.by.wipe != nil {
		s.by.wipe(s)
	}
	s.blank()
	w.Shard.PutClear(&s.Object)
}

// dropAll is open for a house that has stopped.
func (w *Worker) dropAll(h *House, e *envelope, n int) (left int) {
	o := &h.opening
	for ; n > 0; n-- {
		if o.read == o.seen && !h.look(e) {
			w.popEnvelope(h, e)
			return n
		}
		s := stackOf(w.Shard.Take(e.by.opens.kind))
		s.to, s.sent = h, e.sent
		e.by.unpack(s, letterAt(e, e.by, int(o.read)))
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
func (w *Worker) popEnvelope(h *House, e *envelope) {
	h.opening = opening{}
	h.calls.pop()
	w.Shard.Put(&e.Object)
}

// look finds out how many messages there are now in e, the first in the lane of calls. If there
// are no more than at the last look it closes the envelope, and reports false.
func (h *House) look(e *envelope) bool {
	o := &h.opening
	before := o.seen
	if e.filled > 0 {
		o.rests = restMax
		if o.seen = uint8(e.filled); o.seen == before {
			e.word.Store(e.filled) // for clearing
			e.filled, e.places = 0, 0
		}
		return o.seen > before
	}
	invariant.Point("envelope.look")
	word := e.word.Load()
	o.rests = 0
	switch {
	case word&envelopeClosed != 0:
		o.rests = restMax
	case uint8(word) == before:
		n := e.close()
		h.giveBack(e, n)
		word, o.rests = uint32(n), restMax
	}
	o.seen = uint8(word)
	return o.seen > before
}

// restMax is how often a house is visited for nothing before the next look into its
// envelope, if its worker has nothing else to do: some two microseconds. A worker that looked
// after each message would take the lines of the envelope from a sender that is about
// to write the next one, and close it for want of a message. A visit that begins with it looks,
// unless it was left alone before: others have been visited meanwhile.
const restMax = 12

// rests reports whether to leave e alone in this visit.
func (w *Worker) rests(h *House, e *envelope) bool {
	o := &h.opening
	invariant.Point("envelope.rests")
	if o.read == 0 || int(o.read) == e.by.max || o.rests == restMax || w.lent != nil || e.next != nil || h.inbox.Load() != nil {
		return false
	}
	if o.rests == 0 {
		h.since = uint16(w.handled)
	} else if h.since != uint16(w.handled) {
		return false // there was something else to do meanwhile
	}
	o.rests++
	if w.rested == nil {
		w.rested, w.brief = h, true
	}
	return true
}

// letters are the notices of a stripe that went last: for each house, in a place by its
// number, by what handler they were, if nothing else was sent there since.
type letters [8]struct {
	to *House
	by *Handler
	e  *envelope // that may be open; nil: there is none yet
}

// forget is called when something else is sent to h.
func (l *letters) forget(h *House) {
	if p := &l[h.serial%uint64(len(l))]; p.to == h {
		p.to, p.by, p.e = nil, nil, nil
	}
}

// leave has the next notice to h, which was the last, begin another envelope.
func (l *letters) leave(h *House) { l[h.serial%uint64(len(l))].e = nil }

// follows reports whether a notice of by follows others to h, and returns the envelope in
// which it has a place, and that place; nil if there is none. A notice that follows none
// goes in a stack of its own: most houses get no more of a sender at a time.
func (l *letters) follows(h *House, by *Handler) (e *envelope, i int, yes bool) {
	p := &l[h.serial%uint64(len(l))]
	if p.to != h || p.by != by {
		p.to, p.by, p.e = h, by, nil
		return nil, 0, false
	}
	if p.e == nil {
		return nil, 0, true
	}
	invariant.Point("envelope.follow")
	if i = int(p.e.word.Load()); i >= by.mail.max { // it is full, or closed
		return nil, 0, true
	}
	return p.e, i, true
}

// start has e, which was just taken for h, be the one that is open. The first message
// has the first place.
func (l *letters) start(h *House, e *envelope) {
	for i := range l {
		if l[i].e == e { // from another life of it
			l[i].e = nil
		}
	}
	l[h.serial%uint64(len(l))].e = e
	e.to = h
	invariant.Point("envelope.start")
	e.word.Store(1)
}

// add counts the i-th message, which the sender has written. It reports false if the
// receiver came first.
func (e *envelope) add(i int) bool {
	invariant.Point("envelope.add")
	return e.word.CompareAndSwap(uint32(i), uint32(i+1))
}

// letterAt is letter of a message whose type isn't known.
func letterAt(e *envelope, mail *Handler, i int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(e), unsafe.Sizeof(envelope{})+uintptr(i)*mail.size)
}

// message is Message of one whose type isn't known.
func (s *Stack) message() unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(s), unsafe.Sizeof(Stack{}))
}

// letter returns the i-th place.
func letter[Msg any](e *envelope, i int) *Msg {
	first := &(*envelopeFor[[1]Msg])(unsafe.Pointer(e)).letters[0]
	return (*Msg)(unsafe.Add(unsafe.Pointer(first), uintptr(i)*unsafe.Sizeof(*first)))
}

// Tell sends a notice. The error is ErrMailboxFull.
func Tell[Msg any](g *Guests, h *House, by *Handler, msg *Msg) error {
	if by.mail == nil {
		s := g.Begin(h, by)
		*Message[Msg](s) = *msg
		return s.Post()
	}
	t := &g.stripes[pool.Stripe()]
	invariant.Lock(&t.mu)
	w, full := tellLocked(g, t, h, by, msg)
	t.mu.Unlock()
	if full {
		s := g.Begin(h, by)
		*Message[Msg](s) = *msg
		return s.refusePost()
	}
	if w != nil {
		w.wake()
	}
	return nil
}

// tellLocked is Tell with the stripe locked. It returns a worker for the caller to wake, or that
// the mailbox is full.
func tellLocked[Msg any](g *Guests, t *guestStripe, h *House, by *Handler, msg *Msg) (wake *Worker, full bool) {
	e, i, follows := t.letters.follows(h, by)
	if chunk := h.chunk(by.mail.max); follows && chunk > 0 {
		reserved := false
		if e != nil {
			if i%chunk == 0 {
				reserved = h.reserve(chunk)
			}
			if i%chunk != 0 || reserved {
				at := letter[Msg](e, i)
				*at = *msg
				if e.add(i) {
					return nil, false
				}
				var zero Msg
				*at = zero
			}
		}
		if reserved || h.reserve(chunk) {
			e = envelopeOf(stackOf(g.Pools.Take(by.mail.kind)))
			t.letters.start(h, e)
			*letter[Msg](e, 0) = *msg
			return e.post(), false
		}
		t.letters.leave(h) // what comes next comes behind the stack
	}
	if !h.reserve(1) {
		return nil, true
	}
	t.any.Store(true)
	s := g.Begin(h, by)
	*Message[Msg](s) = *msg
	return s.post(), false
}
