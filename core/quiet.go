package core

import (
	"time"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Quiet tells an actor that none of its messages has begun for the time given to ReceiveTimeout.
type Quiet struct{}

// ReceiveTimeout has Quiet sent to a handler of the actor that runs s when none of its messages,
// ask or notice, has begun for the time after. Quiet is a message itself, so it comes again and
// again. Each call replaces the earlier one and counts from now; with a time of 0 Quiet no longer
// comes, and to may be zero. After a restart there is no timeout. It panics if the actor is no A.
// Only a step of s may call it.
//
// The time counts from the end of the visit in which a message began, so Quiet may come late by
// some steps, but never early. Answers and timers aren't messages. While the actor is held (by
// Pause or a Barrier, or because it is Serial) and begins nothing, Quiet is sent at most once.
//
//alloc:none
func ReceiveTimeout[A any](s Running, after time.Duration, to NoticeHandler[A, Quiet]) {
	Self[A](s)
	stack.Of(s).ReceiveTimeout(to.by, int64(after))
}
