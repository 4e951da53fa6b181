package core

import (
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Yield is what a step returns; Return, Throw, Suspend and their kin make one.
type Yield = stack.Yield

// Running is a stack whose step runs: a pointer to a struct that embeds AskStack, NoticeStack or
// another kind.
type Running = stack.Running

// Future is the slot for one reply, a field of the stack that asks. Ready reports whether the
// answer is there, and Get returns it: see [stack.Future].
type Future[Rep any] = stack.Future[Rep]

// head is stack.Head under a name that isn't exported, so that users don't see it.
type head = stack.Head

// running is what all kinds of stacks have in common. Each kind has the memory layout that package
// stack expects; TestLayouts compares them.
type running struct{ head }

// Throw ends the stack with an error instead of a reply; a nil error panics. The asker of an ask
// gets err; in a notice or a hook err is a failure of the actor.
func (s *running) Throw(err error) Yield { return stack.Of(s).Throw(err) }

// Bytes returns n bytes, contents undefined, that live as long as the stack: until its asker no
// longer needs the answer. Put a reply's bytes there: a reply must not alias the actor's state.
// Only a step of the stack may call it.
func (s *running) Bytes(n int) []byte { return stack.Of(s).Bytes(n) }

// Copy returns a copy of p that lives as long as the stack; see Bytes.
func (s *running) Copy(p []byte) []byte { return stack.Of(s).Copy(p) }

// Deadline returns when the asker stops waiting, in ns on the clock of Now; 0: never.
func (s *running) Deadline() int64 { return stack.Of(s).Deadline() }

// Barrier keeps the actor from beginning any other call until the stack ends. Calls in progress go
// on. Only a step of the stack may call it.
func (s *running) Barrier() { stack.Of(s).Barrier() }

// answer is what asks and requests of connections have in common: a reply.
type answer[Rep any] struct {
	running
	_   pool.Carrier // what is lent to an ask, see stack/send_lend.go
	rep Rep
}

// Answering is a running stack that owes a Rep.
type Answering[Rep any] interface {
	Running
	answers() *answer[Rep]
}

// AskStack is one ask in progress. Embed it in a struct whose other fields are the locals that
// survive a wait.
type AskStack[Req, Rep any] struct {
	answer[Rep]
	Req Req // what was asked; the handler may change it
}

// ask makes *AskStack, and pointers to structs that embed it, recognisable to type inference.
func (s *AskStack[Req, Rep]) ask() *AskStack[Req, Rep] { return s }

func (s *AskStack[Req, Rep]) answers() *answer[Rep] { return &s.answer }

// Return ends the stack with a reply.
//
//alloc:none
func (s *AskStack[Req, Rep]) Return(rep Rep) Yield {
	y := stack.End(&s.head)
	s.rep = rep
	return y
}

// AskOf is satisfied by the pointer to every S that embeds AskStack[Req, Rep].
type AskOf[S, Req, Rep any] interface {
	stack.RunningOf[S]
	ask() *AskStack[Req, Rep]
}

// told is what notices and hooks have in common: they end without a reply.
type told struct{ running }

// Return ends the stack.
//
//alloc:none
func (s *told) Return() Yield { return stack.End(&s.head) }

// NoticeStack is one notice in progress. Embed it in a struct whose other fields are the locals
// that survive a wait.
type NoticeStack[Msg any] struct {
	told
	Msg Msg // what was said; the handler may change it
}

func (s *NoticeStack[Msg]) notice() *NoticeStack[Msg] { return s }

// NoticeOf is satisfied by the pointer to every S that embeds NoticeStack[Msg].
type NoticeOf[S, Msg any] interface {
	stack.RunningOf[S]
	notice() *NoticeStack[Msg]
}

// Suspend ends the step of s; the actor turns to other messages. The step next runs when everything
// that s asked is answered: replied, failed or timed out.
func Suspend[A, S any, PS stack.RunningOf[S]](s PS, next func(*A, PS) Yield) Yield {
	return stack.Suspend(s, next)
}

// SuspendAny is Suspend, but next runs at each answer. It may suspend again for the next answer
// without asking anything more.
func SuspendAny[A, S any, PS stack.RunningOf[S]](s PS, next func(*A, PS) Yield) Yield {
	return stack.SuspendAny(s, next)
}

// SuspendUntil is Suspend, but ready is called after each answer, and next runs once it returns
// true, at the latest when everything is answered: for the first of several to reply, or 3 of 5. If
// ready asks or ends s, it panics.
func SuspendUntil[A, S any, PS stack.RunningOf[S]](s PS, ready func(*A, PS) bool, next func(*A, PS) Yield) Yield {
	return stack.SuspendUntil(s, ready, next)
}
