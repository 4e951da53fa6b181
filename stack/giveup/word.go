package giveup

import "sync/atomic"

// Word is that of one call. The zero Word is wanted.
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

// GiveUp is the transition wanted -> givenUp: of an offloaded job, which is told otherwise; of a
// request of a connection; of an onward call from its beginning, as who doubts that asks the first
// call.
func (w *Word) GiveUp() { w.state.Store(givenUp) }

// Chain is the transition wanted -> chained: by the asker's owner, while the promise stands, or the
// guest, before it has gone, so the stack hasn't been put. The caller then pushes the call.
func (w *Word) Chain() { w.state.Store(chained) }

// HoldBack is the transition wanted -> heldBack, and LetBegin the way back.
func (w *Word) HoldBack() { w.state.Store(heldBack) }

// LetBegin ends HoldBack.
func (w *Word) LetBegin() { w.state.Store(wanted) }

// HeldBack reports whether the call is held back.
func (w *Word) HeldBack() bool { return w.state.Load() == heldBack }

// Heed is the transition chained -> givenUp: the call was taken from the chain. If it is false the
// answer had come home, and the caller puts the stack.
func (w *Word) Heed() bool { return w.state.CompareAndSwap(chained, givenUp) }

// Answer is the transition chained -> answered: the answer has come home, to nobody. If it is false
// the call isn't on a chain any more, or never was, and the caller puts the stack.
func (w *Word) Answer() bool { return w.state.CompareAndSwap(chained, answered) }
