package core

import "github.com/stackhouse-go/stackhouse/stack"

// Stash ends a step: the message that s runs, an ask or a notice, is put back, and begins again
// after Unstash. The step must not have asked anything. Fields that it wrote into its stack keep
// their values. A batch puts all that it holds back.
//
// As many messages can be stashed as the actor's mailbox takes; one more ends with
// ErrMailboxFull, or, a notice, is a dead letter. Deadlines go on: what has expired or was given
// up meanwhile doesn't begin. After a restart what is stashed begins; with a stop, also behind a
// drain, it ends with ErrStopped.
func Stash(s Running) Yield { return stack.Of(s).Stash() }

// Unstash has all messages that the actor of s has stashed begin again, in the order in which
// they were stashed, before those that are queued.
func Unstash(s Running) { stack.Of(s).Unstash() }
