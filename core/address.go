package core

import (
	"context"
	"fmt"
	"reflect"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Address is what one keeps of an actor of type A: comparable, printable,
// sendable. It stays valid for ever; what is sent to a stopped actor is answered
// with ErrStopped; what a step sends to an actor of another system, with ErrOtherSystem. The
// zero Address is nobody's.
type Address[A any] struct{ house *stack.House }

// String returns the actor's type and number, as in "main.Cache#42".
func (a Address[A]) String() string {
	if a.house == nil {
		return "nobody"
	}
	return fmt.Sprintf("%v#%d", reflect.TypeFor[A](), a.house.Serial())
}

// Path returns where the actor stands: in which system, and where in its tree. An actor without a
// name is there by its number, as in "/user/$7". The path stays the actor's when it has stopped.
func (a Address[A]) Path() Path {
	if a.house == nil {
		return Path{}
	}
	return a.house.Path()
}

// House returns where the actor lives; the runtime's business.
func (a Address[A]) House() *stack.House { return a.house }

// Stop asks the actor to stop and returns at once. It stops before its next
// message: asks that it was answering, and asks still queued, end with ErrStopped.
// Any goroutine and any step may call it.
func (a Address[A]) Stop() {
	a.house.Stop(a.house.Owner().Guests)
}

// Drain asks the actor to stop once all calls that are queued now have been handled, and their
// stacks have ended. What comes behind isn't handled: until the actor has stopped a notice is
// accepted, and becomes a dead letter; an ask gets ErrStopped when it has. So does what the visit
// of the step that calls it has told an actor of another worker, and which hasn't left yet. Any
// goroutine and any step may call it.
func (a Address[A]) Drain() { a.house.Drain(a.house.Owner().Guests) }

// Pause has the actor begin no message until Continue; those in progress go on. Any goroutine and
// any step may call it.
func (a Address[A]) Pause() { a.house.Pause(a.house.Owner().Guests) }

// Continue ends Pause.
func (a Address[A]) Continue() { a.house.Continue(a.house.Owner().Guests) }

// Restart has the actor begin anew, as if it had failed with cause and its supervisor had said so,
// whose limits don't count it. It does nothing while the actor starts, waits to begin anew, or
// stops.
func (a Address[A]) Restart(cause error) { a.house.Restart(a.house.Owner().Guests, cause) }

// StopWait stops the actor and waits until it has stopped or ctx ends. It
// blocks: only guests may call it.
func (a Address[A]) StopWait(ctx context.Context) error {
	g := a.house.Owner().Guests
	return g.WaitStop(ctx, a.house)
}

// Self returns the address of the actor that runs s. It panics if that is no A.
func Self[A any](s Running) Address[A] {
	h := stack.Of(s).House()
	if _, ok := h.Actor().(*A); !ok {
		panic(fmt.Sprintf("core: Self[%v] in a step of %s", reflect.TypeFor[A](), h.Describe()))
	}
	return Address[A]{h}
}

// Sender returns the actor that asked s, also if others have forwarded the ask. It is nobody's,
// the zero AnyAddress, if a guest asked, or if s is no ask: notices don't say who sent them, as
// many travel in one object; who wants to know has the address in the message. Members of a batch
// have no stack of their own to ask.
func Sender(s Running) AnyAddress { return stack.Of(s).Sender() }

// As returns a as the address of an A, if it is one.
func As[A any](a AnyAddress) (Address[A], bool) {
	h := a.House(reflect.TypeFor[A]())
	return Address[A]{h}, h != nil
}
