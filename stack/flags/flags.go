package flags

import "sync/atomic"

// Shared is the flags of a house and the number of its calls that wait. Any goroutine may change
// them, except for flags that say otherwise. Set reports whether the flag was clear before, so that
// of several goroutines that set it at once exactly one acts.
type Shared struct{ bits atomic.Uint32 }

// Word is Shared at one moment.
type Word uint32

const (
	// Rung: the house stands on one worker's chain of rungs, see send_inbox.go.
	Rung Word = 1 << iota
	// Urged: loops over calls of the house end before the next call, and the visit under way
	// looks at the inbox, the other flags and the actor again: see House.interrupt.
	Urged
	// Stopped, which the owner sets: the house handles no call any more, for ever. Each call gets
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
	// Sorted, for ever: a Mailbox orders the calls, see visit_sorted.go, or a Remote takes them.
	Sorted
	// Singles, for ever: each call comes in a stack of its own, so that it can be sorted or dropped.
	Singles
	// Noted, which the owner sets, for ever: the house notes that calls begin, see life_quiet.go.
	Noted
	// Awaited: goroutines wait for room in the mailbox, see send_room.go.
	Awaited
)

const (
	// countShift is the lowest bit of the number in a Word. All bits below it are taken: one more flag
	// would halve MailboxTop, which is public.
	countShift = 11
	// MailboxTop is the highest bound of a mailbox: a quarter of the highest number, because a
	// mailbox may hold twice its bound, and more for a moment.
	MailboxTop = 1 << (32 - countShift - 2)
)

// Calls returns the number of calls that wait.
func (w Word) Calls() int { return int(w >> countShift) }

// Now returns the flags, and the number.
func (f *Shared) Now() Word { return Word(f.bits.Load()) }

// Has reports whether at least one of the flags in some is set.
func (f *Shared) Has(some Word) bool { return f.Now()&some != 0 }

// Set sets flag and reports whether it was clear: of several goroutines that set it at once, one
// gets true.
func (f *Shared) Set(flag Word) bool { return Word(f.bits.Or(uint32(flag)))&flag == 0 }

// Clear clears a flag.
func (f *Shared) Clear(flag Word) { f.bits.And(^uint32(flag)) }

// Add adds n to the number of calls that wait, and returns the new Word.
func (f *Shared) Add(n int) Word { return Word(f.bits.Add(uint32(n) << countShift)) }
