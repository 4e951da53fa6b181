package core

import "github.com/stackhouse-go/stackhouse/stack"

// Terminated says that an actor has stopped, and that its name and everything that it held are
// free.
type Terminated struct {
	Actor AnyAddress // equal to Any of the address that was watched, and to what Lookup returned
	Lost  error      // why an actor elsewhere is out of reach: it may live; nil: it has stopped
}

// Watch has Terminated sent to a handler of the actor that runs s once target has stopped: exactly
// once, even if the same handler watches target twice. If target has stopped already, it is sent at
// once, for each call of Watch. It comes after all that target has sent to the actor, and even if
// the mailbox is full; but a mailbox with DropOldest may drop it later. From another node it may
// come before what waits there for the link: notices, and answers of more than 64 KiB. Watch panics
// if target belongs to another system. Only a step of s may call it.
func Watch[B, A any](s Running, target Address[A], to NoticeHandler[B, Terminated]) {
	stack.Of(s).Watch(target.house, to.by, fillTerminated)
}

// Unwatch ends Watch. A Terminated that is on its way still comes. Only a step of s may call it.
func Unwatch[B, A any](s Running, target Address[A], to NoticeHandler[B, Terminated]) {
	stack.Of(s).Unwatch(target.house, to.by)
}

func fillTerminated(notice *stack.Stack, gone AnyAddress) {
	house, _ := gone.Any()
	*stack.Message[Terminated](notice) = Terminated{gone, house.Loss()}
}
