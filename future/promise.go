package future

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// State is where a promise stands; the list is in the package comment.
type State uint8

// The states of a promise.
const (
	Idle State = iota
	Waiting
	Done
)

// Promise is one slot for one reply. All fields belong to the worker that owns
// the waiting house. Owner and Call are stacks, seen as pooled objects because
// stacks are built on promises.
type Promise struct {
	Node // when it expires; armed while its stack stays suspended past a turn

	ID    uint64       // Invariant: unique among the house's promises; never 0 while waiting
	hash  *Promise     // next in the table's chain
	Next  *Promise     // next promise bound by the same stack
	Owner *pool.Object // the stack that waits
	Call  *pool.Object // waiting: the callee's stack, to be flagged on cancel; done: the answered stack, nil if there is none
	Err   error        // done: why there is no answer
	State State
	Timer bool // expiry is the answer, not a failure
	Bound bool // stands on its owner's chain
}

// PromiseOf returns the promise that n is part of.
func PromiseOf(n *Node) *Promise { return (*Promise)(unsafe.Pointer(n)) }
