package future

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// State is the state of a promise; the list is in the package comment.
type State uint8

// The states of a promise.
const (
	Idle State = iota
	Waiting
	Done
)

// Promise is one slot for one reply. All fields belong to the worker that owns the waiting house,
// and are written by the methods only. Owner and Call are stacks, of the type pool.Object here
// because package stack imports this one.
type Promise struct {
	Node // when it expires; armed if its stack stays suspended past a turn

	ID    uint64       // Invariant: unique among the house's promises; never 0 while waiting
	hash  *Promise     // next in the table's chain
	Next  *Promise     // next promise bound by the same stack
	Owner *pool.Object // the stack that waits
	// waiting: the callee's stack, to be flagged on cancel; done: that stack with its answer, nil
	// if there is no answer
	Call  *pool.Object
	Err   error // done: why there is no answer
	State State
	Timer bool // expiry is the answer, not a failure
	Bound bool // stands on its owner's chain
}

// Unready panics: the answer is read before there is one. It is apart, for its callers to be short.
//
//go:noinline
func (p *Promise) Unready() {
	if p.State == Idle {
		panic("stack: Get of a future that was not asked")
	}
	panic("stack: Get of a future that is not answered yet")
}

// Bind makes p, which is on no chain, the head of owner's chain, before first.
func (p *Promise) Bind(owner *pool.Object, first *Promise) {
	p.Bound, p.Owner, p.Next = true, owner, first
}

// Ask is the transition idle, done -> waiting, for the answer to id until when, in ns of the
// system's clock. The caller has taken the call of an earlier ask: see TakeCall.
func (p *Promise) Ask(id uint64, when int64) {
	p.ID, p.State, p.Timer, p.When = id, Waiting, false, when
}

// SetCall says which stack is to answer p.
func (p *Promise) SetCall(call *pool.Object) { p.Call = call }

// Alarm makes the expiry of p, which is waiting, its answer.
func (p *Promise) Alarm() { p.Timer = true }

// Postpone moves the expiry of p, which isn't armed yet, to when, ns.
func (p *Promise) Postpone(when int64) { p.When = when }

// Finish is the transition waiting -> done. If err isn't nil that is why there is no answer;
// otherwise the call was answered or the time has come.
func (p *Promise) Finish(err error) { p.Err, p.State = err, Done }

// Cancel is the transition waiting -> idle.
func (p *Promise) Cancel() { p.State = Idle }

// TakeCall returns the stack that is to answer p, or has answered it, and forgets it; nil: there is
// none.
func (p *Promise) TakeCall() (call *pool.Object) {
	call, p.Call = p.Call, nil
	return call
}

// Unbind is the transition idle, done -> idle of a promise whose owner ends. The caller has taken
// its call.
func (p *Promise) Unbind() { p.State, p.Bound = Idle, false }

// PromiseOf returns the promise that n is part of.
func PromiseOf(n *Node) *Promise { return (*Promise)(unsafe.Pointer(n)) }
