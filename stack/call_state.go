package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// state is what a stack is doing. This file has all transitions. Each is made by the side that may
// touch the stack then: its maker, the owner of the callee's house, or the owner of the asker's.
//
//	idle       taken, queued or being delivered; no step has begun, or its maker keeps it
//	running    a step of it executes
//	suspended  it waits for answers, and has at least one waiting promise. So is a stack whose
//	           end is put off until its kept jobs are home, see keepOn; and a call that is
//	           away, see house_remote.go, which waits for its Remote
//	judged     suspended, while the predicate of its SuspendUntil is called
//	ended      it returned, threw, failed, was dropped or forwarded. It is on its way home, or
//	           a relay holds it. A connection's own stack, which has no home, begins once more
//	           if a push of it was still queued at its end
//	forwarded  it was forwarded, and next points to the onward call, which has begun and has
//	           not ended
type state uint8

const (
	idle state = iota
	running
	suspended
	judged
	ended
	forwarded
)

// mode says which answers resume a suspended stack.
type mode uint8

const (
	waitAll   mode = iota // the last one
	waitAny               // each one
	waitUntil             // the first after which a predicate holds, at the latest the last one
	waitKept              // the last one; then the stack ends, see keepOn
)

// run is the transition idle, suspended -> running: a step begins. A connection's own stack may
// also have ended while a push of it was queued: then it is ended -> running, to end again.
func (s *Stack) run() {
	if invariant.Enabled && s.state != idle && s.state != suspended && !(s.state == ended && s.by.kind == nil) {
		panic("stack: a step begins in a stack that isn't idle or suspended: " + s.by.Name())
	}
	s.state = running
}

// finish is the transition running -> ended that Return and Throw make.
func (s *Stack) finish() Yield {
	if s.state != running {
		s.misuse()
	}
	s.state = ended
	return Yield{yieldEnd}
}

// End is finish for users' stacks. It is short so that the compiler inlines both it and
// told.Return of core into steps.
func End(h *Head) Yield {
	if h.s.state != running {
		h.s.misuse()
	}
	h.s.state = ended
	return hasEnded
}

var hasEnded = Yield{yieldEnd}

// wait is the transition running -> suspended.
func (s *Stack) wait(m mode, next step, types unsafe.Pointer) Yield {
	if s.state != running || s.pending == 0 || types != s.by.types || next == nil {
		s.misuseWait(types, next)
	}
	s.state, s.mode, s.step = suspended, m, next
	return Yield{yieldWait}
}

//go:noinline
func (s *Stack) misuseWait(types unsafe.Pointer, next step) {
	if s.state != running {
		s.misuse()
	}
	if types != s.by.types {
		panic("stack: the next step belongs to another actor or stack than " + s.by.Name() +
			": Suspend takes a method of that actor for that stack")
	}
	if next == nil {
		panic("stack: Suspend without a next step in " + s.by.Name())
	}
	panic("stack: Suspend with nothing asked in " + s.by.Name())
}

// judge is the transition suspended -> judged, before a call of s.ready.
func (s *Stack) judge() { s.state = judged }

// judged is the transition judged -> suspended, after that call.
func (s *Stack) judged() { s.state = suspended }

// putOff is the transition ended -> suspended: the end of s is put off until its kept jobs are
// home. It may have been put off before.
func (s *Stack) putOff() {
	s.state, s.mode, s.step = suspended, waitKept, over
}

// stay is the transition running -> idle: s goes into the stash, or back to its maker.
func (s *Stack) stay() { s.state = idle }

// goAway is the transition idle -> suspended of a call that a Remote takes.
func (s *Stack) goAway() { s.state = suspended }

// close is the transition to ended from any state: the runtime ends s.
func (s *Stack) close() { s.state = ended }

// forwardTo is the transition ended -> forwarded: the onward call has begun.
func (s *Stack) forwardTo(onward *Stack) { s.state, s.next = forwarded, onward }

// forwardEnded is the transition forwarded -> ended: the onward call has ended. If s is ended it
// stays so.
func (s *Stack) forwardEnded() { s.state, s.next = ended, nil }

// blank is the transition ended -> idle, in which all that was written since s was taken is
// cleared, except the message.
func (s *Stack) blank() {
	if invariant.Enabled {
		s.checkBare()
	}
	s.state, s.to, s.sent = idle, nil, 0
}

// own makes s, which nobody else knows yet, an owned stack: idle, with tick as the step at each
// answer.
func (s *Stack) own(tick step) { s.step, s.mode = tick, waitAny }

//go:noinline
func (s *Stack) misuse() {
	switch s.state {
	case ended:
		panic("stack: a stack ends twice in " + s.by.Name())
	case suspended:
		panic("stack: a suspended stack can't end in " + s.by.Name())
	case judged:
		panic("stack: a predicate of SuspendUntil asks, or ends its stack, in " + s.by.Name())
	}
	panic("stack: a stack is used outside its steps in " + s.by.Name())
}

// over is the step that runs when the jobs that keepOn waits for are home.
func over(_, _ unsafe.Pointer) Yield { return Yield{yieldOver} }
