package giveup

import "sync/atomic"

// Word is the word of one call. The zero Word is wanted.
type Word struct{ state atomic.Uint32 }

const (
	wanted uint32 = iota
	givenUp
	chained
	answered
	heldBack
)

// Doubtful reports whether the asker has given up, or the call is held back.
func (w *Word) Doubtful() bool { return w.state.Load() != wanted }

// GiveUp is the transition wanted, heldBack -> givenUp, of calls never chained: an offloaded job,
// which is told by OnGivenUp; a request of a connection; an onward call from its beginning, for
// which the word of the first call decides.
func (w *Word) GiveUp() { w.state.Store(givenUp) }

// Chain is the transition wanted -> chained. The asker's owner makes it while the promise waits, or
// the guest before it is gone, so the stack can't have been put. The caller then pushes the call
// onto the chain.
func (w *Word) Chain() { w.state.Store(chained) }

// HoldBack is the transition wanted -> heldBack.
func (w *Word) HoldBack() { w.state.Store(heldBack) }

// LetBegin is the transition heldBack -> wanted.
func (w *Word) LetBegin() { w.state.Store(wanted) }

// HeldBack reports whether the call is held back.
func (w *Word) HeldBack() bool { return w.state.Load() == heldBack }

// Heed is the transition chained -> givenUp: the caller has taken the call from the chain. False:
// the answer came home before, and the caller puts the stack.
func (w *Word) Heed() bool { return w.state.CompareAndSwap(chained, givenUp) }

// Answer is the transition chained -> answered: the answer has come home, and nobody waits. False:
// the call isn't on a chain any more, or never was, and the caller puts the stack.
func (w *Word) Answer() bool { return w.state.CompareAndSwap(chained, answered) }
