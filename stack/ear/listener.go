package ear

import "sync/atomic"

// Listener is the subscription of a goroutine that is not a worker: a channel with room for a given
// number of events. An event for which there is no room is dropped and counted, so that publishers
// never wait.
type Listener[Event any] struct {
	events  chan Event
	dropped atomic.Uint64
	leave   func(*Listener[Event]) // ends the subscription
}

// New returns a listener with room for that many events, at least one. Its Close calls leave.
func New[Event any](room int, leave func(*Listener[Event])) *Listener[Event] {
	return &Listener[Event]{events: make(chan Event, max(1, room)), leave: leave}
}

// C returns the channel of the events. It is never closed.
func (l *Listener[Event]) C() <-chan Event { return l.events }

// Dropped returns how many events were dropped for want of room. Any goroutine may call it.
func (l *Listener[Event]) Dropped() uint64 { return l.dropped.Load() }

// Close ends the subscription. A publisher that has begun to tell may still add an event.
func (l *Listener[Event]) Close() { l.leave(l) }

// Tell tells l of an event, on any goroutine. It is not a method because users have listeners, and
// must not call it.
//
//alloc:none
func Tell[Event any](l *Listener[Event], event Event) {
	select {
	case l.events <- event:
	default:
		l.dropped.Add(1)
	}
}
