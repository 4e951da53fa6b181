package stack

import "unsafe"

// NoticeStack is one notice in progress. Embed it in a struct whose other fields
// are the locals that survive a wait.
type NoticeStack[Msg any] struct {
	Stack
	Msg Msg // what was said; the handler may change it
}

// notice makes *NoticeStack, and what embeds it, recognisable to type inference.
func (s *NoticeStack[Msg]) notice() *NoticeStack[Msg] { return s }

// Return ends the stack.
//
//alloc:none
func (s *NoticeStack[Msg]) Return() Yield { return s.finish() }

// NoticeOf is satisfied by the pointer to every S that embeds NoticeStack[Msg].
type NoticeOf[S, Msg any] interface {
	RunningOf[S]
	notice() *NoticeStack[Msg]
}

// NewNotice makes the handler whose first step is first.
func NewNotice[A, S, Msg any, PS NoticeOf[S, Msg]](first func(*A, PS) Yield) *Handler {
	var release func(PS)
	if holds[Msg]() {
		release = func(s PS) { letGo(&s.notice().Msg) }
	}
	return newHandler(classNotice, first, release)
}

// Message returns the message in c, which a handler of NoticeStack[Msg]s made.
func Message[Msg any](c *Stack) *Msg { return &(*NoticeStack[Msg])(unsafe.Pointer(c)).Msg }
