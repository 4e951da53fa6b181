package core

import (
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/ear"
)

// Topic is who is told of events of one type: actors, which get a notice of each, and
// goroutines, which get it on a channel. They come and go while it is published to; an actor
// that stops leaves by itself. The zero Topic has nobody; it must not be copied. Any goroutine
// and any step may call its methods. A change takes memory and time in proportion to the
// number of subscribers; publishing never waits for it, and takes none: to nobody, only a load.
//
// The events of one publisher reach each subscriber in order; those of a step, the actors of its
// own system: for each of another one there is a dead letter. Each subscriber gets a copy, so
// events must not be released.
type Topic[Event any] stack.Topic[Event]

func (t *Topic[Event]) hot() *stack.Topic[Event] { return (*stack.Topic[Event])(t) }

// Subscribe has the actor behind p told of what is published from now on, unless p is a
// subscriber, or the actor has stopped. The port must be an actor's, no router's.
func (t *Topic[Event]) Subscribe(p NoticePort[Event]) {
	if p.to == nil {
		panic("core: a Topic's subscriber is no actor")
	}
	t.hot().Subscribe(p.to, p.by)
}

// Unsubscribe ends that. What was published before arrives.
func (t *Topic[Event]) Unsubscribe(p NoticePort[Event]) { t.hot().Unsubscribe(p.to, p.by) }

// Listen subscribes a goroutine that is not a worker, with a channel that has room for so many
// events, at least one. If there is none an event is dropped, and counted.
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
