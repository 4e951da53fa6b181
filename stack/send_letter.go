package stack

import (
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// DeadLetter tells of a notice that nobody handled. An ask is none: who asked gets the error.
type DeadLetter struct {
	Reason lost.Reason
	Type   string     // of the message
	To     AnyAddress // a type without an actor, if a router had nobody to choose from
}

// OpenedLetter is a DeadLetter with the message in it. To make one takes memory, so there
// are some only while somebody listens to them.
type OpenedLetter struct {
	DeadLetter
	// Message is nil if the message is released with the stack that carries it.
	Message any
}

// DeadLetter tells of a notice of h to the actor in to; nil: to nobody.
func (h *Handler) DeadLetter(to *House, why lost.Reason) DeadLetter {
	l := DeadLetter{Reason: why, To: AnyAddress{to, h.actor}}
	if h.notice.message != nil {
		l.Type = h.notice.message.String()
	}
	return l
}

// Lost takes down that the notice s, for the actor in h or, if that is nil, for nobody, won't be
// handled. The caller puts s. In a turn of w.
//
//go:noinline
func (w *Engine) Lost(h *House, s *Stack, why lost.Reason) {
	w.Count.Add(count.DeadLetter, 1)
	w.Tally.Add(s.by, why, 1)
	w.Driver.Lost(h, s, why)
	e := &w.Guests.Events
	if s.by.notice.letters || w.telling {
		return
	}
	w.telling = true
	if !e.Lost.Silent() {
		e.Lost.Publish(w, s.by.DeadLetter(h, why))
	}
	if !e.Opened.Silent() {
		e.Opened.Publish(w, OpenedLetter{s.by.DeadLetter(h, why), s.by.open(s.message())})
	}
	w.telling = false
}

// lostOutside is Lost on any goroutine, which has the stack.
//
//go:noinline
func (s *Stack) lostOutside(why lost.Reason) {
	e := &s.to.Owner().Guests.Events
	e.Tally.Add(s.by, why, 1)
	e.lost(s.to, s.by, why, func() any { return s.by.open(s.message()) })
}

// allLost is lostOutside for the n messages in an envelope.
//
//go:noinline
func (e *envelope) allLost(n int, why lost.Reason) {
	events, by := &e.to.Owner().Guests.Events, e.by.envelope.opens
	events.Tally.Add(by, why, uint64(n))
	for i := range n {
		events.lost(e.to, by, why, func() any { return by.open(entryAt(e, e.by, i)) })
	}
}

// lost tells those who listen, of whom some want to see the message.
func (e *Events) lost(h *House, by *Handler, why lost.Reason, message func() any) {
	if by.notice.letters {
		return
	}
	if !e.Lost.Silent() {
		e.Lost.Post(by.DeadLetter(h, why))
	}
	if !e.Opened.Silent() {
		e.Opened.Post(OpenedLetter{by.DeadLetter(h, why), message()})
	}
}
