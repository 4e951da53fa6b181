package flags

import "sync/atomic"

// Shared are the flags of a house, and the number of its calls that wait. Any goroutine may change
// them, but for what says otherwise; each change says what was there, so that of those who come at
// once one knows that it is to act.
type Shared struct{ bits atomic.Uint32 }

// Word is Shared at one moment.
type Word uint32

const (
	// Rung: the house stands on one worker's chain of rungs, see send_inbox.go.
	Rung Word = 1 << iota
	// Urged: what loops over calls of the house leaves its loop, and the visit under way
	// looks into the inbox, at the other flags, and at the actor again: see interrupt.
	Urged
	// Stopped, which the owner sets: the house is a mailbox for ever. Each call gets
	// ErrStopped; notices that were sent before become dead letters, answers go home.
	Stopped
	// Stays: the house isn't given to another worker, see send_handover.go.
	Stays
	// Moving, which the owner sets: the house is being given to another worker.
	Moving
	// Held, which the owner sets: no call begins, see house_hold.go.
	Held
	// Alone: no call begins while a stack of the actor is suspended. Written before
	// anybody else knows the house.
	Alone
	// Sorted, for ever: calls aren't taken in the order of the lane, see visit_sorted.go.
	Sorted
	// Singles, for ever: calls come by a stack each, so that each can be sorted or dropped.
	Singles
	// Noted, which the owner sets, for ever: it is noted that a call begins, see life_quiet.go.
	Noted
	// Awaited: goroutines wait for room in the mailbox, see send_room.go.
	Awaited
)

const (
	// countShift is where in a Word the number stands.
	countShift = 11
	// MailboxTop is the highest bound: a quarter of what the number can say, as a mailbox may
	// hold twice its bound, and more for a moment.
	MailboxTop = 1 << (32 - countShift - 2)
)

// Calls returns the number of calls that wait.
func (w Word) Calls() int { return int(w >> countShift) }

// Now returns the flags, and the number.
func (f *Shared) Now() Word { return Word(f.bits.Load()) }

// Has reports whether one of these is set.
func (f *Shared) Has(some Word) bool { return f.Now()&some != 0 }

// Set sets flag and reports whether that changed it: of several who set it, one hears yes.
func (f *Shared) Set(flag Word) bool { return Word(f.bits.Or(uint32(flag)))&flag == 0 }

// Clear clears a flag.
func (f *Shared) Clear(flag Word) { f.bits.And(^uint32(flag)) }

// Add adds n calls that wait, and returns what is there now.
func (f *Shared) Add(n int) Word { return Word(f.bits.Add(uint32(n) << countShift)) }
