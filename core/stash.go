package core

import "github.com/stackhouse-go/stackhouse/stack"

// Stash ends a step: the message of s, an ask or a notice, is put back, and begins again after
// Unstash. The step must not have asked anything. What it wrote into the fields of its stack stays
// there. A batch puts back all its messages.
//
// The actor's stash holds as many messages as its mailbox: one more ends with ErrMailboxFull if it
// is an ask, and is a dead letter if it is a notice. Deadlines go on: what has expired or was given
// up meanwhile doesn't begin. After a restart stashed messages begin again; when the actor stops,
// also by a drain, they end with ErrStopped.
func Stash(s Running) Yield { return stack.Of(s).Stash() }

// Unstash has all stashed messages of the actor that runs s begin again, in the order in which they
// were stashed, before those that are queued.
func Unstash(s Running) { stack.Of(s).Unstash() }
