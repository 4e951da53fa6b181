package stack

import (
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// DeadLetter tells of a notice that nobody handled. An ask never is a dead letter: its asker gets
// the error.
type DeadLetter struct {
	Reason lost.Reason
	Type   string     // of the message
	To     AnyAddress // a type without an actor, if a router had nobody to choose from
}

// OpenedLetter is a DeadLetter with the message in it. Each one allocates, so they are made only
// while their topic has subscribers.
type OpenedLetter struct {
	DeadLetter
	// Message is nil if the message's type has a Release. Bytes in it that lived as long as the
	// notice, such as those of one from another node, must not be read: they may be another's by now.
	Message any
}

// DeadLetter returns the event for a notice of h to the actor in to; nil: to no actor.
func (h *Handler) DeadLetter(to *House, why lost.Reason) DeadLetter {
	l := DeadLetter{Reason: why, To: AnyAddress{to, h.actor}}
	if to != nil { // a contract's handler doesn't know the actor
		l.To = to.any()
	}
	if h.notice.message != nil {
		l.Type = h.notice.message.String()
	}
	return l
}

// Lost counts and tells that the notice s, for the actor in h (nil: for no actor), won't be
// handled. The caller puts s. Only who runs w's turn calls it.
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

// lostOutside is Lost on any goroutine that owns s.
//
//go:noinline
func (s *Stack) lostOutside(why lost.Reason) {
	s.to.lostOutside(s.by, why, 1, func(int) any { return s.by.open(s.message()) })
}

// allLost is lostOutside for the n messages in an envelope.
//
//go:noinline
func (e *envelope) allLost(n int, why lost.Reason) {
	by := e.by.envelope.opens
	e.to.lostOutside(by, why, n, func(i int) any { return by.open(entryAt(e, e.by, i)) })
}

// lostOutside counts and tells of n dead letters. It calls message only if Opened has subscribers.
func (h *House) lostOutside(by *Handler, why lost.Reason, n int, message func(i int) any) {
	e := &h.Owner().Guests.Events
	e.Tally.Add(by, why, uint64(n))
	for i := 0; i < n && !by.notice.letters; i++ {
		if !e.Lost.Silent() {
			e.Lost.Post(by.DeadLetter(h, why))
		}
		if !e.Opened.Silent() {
			e.Opened.Post(OpenedLetter{by.DeadLetter(h, why), message(i)})
		}
	}
}
