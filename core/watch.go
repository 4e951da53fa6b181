package core

import (
	"reflect"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Terminated says that an actor has stopped, and that its name and what it held is free.
type Terminated struct{ Actor AnyAddress }

// Watch has Terminated sent to a handler of the actor that runs s once target has stopped:
// exactly once, also if it is watched twice by the same handler; but who watches one that has
// stopped already is told at once, each time. It comes behind all that target has said to the
// actor, and also if the mailbox is full. One that drops the oldest may drop it later. It panics
// if target belongs to another system.
func Watch[B, A any](s Running, target Address[A], to NoticeHandler[B, Terminated]) {
	stack.Of(s).Watch(target.house, reflect.TypeFor[A](), to.by, fillTerminated)
}

// Unwatch ends Watch. A notice that is on its way still comes.
func Unwatch[B, A any](s Running, target Address[A], to NoticeHandler[B, Terminated]) {
	stack.Of(s).Unwatch(target.house, to.by)
}

func fillTerminated(notice *stack.Stack, gone AnyAddress) {
	*stack.Message[Terminated](notice) = Terminated{gone}
}
