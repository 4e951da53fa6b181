package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// state is what a stack is doing. This file has all transitions; they are made by who may touch the
// stack then: its maker, the owner of the callee's house, the owner of the asker's.
//
//	idle       taken, queued or being delivered; no step has begun, or its maker keeps it
//	running    a step of it executes
//	suspended  it waits for answers; it has at least one waiting promise. Also one that has
//	           ended and keeps a job, see keepOn
//	judged     the same, and the predicate of its SuspendUntil looks whether they are enough
//	ended      it returned, threw, failed, was dropped or forwarded; on its way home, or a relay
//	           holds it A connection's own stack, which has no home, may begin again, to part
//	forwarded  it has ended so, and next leads to the onward call, which has begun and not ended
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
	waitUntil             // the first after which a predicate holds, at the latest the last
	waitKept              // the last, behind which it ends: see keepOn
)

// run is the transition idle, suspended -> running: a step begins. That of a connection may have
// ended, by a panic, and has still to part.
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

// End is finish of users' stacks. It is this short for the compiler to inline it, and told.Return
// of core, where a step returns.
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

// judge is the transition suspended -> judged, around a call of s.ready; suspended again behind it.
func (s *Stack) judge() { s.state = judged }

// judged ends judge.
func (s *Stack) judged() { s.state = suspended }

// putOff is the transition to suspended of one whose end is put off until the jobs are home that it
// keeps; it may be so already.
func (s *Stack) putOff() {
	s.state, s.mode, s.step = suspended, waitKept, over
}

// stay is the transition running -> idle of one that goes back to where it waits for its
// beginning, or to its maker.
func (s *Stack) stay() { s.state = idle }

// close is the transition to ended from wherever s is: the runtime ends it.
func (s *Stack) close() { s.state = ended }

// forwardTo is the transition ended -> forwarded: the onward call has begun.
func (s *Stack) forwardTo(onward *Stack) { s.state, s.next = forwarded, onward }

// forwardEnded is the transition forwarded -> ended, as that has ended; it may be in ended.
func (s *Stack) forwardEnded() { s.state, s.next = ended, nil }

// blank clears all that was written since s was taken, but the message: running, ended -> idle.
func (s *Stack) blank() {
	if invariant.Enabled {
		s.checkBare()
	}
	s.state, s.to, s.sent = idle, nil, 0
}

// own has s, which nobody else knows yet, wait idle for pushes, and run at each answer.
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

// over is the step behind keepOn.
func over(_, _ unsafe.Pointer) Yield { return Yield{yieldOver} }
