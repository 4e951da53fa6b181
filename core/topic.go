package core

import (
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/ear"
)

// Topic tells its subscribers of events of one type: an actor gets a notice of each, a goroutine
// gets them on a channel. Subscribers come and go at any time; an actor that stops leaves by
// itself. The zero Topic has no subscribers; it must not be copied. Any goroutine and any step may
// call its methods. A change takes memory and time in proportion to the number of subscribers.
// Publishing never waits for a change and allocates nothing; without subscribers it is one atomic
// load.
//
// The events of one publisher reach each subscriber in order. Events of a step reach actors of its
// own system only; for each subscriber of another system there is a dead letter. Each subscriber
// gets a copy, so an event must not have a Release method.
type Topic[Event any] stack.Topic[Event]

func (t *Topic[Event]) hot() *stack.Topic[Event] { return (*stack.Topic[Event])(t) }

// Subscribe has the actor behind p told of what is published from now on, unless p is subscribed
// already, or the actor has stopped. The port must be an actor's; a router's panics.
func (t *Topic[Event]) Subscribe(p NoticePort[Event]) {
	if p.to == nil {
		panic("core: a Topic's subscriber is no actor")
	}
	t.hot().Subscribe(p.to, p.by)
}

// Unsubscribe ends the subscription of p. What was published before still arrives.
func (t *Topic[Event]) Unsubscribe(p NoticePort[Event]) { t.hot().Unsubscribe(p.to, p.by) }

// Listen subscribes a goroutine that is not a worker. The channel of the Listener has room for that
// many events, at least one. If it is full, an event is dropped and counted.
func (t *Topic[Event]) Listen(room int) *Listener[Event] { return t.hot().Listen(room) }

// Listener is the subscription of a goroutine; see Topic.Listen.
type Listener[Event any] = ear.Listener[Event]

// Len returns the number of subscribers that haven't stopped.
func (t *Topic[Event]) Len() int { return t.hot().Len() }

// Publish tells all subscribers, from a step of s.
//
//alloc:none
func (t *Topic[Event]) Publish(s Running, event Event) {
	t.hot().Publish(stack.Of(s).Engine(), event)
}

// Publish tells all subscribers of t, from a goroutine that is not a worker.
func Publish[Event any](t *Topic[Event], event Event) { t.hot().Post(event) }
