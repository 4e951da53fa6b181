package stack

import (
	"fmt"
	"reflect"
	"time"

	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/lost"
	"github.com/stackhouse-go/stackhouse/stack/path"
)

// Events is what a system tells of itself. Each topic that nobody listens to costs a load
// where its events happen; the others are told on the worker where they happen, or, of what
// happens on no worker, by the goroutine that finds it.
type Events struct {
	Started   Topic[ActorStarted]
	Stopped   Topic[ActorStopped]
	Restarted Topic[ActorRestarted]
	Failed    Topic[Failure]
	Slow      Topic[SlowStep]
	Lost      Topic[DeadLetter]
	Opened    Topic[OpenedLetter]

	// Tally counts the dead letters that no worker found: those to workers that had left, and
	// guests' that a full mailbox refused.
	Tally lost.Tally[Handler]
}

// AnyAddress is the address of an actor of any type: comparable, printable, sendable. The zero
// AnyAddress is nobody's.
type AnyAddress struct {
	house *House
	kind  reflect.Type // the actor's struct
}

// String returns the actor's type and number, as in "main.Cache#42".
func (a AnyAddress) String() string {
	switch {
	case a.kind == nil:
		return "nobody"
	case a.house == nil:
		return "a " + a.kind.String()
	}
	return fmt.Sprintf("%v#%d", a.kind, a.house.serial)
}

// Path returns where the actor stands in the tree, see core.Address.Path.
func (a AnyAddress) Path() path.Path {
	if a.house == nil {
		return path.Path{}
	}
	return a.house.Path()
}

// House returns where the actor lives, if it is of that type; otherwise nil. The runtime's
// business.
func (a AnyAddress) House(kind reflect.Type) *House {
	if a.kind != kind {
		return nil
	}
	return a.house
}

// Any returns the address of h, whose actor is of the type kind.
func (h *House) Any(kind reflect.Type) AnyAddress { return AnyAddress{h, kind} }

// any returns the address of h; nil: of nobody. Any goroutine may call it.
func (h *House) any() AnyAddress {
	if h == nil {
		return AnyAddress{}
	}
	return h.Any(h.kind())
}

// ActorStarted tells that an actor may handle its first message: it was spawned, or, if it has a
// PreStart, that has ended well. It comes before all other events of the actor, but for those
// of a PreStart that fails.
type ActorStarted struct{ Actor AnyAddress }

// ActorStopped tells that an actor handles no message any more, and that its PostStop has
// ended. It comes last of the actor's own events; dead letters to it may follow.
type ActorStopped struct{ Actor AnyAddress }

// ActorRestarted tells that a fresh instance goes on in an actor's place, because of Err.
type ActorRestarted struct {
	Actor AnyAddress
	Err   error
}

// Failure tells of a panic in an actor's code, a Throw in a notice, or an error of a hook.
type Failure struct {
	Actor AnyAddress
	Err   error // it names the actor and the step; of a panic a *PanicError
}

// SlowStep tells of a step that took longer than the system's limit. Among several messages
// that were timed together the slow one isn't known; actor and step are those of the last.
type SlowStep struct {
	Worker   int // who read the clock
	Actor    AnyAddress
	Step     string // the first for the message; empty: none has run
	Messages uint64
	Took     time.Duration // all of them
}

// TellStarted tells that h, which has no hook that runs first, and is the house of an actor of
// the given type, has been spawned. Its spawner calls it, on any goroutine.
func (h *House) TellStarted(kind reflect.Type) {
	if e := &h.Owner().Guests.Events.Started; !e.Silent() && !h.Gone() { // it may be one from birth
		e.Post(ActorStarted{h.Any(kind)})
	}
}

// tellStarted tells that the start hook of h has let it start.
func (w *Engine) tellStarted(h *House) {
	if e := &w.Guests.Events.Started; !e.Silent() {
		e.Publish(w, ActorStarted{h.any()})
	}
}

// tellStopped tells that the actor at who has stopped.
func (w *Engine) tellStopped(who AnyAddress) { w.Guests.Events.Stopped.Publish(w, ActorStopped{who}) }

// tellRestarted tells that a fresh instance goes on in h, because of err.
func (w *Engine) tellRestarted(h *House, err error) {
	if e := &w.Guests.Events.Restarted; !e.Silent() {
		e.Publish(w, ActorRestarted{h.any(), err})
	}
}

// failed counts a failure of h, in a step of s or, if that is nil, in a hook, and tells of it.
func (w *Engine) failed(h *House, s *Stack, err error) {
	w.Count.Add(count.Failures, 1)
	w.Driver.Failed(h, s, err)
	if e := &w.Guests.Events.Failed; !e.Silent() {
		e.Publish(w, Failure{h.any(), err})
	}
}

// slow tells that a step among the last n messages, which took so long, ns, was slow.
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
	w.Now = w.Driver.Clock() // the Logger may be slow, too
}
