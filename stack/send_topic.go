package stack

import (
	"slices"
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/internal/copied"
)

// Topic is who is told of events of one type: actors, by a notice each, and listeners. The zero
// Topic has nobody. Any goroutine and any step may call its methods, but for Publish. Users see
// it as core.Topic; the runtime's own are in Events.
type Topic[Event any] struct {
	all copied.Value[[]subscriber[Event]] // nil: nobody. Invariant: never empty, no two are equal
	_   noCopy
}

// subscriber is one of those who are told.
type subscriber[Event any] struct {
	to  *House // an actor, by a handler of its own
	by  *Handler
	ear *Listener[Event] // or a goroutine
}

// Silent reports whether nobody is told: a load.
//
//alloc:none
func (t *Topic[Event]) Silent() bool { return t.all.Load() == nil }

// Subscribe has h told from now on by the notices of by, unless it is already, or has stopped.
func (t *Topic[Event]) Subscribe(h *House, by *Handler) {
	if holds[Event]() {
		panic("stack: several actors would release copies of one event")
	}
	if by == nil { // here, and not where somebody publishes
		panic("stack: a subscriber without a handler")
	}
	t.join(subscriber[Event]{to: h, by: by})
}

// Unsubscribe ends that. What was published before arrives.
func (t *Topic[Event]) Unsubscribe(h *House, by *Handler) {
	t.leave(subscriber[Event]{to: h, by: by})
}

// Len returns the number of subscribers that haven't stopped.
func (t *Topic[Event]) Len() int {
	t.prune()
	if l := t.all.Load(); l != nil {
		return len(*l)
	}
	return 0
}

// Publish tells all subscribers, in a turn of w.
//
//alloc:none
func (t *Topic[Event]) Publish(w *Engine, event Event) {
	if l := t.all.Load(); l != nil {
		t.tell(w, *l, event)
	}
}

func (t *Topic[Event]) tell(w *Engine, all []subscriber[Event], event Event) {
	gone := false
	for i := range all {
		switch s := &all[i]; {
		case s.ear != nil:
			s.ear.hear(event)
		case s.to.Gone():
			gone = true
		default:
			notify(w, s.to, s.by, event)
		}
	}
	if gone {
		t.prune()
	}
}

// Post is Publish for a guest.
func (t *Topic[Event]) Post(event Event) {
	l := t.all.Load()
	if l == nil {
		return
	}
	gone := false
	for i := range *l {
		switch s := &(*l)[i]; {
		case s.ear != nil:
			s.ear.hear(event)
		case s.to.Gone():
			gone = true
		default:
			Tell(s.to.Owner().Guests, s.to, s.by, &event)
		}
	}
	if gone {
		t.prune()
	}
}

func (t *Topic[Event]) join(s subscriber[Event]) {
	t.all.Change(func(l *[]subscriber[Event]) *[]subscriber[Event] {
		if s.gone() {
			return l
		}
		if l == nil {
			return &[]subscriber[Event]{s}
		}
		if slices.Contains(*l, s) {
			return l
		}
		more := append(slices.Clip(*l), s)
		return &more
	})
}

func (t *Topic[Event]) leave(s subscriber[Event]) {
	t.keep(func(o subscriber[Event]) bool { return o != s })
}

// prune has the subscribers leave that have stopped.
//
//go:noinline
func (t *Topic[Event]) prune() {
	t.keep(func(s subscriber[Event]) bool { return !s.gone() })
}

func (t *Topic[Event]) keep(stays func(subscriber[Event]) bool) {
	t.all.Change(func(l *[]subscriber[Event]) *[]subscriber[Event] {
		if l == nil {
			return nil
		}
		var left []subscriber[Event]
		for _, s := range *l {
			if stays(s) {
				left = append(left, s)
			}
		}
		switch len(left) {
		case len(*l):
			return l
		case 0:
			return nil
		}
		return &left
	})
}

func (s *subscriber[Event]) gone() bool { return s.ear == nil && s.to.Gone() }

// Listener is the subscription of a goroutine that is not a worker: a channel with room for so
// many events. One for which there is no room is dropped, and counted: publishers never wait.
type Listener[Event any] struct {
	topic   *Topic[Event]
	events  chan Event
	dropped atomic.Uint64
}

// Listen subscribes a goroutine, with room for so many events, at least one. Close ends it.
func (t *Topic[Event]) Listen(room int) *Listener[Event] {
	if holds[Event]() {
		panic("stack: several listeners would release copies of one event")
	}
	l := &Listener[Event]{topic: t, events: make(chan Event, max(1, room))}
	t.join(subscriber[Event]{ear: l})
	return l
}

// C returns the channel of the events. It is never closed.
func (l *Listener[Event]) C() <-chan Event { return l.events }

// Dropped returns how many events were dropped because there was no room. Any goroutine may call
// it.
func (l *Listener[Event]) Dropped() uint64 { return l.dropped.Load() }

// Close ends the subscription. Publishers that are at it may still add an event.
func (l *Listener[Event]) Close() { l.topic.leave(subscriber[Event]{ear: l}) }

func (l *Listener[Event]) hear(event Event) {
	select {
	case l.events <- event:
	default:
		l.dropped.Add(1)
	}
}
