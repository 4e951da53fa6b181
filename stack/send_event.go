package stack

import (
	"reflect"
	"time"

	"github.com/stackhouse-go/stackhouse/stack/away"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/lost"
	"github.com/stackhouse-go/stackhouse/stack/path"
)

// Events has the topics by which a system tells of itself. A topic without subscribers costs a load
// where its events happen. Events are told on the worker where they happen or, if they don't happen
// on a worker, by the goroutine that finds them.
type Events struct {
	Started   Topic[ActorStarted]
	Stopped   Topic[ActorStopped]
	Restarted Topic[ActorRestarted]
	Failed    Topic[Failure]
	Slow      Topic[SlowStep]
	Lost      Topic[DeadLetter]
	Opened    Topic[OpenedLetter]

	// Tally counts the dead letters that no worker found: those to workers that had left, and
	// those of guests that a full mailbox refused.
	Tally lost.Tally[Handler]
}

// AnyAddress is the address of an actor of any type: comparable, printable, sendable. The zero
// AnyAddress is the address of no actor.
type AnyAddress struct {
	house *House
	kind  reflect.Type // the actor's struct
}

// String returns the actor's type and number, as in "main.Cache#42"; and "main.Cache#42@shop" if it
// is of another process, of that name.
func (a AnyAddress) String() string {
	switch {
	case a.kind == nil:
		return "nobody"
	case a.house == nil:
		return "a " + a.kind.String()
	}
	return away.Title(a.kind, a.house.serial, a.house.Remote())
}

// Path returns where the actor stands in the tree, see core.Address.Path. It is zero for an actor
// of another process.
func (a AnyAddress) Path() path.Path {
	if a.house == nil || a.house.Remote() != nil {
		return path.Path{}
	}
	return a.house.Path()
}

// House returns the actor's house if the actor is of the type kind; otherwise nil. It is for the
// runtime.
func (a AnyAddress) House(kind reflect.Type) *House {
	if a.kind != kind {
		return nil
	}
	return a.house
}

// Any returns the actor's house and its type; nil: a is the address of no actor. It is for the
// runtime.
func (a AnyAddress) Any() (*House, reflect.Type) { return a.house, a.kind }

// Any returns the address of h, whose actor is of the type kind.
func (h *House) Any(kind reflect.Type) AnyAddress { return AnyAddress{h, kind} }

// any returns the address of h; of a nil h the zero one. Any goroutine may call it.
func (h *House) any() AnyAddress {
	if h == nil {
		return AnyAddress{}
	}
	return h.Any(h.Kind())
}

// ActorStarted tells that an actor may handle its first message: it was spawned or, if it has a
// PreStart, this hook has ended well. It comes before all other events of the actor, except those
// of a PreStart that fails.
type ActorStarted struct{ Actor AnyAddress }

// ActorStopped tells that an actor handles no message any more, and that its PostStop has
// ended. It is the last of the actor's own events. Dead letters to the actor may follow.
type ActorStopped struct{ Actor AnyAddress }

// ActorRestarted tells that an actor has a new instance, because of Err.
type ActorRestarted struct {
	Actor AnyAddress
	Err   error
}

// Failure tells of a panic in an actor's code, a Throw in a notice, or an error of a hook.
type Failure struct {
	Actor AnyAddress
	Err   error // names the actor and the step; after a panic a *PanicError
}

// SlowStep tells of a step that took as long as the system's limit, or longer. If several messages
// were timed together, it isn't known which was slow; Actor and Step are those of the last.
type SlowStep struct {
	Worker   int // the index of the worker that read the clock
	Actor    AnyAddress
	Step     string        // the name of the message's handler; empty: no step has run
	Messages uint64        // how many were timed together
	Took     time.Duration // all of them together
}

// TellStarted tells that h, whose actor is of the type kind and has no start hook, was spawned. Its
// spawner calls it, on any goroutine.
func (h *House) TellStarted(kind reflect.Type) {
	if e := &h.Owner().Guests.Events.Started; !e.Silent() && !h.Gone() { // it may be closed from birth
		e.Post(ActorStarted{h.Any(kind)})
	}
}

// tellStarted tells that the actor of h has started, as its start hook has ended well.
func (w *Engine) tellStarted(h *House) { w.Guests.Events.Started.Publish(w, ActorStarted{h.any()}) }

// tellStopped tells that the actor at who has stopped.
func (w *Engine) tellStopped(who AnyAddress) { w.Guests.Events.Stopped.Publish(w, ActorStopped{who}) }

// tellRestarted tells that the actor of h has a new instance, because of err.
func (w *Engine) tellRestarted(h *House, err error) {
	w.Guests.Events.Restarted.Publish(w, ActorRestarted{h.any(), err})
}

// failed counts a failure of h, in the stack s, and tells of it.
func (w *Engine) failed(h *House, s *Stack, err error) {
	w.Count.Add(count.Failures, 1)
	w.Driver.Failed(h, s, err)
	w.Guests.Events.Failed.Publish(w, Failure{h.any(), err})
}

// slow tells that a step was slow among the last n messages, which together took took ns.
//
//go:noinline
func (w *Engine) slow(n uint64, took int64) {
	w.Count.Add(count.Slow, 1)
	e := SlowStep{Worker: w.Index, Actor: w.house.any(), Messages: n, Took: time.Duration(took)}
	if w.by != nil {
		e.Step = w.by.Name()
	}
	w.Driver.Slow(e)
	w.Guests.Events.Slow.Publish(w, e)
	w.Now = w.Driver.Clock() // as the Driver's logger may be slow, too
}
