package core

import (
	"context"
	"fmt"
	"reflect"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Address is what one keeps of an actor of type A: comparable, printable, sendable. It stays valid
// for ever: asks to a stopped actor are answered with ErrStopped, and those of a step to an actor
// of another system with ErrOtherSystem. The zero Address belongs to no actor.
type Address[A any] struct{ house *stack.House }

// String returns the actor's type and number, as in "main.Cache#42"; and "main.Cache#42@shop" if it
// is of another process, of that name.
func (a Address[A]) String() string {
	if a.house == nil {
		return "nobody"
	}
	return a.house.Any(reflect.TypeFor[A]()).String()
}

// Path returns the actor's system and its place in the tree. An actor without a name has its number
// there, as in "/user/$7". The path stays the same after the actor has stopped. It is zero for an
// actor of another process.
func (a Address[A]) Path() Path {
	if a.house == nil || a.house.Remote() != nil {
		return Path{}
	}
	return a.house.Path()
}

// House returns the actor's house. Only the runtime calls it.
func (a Address[A]) House() *stack.House { return a.house }

// Stop asks the actor to stop and returns at once. The actor stops before its next message: asks in
// progress and asks still queued end with ErrStopped. Any goroutine and any step may call it.
func (a Address[A]) Stop() {
	a.house.Stop(a.house.Owner().Guests)
}

// Drain asks the actor to stop once all calls that are queued now have been handled and their
// stacks have ended, and returns at once. Later calls aren't handled: notices are accepted until
// the actor has stopped, and become dead letters; asks get ErrStopped when it has. If a step calls
// Drain for an actor of another worker, what this visit has sent there may not have left yet, and
// then counts as later. Any goroutine and any step may call it.
func (a Address[A]) Drain() { a.house.Drain(a.house.Owner().Guests) }

// Pause keeps the actor from beginning messages until Continue; those in progress go on. Any
// goroutine and any step may call it.
func (a Address[A]) Pause() { a.house.Pause(a.house.Owner().Guests) }

// Continue ends Pause. Any goroutine and any step may call it.
func (a Address[A]) Continue() { a.house.Continue(a.house.Owner().Guests) }

// Restart restarts the actor as if it had failed with cause and its supervisor had decided so; the
// limits of the supervisor's strategy don't count it. It does nothing while the actor starts, waits
// for a restart, or stops. Any goroutine and any step may call it.
func (a Address[A]) Restart(cause error) { a.house.Restart(a.house.Owner().Guests, cause) }

// StopWait stops the actor and waits until it has stopped or ctx ends. It blocks: only guests may
// call it.
func (a Address[A]) StopWait(ctx context.Context) error {
	g := a.house.Owner().Guests
	return g.WaitStop(ctx, a.house)
}

// Self returns the address of the actor that runs s. It panics if the actor is no A.
func Self[A any](s Running) Address[A] {
	h := stack.Of(s).House()
	if _, ok := h.Actor().(*A); !ok {
		panic(fmt.Sprintf("core: Self[%v] in a step of %s", reflect.TypeFor[A](), h.Describe()))
	}
	return Address[A]{h}
}

// Sender returns the actor that asked s, also if others have forwarded the ask. It is the zero
// AnyAddress if a guest asked, or another node, or if s is no ask. Notices don't carry their
// sender: put its address into the message. Members of a batch have no stack of their own to pass
// here.
func Sender(s Running) AnyAddress { return stack.Of(s).Sender() }

// Elsewhere is implemented by types, or pointers to them, that stand for all actors of other
// processes: see As.
type Elsewhere interface{ Elsewhere() }

// As returns a as the address of an A; false if the actor is none. Each actor of another process is
// an A that is Elsewhere, such as cluster.Actor, too.
func As[A any](a AnyAddress) (Address[A], bool) {
	h, kind := a.Any()
	if kind == reflect.TypeFor[A]() {
		return Address[A]{h}, h != nil
	}
	if _, all := any((*A)(nil)).(Elsewhere); all && h != nil && h.Remote() != nil {
		return Address[A]{h}, true
	}
	return Address[A]{}, false
}
