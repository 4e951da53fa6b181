// Package future holds promises and the table that finds them.
//
// A [Promise] is one slot for one reply, a field of the stack that waits for it. It is its own node
// in the [Table] of the waiting house and its own [Node] in a timing wheel or in the [Queue] of due
// nodes, so that asking allocates nothing. The same object seen from the user is core.Future.
//
//	idle      not asked in this life of its stack, or its ask was cancelled
//	waiting   asked: stands in the table under its id; may be armed in a wheel, or
//	          due and queued
//	done      answered or expired: out of the table, the wheel and the queue; Call
//	          holds the answer, or Err says why there is none
//
// The ways from one to another, all of them made by package stack:
//
//	idle, done -> waiting   a step asks: a fresh ID, then Insert
//	waiting -> done         the answer comes home, or the deadline passes: Take by ID
//	waiting -> idle         the stack ends first: Take by ID
//	done -> idle            the stack ends
//
// An answer whose id Take doesn't find came too late. It can't be mistaken for the answer to
// another ask, because a house never uses an id twice: it counts up in 64 bits, over restarts too.
//
// Only the worker that owns the waiting house may use its promises, table and queue. Nothing here
// is synchronised, and nothing allocates once a shard has the arrays that its tables need.
package future
