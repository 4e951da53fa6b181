package core

import (
	"time"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Quiet says that no message of the actor has begun for the time that it gave.
type Quiet struct{}

// ReceiveTimeout has Quiet sent to a handler of the actor that runs s when no message of it, ask
// or notice, has begun for the given time, never early. Quiet is a message too, so it comes again
// and again. Each call replaces what was asked for before and counts from now; with a time of 0
// there is no timeout any more, and the handler may be the zero one. A fresh instance, after a
// restart, begins without. It panics if the actor is no A.
//
// The time counts from the end of the actor's visit in which a message began: some steps later,
// at most. Answers and timers aren't messages. While the actor begins nothing, because it is
// held, it is told once at most.
//
//alloc:none
func ReceiveTimeout[A any](s Running, after time.Duration, to NoticeHandler[A, Quiet]) {
	Self[A](s)
	stack.Of(s).ReceiveTimeout(to.by, int64(after))
}
