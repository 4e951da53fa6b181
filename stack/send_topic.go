package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/copied"
	"github.com/stackhouse-go/stackhouse/stack/ear"
	"github.com/stackhouse-go/stackhouse/stack/release"
)

// Topic has the subscribers that are told of events of one type: actors, by a notice to each, and
// listeners. The zero Topic has none. Any goroutine and any step may call its methods, except
// Publish. Users see it as core.Topic; the runtime's own topics are in Events.
type Topic[Event any] struct {
	all copied.Set[subscriber[Event]]
	_   copied.Never
}

// subscriber is an actor or a listener.
type subscriber[Event any] struct {
	to  *House               // an actor's; nil: it is a listener
	by  *Handler             // of the notices that tell the actor
	ear *ear.Listener[Event] // nil: it is an actor
}

// Silent reports whether there are no subscribers. It costs a load.
//
//alloc:none
func (t *Topic[Event]) Silent() bool { return t.all.Empty() }

// Subscribe has h told from now on, by notices of the handler by. It does nothing if h is told by
// these already, or has stopped.
func (t *Topic[Event]) Subscribe(h *House, by *Handler) {
	if release.Holds[Event]() {
		panic("stack: several actors would release copies of one event")
	}
	if by == nil { // panic here rather than in Publish
		panic("stack: a subscriber without a handler")
	}
	t.all.Add(subscriber[Event]{to: h, by: by}, subscriber[Event].gone)
}

// Unsubscribe ends Subscribe. Events that were published before still arrive.
func (t *Topic[Event]) Unsubscribe(h *House, by *Handler) {
	t.all.Remove(subscriber[Event]{to: h, by: by})
}

// Len returns the number of subscribers that haven't stopped.
func (t *Topic[Event]) Len() int {
	t.prune()
	return len(t.all.All())
}

// Publish tells all subscribers. Only who runs w's turn calls it.
//
//alloc:none
func (t *Topic[Event]) Publish(w *Engine, event Event) {
	if all := t.all.All(); len(all) > 0 {
		t.tell(w, all, event)
	}
}

// Post is Publish for a guest.
func (t *Topic[Event]) Post(event Event) { t.tell(nil, t.all.All(), event) }

// tell tells all, in w's turn or, with nil, as a guest.
func (t *Topic[Event]) tell(w *Engine, all []subscriber[Event], event Event) {
	gone := false
	for i := range all {
		switch s := &all[i]; {
		case s.ear != nil:
			ear.Tell(s.ear, event)
		case s.to.Gone():
			gone = true
		case w == nil:
			s.post(event)
		default:
			TellOtherwise(w, s.to, s.by, &event)
		}
	}
	if gone {
		t.prune()
	}
}

// post tells an actor, as a guest.
func (s *subscriber[Event]) post(event Event) { Tell(s.to.Owner().Guests, s.to, s.by, &event) }

// prune removes the subscribers that have stopped.
//
//go:noinline
func (t *Topic[Event]) prune() {
	t.all.Keep(func(s subscriber[Event]) bool { return !s.gone() })
}

func (s subscriber[Event]) gone() bool { return s.ear == nil && s.to.Gone() }

// Listen returns a listener with room for that many events, at least one, and subscribes it. Its
// Close ends the subscription.
func (t *Topic[Event]) Listen(room int) *ear.Listener[Event] {
	if release.Holds[Event]() {
		panic("stack: several listeners would release copies of one event")
	}
	l := ear.New(room, func(l *ear.Listener[Event]) { t.all.Remove(subscriber[Event]{ear: l}) })
	t.all.Add(subscriber[Event]{ear: l}, subscriber[Event].gone)
	return l
}
