package stack

import (
	"sync/atomic"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/giveup"
	"github.com/stackhouse-go/stackhouse/stack/tracing"
)

// step is a method expression of an actor, func(*A, *S) Yield, with its two
// pointers untyped. Handler.types says which A and S; Suspend compares.
type step func(actor, self unsafe.Pointer) Yield

// Stack is the head of every stack: one message being handled. The user's struct embeds it as
// a Head, through one of the kinds of core.
type Stack struct {
	pool.Object          // Invariant: first, because promises hold stacks as pooled objects
	by          *Handler // how it is handled; written once by the maker

	next *Stack // belongs to whoever holds the stack: lane, inbox, batch

	// Written by the asker's owner, before the push.
	back     *House // where the answer goes: an actor's house or a guest's; nil: nobody waits
	id       uint64 // of the promise in back
	deadline int64  // on the system's clock, ns; 0: none
	to       *House // where it is handled; of a forwarded call, atomic: see place
	sent     int64  // the sender's clock at the push, ns: another worker's, or in a guest's ask; or 0
	lane     Lane   // into which the receiver's owner sorts it

	// Written by the callee's owner, from dequeue to the push home.
	state state
	mode  mode
	used  bool  // it asked, carries bytes or threw: more than its message must be cleared
	ends  uint8 // for its end: endBars, and the number of middleware whose Begins returned nil
	threw bool  // its own step ended it with err
	kept  bool  // it has begun a kept job: giving it up doesn't end it any more
	// its actor had stopped before it could begin; written and read with err
	unbegun bool
	// an answer came to it that others still hold; and, the asker's owner's, something is lent to it:
	// see send_lend.go
	lends, borrows bool

	cancelled giveup.Word // whether its asker has given up, see send_giveup.go

	fresh   int32           // 1 + its index in Engine.fresh; 0: it isn't there
	pending int32           // promises that wait
	step    step            // the step that runs next
	ready   predicate       // with waitUntil: called after each answer
	bound   *future.Promise // the promises asked in this life, chained by Next
	// slabs that live as long as the stack; of a job, what its function may read
	carried pool.Carrier
	context tracing.Context // a holder of it; what s asks brings it along
	err     error           // why there is no reply
}

// fixedSize is the size of the part that clearing leaves alone: the Object and by.
const fixedSize = unsafe.Offsetof(Stack{}.next)

// predicate is a method expression func(*A, *S) bool with untyped pointers.
type predicate func(actor, self unsafe.Pointer) bool

// Head is a Stack as users' structs embed it, so that they don't get the methods of Stack. Of
// returns the Stack.
type Head struct{ s Stack }

func (h *Head) stack() *Stack { return &h.s }

// Running is a stack whose step runs. Every pointer to a struct that embeds a Head implements it.
type Running interface{ stack() *Stack }

// RunningOf is Running, implemented by the pointer to S.
type RunningOf[S any] interface {
	*S
	Running
}

func (s *Stack) stack() *Stack { return s }

// Of returns the Stack in r.
func Of(r Running) *Stack { return r.stack() }

// self returns the user's struct.
func (s *Stack) self() unsafe.Pointer { return unsafe.Add(unsafe.Pointer(s), -s.by.offset) }

func stackOf(o *pool.Object) *Stack { return (*Stack)(unsafe.Pointer(o)) }

// place is the field to, as an atomic. The worker that forwards the call stores it. It is loaded
// where the call is given up, by the asker's side, which isn't the worker that handles it.
func (s *Stack) place() *atomic.Pointer[House] {
	return (*atomic.Pointer[House])(unsafe.Pointer(&s.to))
}

// House returns the house of the actor that runs s.
func (s *Stack) House() *House { return s.to }

// Engine returns the engine of the worker that runs s. It is valid until the end of the step.
func (s *Stack) Engine() *Engine { return s.to.owner.Load() }

// Handler returns the handler of s.
func (s *Stack) Handler() *Handler { return s.by }

// ID returns the number of the ask in its asker's house; 0 for notices.
func (s *Stack) ID() uint64 { return s.id }

// Deadline returns when the asker stops waiting, in ns on the system's clock; 0: never.
func (s *Stack) Deadline() int64 { return s.deadline }

// Err returns why the stack ended without a reply; nil before its end.
func (s *Stack) Err() error { return s.err }

// Context returns what s brings along, valid until SetContext or the end of s.
func (s *Stack) Context() tracing.Context { return s.context }

// SetContext has s hold c, in place of its caller, and bring it along from now on. Only a step of s
// may call it, or whoever has begun s and not sent it.
func (s *Stack) SetContext(c tracing.Context) {
	s.context.Drop()
	s.context, s.used = c, true
}

// Bytes returns n bytes, contents undefined. They live as long as the stack: until the asker no
// longer needs its answer. Only a step of s may call it.
func (s *Stack) Bytes(n int) []byte {
	s.used = true
	return s.carried.Carry(&s.Engine().Shard, n).B()
}

// Copy returns a copy of p that lives as long as the stack, as Bytes does.
func (s *Stack) Copy(p []byte) []byte {
	b := s.Bytes(len(p))
	copy(b, p)
	return b
}

// End ends a step of s, and s with it. Only a step of s may call it.
func (s *Stack) End() Yield { return s.finish() }

// Throw ends the step and the stack with an error instead of a reply. The asker of an ask
// gets err; in a notice it is a failure of the actor. Only a step of s may call it.
func (s *Stack) Throw(err error) Yield {
	if err == nil {
		panic("stack: Throw of a nil error")
	}
	y := s.finish()
	s.used, s.threw, s.err = true, true, err
	return y
}

func hookOf(s *Stack) *hookStack { return (*hookStack)(unsafe.Pointer(s)) }
