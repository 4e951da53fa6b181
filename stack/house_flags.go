package stack

import "sync/atomic"

// flags are what others tell a house, or ask about it, and behind them the number of its calls
// that wait, see house_mailbox.go. Any goroutine may change them, but for what says otherwise; each
// change says what was there, so that of those who come at once one knows that it is to act.
type flags struct{ bits atomic.Uint32 }

// flagWord is flags at one moment.
type flagWord uint32

const (
	// flagRung: the house stands on one worker's chain of rungs, see send_inbox.go.
	flagRung flagWord = 1 << iota
	// flagUrged: what loops over calls of the house leaves its loop, and the visit under way
	// looks into the inbox, at the other flags, and at the actor again: see interrupt.
	flagUrged
	// flagStopped, which the owner sets: the house is a mailbox for ever. Each call gets
	// ErrStopped; notices that were sent before become dead letters, answers go home.
	flagStopped
	// flagStays: the house isn't given to another worker, see send_handover.go.
	flagStays
	// flagMoving, which the owner sets: the house is being given to another worker.
	flagMoving
	// flagHeld, which the owner sets: no call begins, see house_hold.go.
	flagHeld
	// flagAlone: no call begins while a stack of the actor is suspended. Written before
	// anybody else knows the house.
	flagAlone
	// flagSorted, for ever: calls aren't taken in the order of the lane, see visit_sorted.go.
	flagSorted
	// flagSingles, for ever: calls come by a stack each, so that each can be sorted or dropped.
	flagSingles
	// flagNoted, which the owner sets, for ever: it is noted that a call begins, see life_quiet.go.
	flagNoted
	// flagAwaited: goroutines wait for room in the mailbox, see send_room.go.
	flagAwaited
)

const (
	// countShift is where in flags the number stands.
	countShift = 11
	// MailboxTop is the highest bound: a quarter of what the number can say, as a mailbox may
	// hold twice its bound, and more for a moment.
	MailboxTop = 1 << (32 - countShift - 2)
)

// calls returns the number of calls that wait.
func (w flagWord) calls() int { return int(w >> countShift) }

// now returns the flags, and the number.
func (f *flags) now() flagWord { return flagWord(f.bits.Load()) }

// has reports whether one of these is set.
func (f *flags) has(some flagWord) bool { return f.now()&some != 0 }

// set sets flag and reports whether that changed it: of several who set it, one hears yes.
func (f *flags) set(flag flagWord) bool { return flagWord(f.bits.Or(uint32(flag)))&flag == 0 }

func (f *flags) clear(flag flagWord) { f.bits.And(^uint32(flag)) }

// add adds n calls that wait, and returns what is there now.
func (f *flags) add(n int) flagWord { return flagWord(f.bits.Add(uint32(n) << countShift)) }
