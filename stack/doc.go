// Package stack is the machine: stacks, the houses that they run in, and the hot
// state of the workers that visit houses.
//
// A [Stack] is one message being handled: request, locals that survive a wait,
// promises, reply, mailbox node and pool entry in one pooled object. A user's
// struct embeds it, as a [Head], through one of the kinds of stack in package core. A handler is
// a state machine whose states are steps, methods func (a *A) step(s *S) Yield.
//
// The life of an ask:
//
//	idle       taken from the asker's shard; bound to a promise in the table of
//	           the asker's house under a fresh id; pushed to the callee's house
//	running    a step runs, on the worker that owns the callee's house
//	suspended  the step ended with Suspend or its kin: at least one promise waits;
//	           an answer, or the wheel, brings it back to running
//	ended      Return, Throw, a panic, a cancel, a stop: the asks that it still waits for
//	           are cancelled, then it goes home, to the lane of replies of the asker's house
//
// There its id is looked up in the table of promises. If it is found the promise is
// done, and holds the stack until the answer isn't needed any more. If it isn't, the
// answer came too late: it is counted, and the stack freed.
//
// Who may touch what: the link next belongs to whoever holds the stack. The way back
// is written by the asker's owner before the push. Everything else belongs to the callee's
// owner from dequeue to push home, then to the asker's owner again. The promise
// belongs to the owner of the asker's house. A stack never points to its asker's
// stack or promise, only to the house and an id, so that an asker may be gone.
//
// A [House] is where one actor lives. It belongs to one [Engine] at a time, and messages between
// houses of one worker cost no atomic write; the file send_inbox.go has the protocol for all
// others, send_outbox.go and call_envelope.go how messages share one crossing. Within a house,
// system messages go first, then answers and timers, then calls in order of arrival. Between
// houses, those with answers go first. Calls, and houses with calls only, get their turn after
// a streak of the others, so that none starves.
//
// [Guests] are the goroutines that are no workers. One that asks a parked worker runs
// the worker's turns itself (send_borrow.go). A blocking call by a goroutine that runs turns
// fails with fault.ErrBlockingOnWorker.
//
// # Files
//
// The files stand in groups, by the beginnings of their names. A group uses those before it, with
// few exceptions, which internal/check counts:
//
//	house, engine  where an actor and its calls stand, and what a worker has
//	call           a call, and what its author sees of it
//	send           how calls, answers and news of them travel, and end
//	life           the life of an actor
//	visit          what a worker does in a turn
//
// This package is the runtime's. Actors import core, which re-exports what they
// need; mains import house.
package stack
