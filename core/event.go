package core

import (
	"fmt"
	"reflect"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// The types of events, and what is in them; see Events.
type (
	// ActorStarted tells that an actor may handle its first message.
	ActorStarted = stack.ActorStarted
	// ActorStopped tells that an actor handles no message any more.
	ActorStopped = stack.ActorStopped
	// ActorRestarted tells that a fresh instance goes on in an actor's place.
	ActorRestarted = stack.ActorRestarted
	// Failure tells of a panic in an actor's code, a Throw in a notice, or an error of a hook.
	Failure = stack.Failure
	// SlowStep tells of a step that took longer than house.Config.SlowStep.
	SlowStep = stack.SlowStep
	// DeadLetter tells of a notice that nobody handled.
	DeadLetter = stack.DeadLetter
	// OpenedLetter is a DeadLetter with the message in it, which takes memory to make.
	OpenedLetter = stack.OpenedLetter

	// Reason is why nobody handled a notice.
	Reason = lost.Reason
	// AnyAddress is the address of an actor of any type: comparable and printable.
	AnyAddress = stack.AnyAddress
)

// The reasons of dead letters.
const (
	LostStopped   = lost.Stopped   // the actor, or its whole system, had stopped
	LostExpired   = lost.Expired   // its deadline passed before its turn came
	LostCancelled = lost.Cancelled // its sender gave up before its turn came
	LostNoMember  = lost.NoMember  // a router had no member to choose
	LostFull      = lost.Full      // the mailbox or the stash was full
	LostRefused   = lost.Refused   // middleware of the handler refused it
	LostForeign   = lost.Foreign   // a step sent it to an actor of another system than its own
)

// Event is the types of events by which a system tells of itself.
type Event interface {
	ActorStarted | ActorStopped | ActorRestarted | Failure | SlowStep | DeadLetter | OpenedLetter
}

// Teller is the source of events: a house.System.
type Teller interface {
	// Topics returns the topics of all events. Only the runtime calls it.
	Topics() *stack.Events
}

// Events returns the topic of one type of event of a system, as in
//
//	core.Events[core.DeadLetter](system).Subscribe(undertakerBury.At(undertaker))
//
// The worker on which something happens publishes the event; without subscribers it isn't made.
// Events about one actor reach a subscriber in order, ActorStarted and ActorStopped once in the
// actor's life. For an actor spawned while its system shuts down, ActorStarted may come last. Users
// must not publish to these topics.
//
// A refused ask is no dead letter, as its asker gets the error. Nor is a notice to an actor that
// has stopped already. A notice that a full mailbox refuses is one, even though its sender gets the
// error. A DeadLetter or OpenedLetter that gets lost itself is counted, and no event tells of it.
func Events[E Event](of Teller) *Topic[E] {
	all := of.Topics()
	var topic any
	switch any((*E)(nil)).(type) {
	case *ActorStarted:
		topic = &all.Started
	case *ActorStopped:
		topic = &all.Stopped
	case *ActorRestarted:
		topic = &all.Restarted
	case *Failure:
		topic = &all.Failed
	case *SlowStep:
		topic = &all.Slow
	case *DeadLetter:
		topic = &all.Lost
	case *OpenedLetter:
		topic = &all.Opened
	default:
		panic(fmt.Sprintf("core: nobody tells of %v", reflect.TypeFor[E]()))
	}
	return (*Topic[E])(topic.(*stack.Topic[E]))
}

// Any returns the address without its type: all addresses of an actor are one so.
func (a Address[A]) Any() AnyAddress {
	if a.house == nil {
		return AnyAddress{}
	}
	return a.house.Any(a.house.Kind())
}
