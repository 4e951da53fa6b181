package count

// The counters of a worker; see stack.Engine.Count.
const (
	Turns      = iota
	Visits     // of houses
	Messages   // taken from lanes: calls, replies, timers, system messages
	Answers    // asks that ended here: replied to, failed, or refused
	Late       // answers that nobody waited for any more
	Expired    // calls dropped because their deadline had passed
	Cancelled  // stacks ended because their asker gave up
	Timeouts   // promises whose deadline passed
	Refused    // calls to a stopped actor, or to one of another system
	DeadLetter // notices that nobody handled
	Failures   // panics, and Throws of notices
	Restarts   // of actors
	Forwards   // rungs for a house that had moved
	Given      // houses given to other workers
	Parks
	Naps     // parks that an event of the network couldn't end
	Woken    // parks that a wake-up ended; the others ended by a timer, the network or as naps
	Borrowed // times that turns were borrowed
	Trimmed  // pooled objects left to the collector
	Slow     // readings of the clock that found a slow step
	Wakes    // wake-ups of other, parked workers by this one
	Vain     // times that it was woken and found nothing
	Spins    // times that it looked again instead of parking at once
	// calls refused or dropped because a mailbox was full; Guests.Dropped counts those of guests
	Full

	number = iota // of counters
)
