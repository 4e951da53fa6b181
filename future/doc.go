// Package future holds promises and the table that finds them.
//
// A [Promise] is one slot for one reply, a field of the stack that waits for it.
// It is its own node in the [Table] of the waiting house and its own node in a
// timing wheel, so that asking allocates nothing. The same object seen from the
// user is core.Future.
//
//	idle      never asked in this life of its stack
//	waiting   asked: stands in the table under its id; may be armed in a wheel
//	done      answered: out of the table and the wheel; Call holds the answer, or
//	          Err says why there is none
//
// Bind moves idle or done to waiting; Take, then Finish, moves waiting to done; Reset
// moves any state but waiting to idle. Only the worker that owns the waiting
// house may do any of it.
package future
