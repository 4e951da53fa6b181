package stack

import (
	"sync/atomic"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Notices without locals cross to another worker in envelopes: many in one object, side
// by side. A stack for each would take several cache lines there and back, one waiting
// for the other, and a push that contends with the receiver's swaps.
//
// An envelope stands in the inbox like a stack. A worker fills it first: see outbox.go. A
// guest's goes at once, and is
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
	read int // by the receiver: how many messages have been handled, or are
}

const (
	// envelopeMax is how many messages share the price of one crossing: at 16 it is a
	// small part of what handling them costs.
	envelopeMax = 16
	// letterMax is the size of the largest message that goes by envelope, in bytes.
	letterMax = 64

	envelopeClosed = 1 << 31
)

// envelopeFor is the envelope of one type of message.
type envelopeFor[Msg any] struct {
	envelope
	letters [envelopeMax]Msg
}

func envelopeOf(s *Stack) *envelope { return (*envelope)(unsafe.Pointer(s)) }

// close is the transition open -> closed. It returns the number of messages.
func (e *envelope) close() int {
	invariant.Point("envelope.close")
	return int(e.word.Or(envelopeClosed) &^ envelopeClosed)
}

// newMail makes the handler of the envelopes for the messages of by.
func newMail[Msg any](by *Handler) *Handler {
	m := &Handler{class: classNotice, title: "envelope of " + by.Name()}
	m.unpack = func(w *Worker, e *envelope, i int) *Stack {
		o := w.Shard.TakeFree(by.kind)
		if o == nil {
			o = w.Shard.Miss(by.kind)
		}
		c := stackOf(o)
		c.to, c.sent = e.to, e.sent
		*Message[Msg](c) = *letter[Msg](e, i)
		return c
	}
	m.kind = pool.NewKind(m.title,
		pool.Layout{Size: unsafe.Sizeof(envelopeFor[Msg]{}), Fixed: fixedSize},
		func() *pool.Object {
			e := new(envelopeFor[Msg])
			e.by = m
			return &e.Object
		},
		func(o *pool.Object) {
			e := (*envelopeFor[Msg])(unsafe.Pointer(o))
			e.next, e.to, e.sent, e.read = nil, nil, 0, 0
			clear(e.letters[:e.word.Load()&^envelopeClosed]) // the others are the sender's
		}).Keeps().Shared()
	return m
}

// open handles messages of e, the first in the lane of calls of h, as long as nothing
// goes ahead and n, which it returns the rest of, isn't used up. Each has a stack of its own
// while it is handled: the same one, most often.
func (w *Worker) open(h *House, e *envelope, n int) int {
	for {
		if e.read == int(e.word.Load()&^envelopeClosed) && e.read == e.close() {
			h.lanes[Calls].pop()
			w.Shard.Put(&e.Object)
			return n
		}
		c := e.by.unpack(w, e, e.read)
		e.read++
		w.handled++
		if w.Trace != nil {
			w.Trace(h, c)
		}
		w.lean(h, c, 1)
		if n == 1 || h.ahead != 0 || h.urged.Load() {
			return n
		}
		n--
	}
}

// letters are the envelopes of a stripe that may be open: for each house, in a place by
// its number, the one that it pushed last, if nothing else was sent there since.
type letters [8]struct {
	to *House
	e  *envelope
}

// forget is called when something else is sent to h.
func (l *letters) forget(h *House) {
	if p := &l[h.serial%uint64(len(l))]; p.to == h {
		p.to, p.e = nil, nil
	}
}

// open returns the envelope in which the next message of by for h has a place, and that
// place; nil if there is none.
func (l *letters) open(h *House, by *Handler) (e *envelope, i int) {
	p := &l[h.serial%uint64(len(l))]
	if p.to != h || p.e.by != by.mail {
		return nil, 0
	}
	if i = int(p.e.word.Load()); i >= envelopeMax { // it is full, or closed
		return nil, 0
	}
	return p.e, i
}

// start has e, which was just taken for h, be the one that is open. The first message
// has the first place.
func (l *letters) start(h *House, e *envelope) {
	for i := range l {
		if l[i].e == e { // from another life of it
			l[i].to, l[i].e = nil, nil
		}
	}
	p := &l[h.serial%uint64(len(l))]
	p.to, p.e = h, e
	e.to = h
	e.word.Store(1)
}

// add counts the i-th message, which the sender has written. It reports false if the
// receiver came first.
func (e *envelope) add(i int) bool {
	invariant.Point("envelope.add")
	return e.word.CompareAndSwap(uint32(i), uint32(i+1))
}

// letter returns the i-th place.
func letter[Msg any](e *envelope, i int) *Msg {
	return &(*envelopeFor[Msg])(unsafe.Pointer(e)).letters[i]
}

// Tell sends a notice.
func Tell[Msg any](g *Guests, h *House, by *Handler, msg *Msg) {
	if by.mail == nil {
		s := g.Begin(h, by)
		*Message[Msg](s) = *msg
		s.Post()
		return
	}
	t := &g.stripes[pool.Stripe()]
	t.mu.Lock()
	w := tellLocked(g, t, h, by, msg)
	t.mu.Unlock()
	if w != nil {
		w.wake()
	}
}

// tellLocked is Tell with the stripe locked. It returns a worker for the caller to wake.
func tellLocked[Msg any](g *Guests, t *guestStripe, h *House, by *Handler, msg *Msg) *Worker {
	if e, i := t.letters.open(h, by); e != nil {
		at := letter[Msg](e, i)
		*at = *msg
		if e.add(i) {
			return nil
		}
		var zero Msg
		*at = zero
	}
	e := envelopeOf(stackOf(g.Pools.Take(by.mail.kind)))
	t.letters.start(h, e)
	t.any.Store(true)
	*letter[Msg](e, 0) = *msg
	return e.post()
}
