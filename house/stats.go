package house

import (
	"time"

	"github.com/stackhouse-go/stackhouse/house/latency"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// Stats is what a worker, or all workers of a system, counted since it began. A worker publishes
// its counts when it parks, and at the end of every 64th turn, or of the first after 100 ms. So the
// current turn isn't in them, nor are up to 63 turns that were borrowed since the worker parked.
type Stats struct {
	Turns    uint64 // passes of the loops
	Visits   uint64 // of actors
	Messages uint64 // handled: calls, replies, timers, system messages
	// asks that ended: replied to, failed, or refused; a forwarded one counts twice
	Answers   uint64
	Late      uint64 // answers for which nobody waited any more
	Expired   uint64 // calls dropped because their deadline had passed
	Cancelled uint64 // stacks ended because their asker gave up
	Timeouts  uint64 // asks whose deadline passed at the asker
	Refused   uint64 // calls to actors that had stopped, or of another system
	Full      uint64 // messages that a full mailbox or stash refused or dropped
	// notices that nobody handled; see DeadLetters. Those of guests, which no worker saw, are in
	// System.Stats only
	DeadLetter uint64
	Failures   uint64 // panics, and Throws in notices
	Restarts   uint64 // of actors
	Forwards   uint64 // notifications for an actor that had moved
	Given      uint64 // actors that moved to another worker; to those from index 64 on none move
	Parks      uint64 // times that a worker parked, as it had nothing to do
	Naps       uint64 // parks that the network couldn't end: see Config.Nap
	// parks ended by a message from elsewhere or a hand-over; others ended by a timer, by the
	// network or as a nap
	Woken     uint64
	Wakes     uint64 // parked workers that workers woke: without wake-ups by guests or a shutdown
	VainWakes uint64 // wake-ups after which the worker found nothing to do
	// times that a worker with nothing to do spun instead of parking at once: see Config.Spin
	Spins uint64
	// readings of the clock that found Config.SlowStep exceeded; one may stand for several slow
	// steps
	SlowSteps uint64
	Borrowed  uint64 // times that a guest or another worker ran a parked worker's turns
	Trimmed   uint64 // pooled objects left to the garbage collector
	QueueWait Wait
}

// Wait is how long ready actors waited for their visit, measured at one visit in 16.
type Wait struct{ P50, P99, P999, Max time.Duration }

// Stats returns the sum over all workers. Any goroutine may call it.
func (s *System) Stats() Stats {
	var total Stats
	var waits latency.Snapshot
	for _, w := range s.workers {
		total.add(w, &waits)
	}
	full, refused := s.guests.Dropped()
	total.Full += full
	total.Refused += refused
	total.QueueWait = waitOf(&waits)
	s.guests.Events.Tally.Each(func(_ *stack.Handler, _ lost.Reason, n uint64) { total.DeadLetter += n })
	return total
}

// Stats returns the counts of the worker. Any goroutine may call it.
func (w *Worker) Stats() Stats {
	var own Stats
	var waits latency.Snapshot
	own.add(w, &waits)
	own.QueueWait = waitOf(&waits)
	return own
}

// add adds the counts of w, and merges its waits into waits.
func (total *Stats) add(w *Worker, waits *latency.Snapshot) {
	c := &w.hot.Count
	total.Turns += c.Load(count.Turns)
	total.Visits += c.Load(count.Visits)
	total.Messages += c.Load(count.Messages)
	total.Answers += c.Load(count.Answers)
	total.Late += c.Load(count.Late)
	total.Expired += c.Load(count.Expired)
	total.Cancelled += c.Load(count.Cancelled)
	total.Timeouts += c.Load(count.Timeouts)
	total.Refused += c.Load(count.Refused)
	total.Full += c.Load(count.Full)
	total.DeadLetter += c.Load(count.DeadLetter)
	total.Failures += c.Load(count.Failures)
	total.Restarts += c.Load(count.Restarts)
	total.Forwards += c.Load(count.Forwards)
	total.Given += c.Load(count.Given)
	total.Parks += c.Load(count.Parks)
	total.Naps += c.Load(count.Naps)
	total.Woken += c.Load(count.Woken)
	total.Wakes += c.Load(count.Wakes)
	total.VainWakes += c.Load(count.Vain)
	total.Spins += c.Load(count.Spins)
	total.SlowSteps += c.Load(count.Slow)
	total.Borrowed += c.Load(count.Borrowed)
	total.Trimmed += c.Load(count.Trimmed)
	var one latency.Snapshot
	w.queued.Snapshot(&one)
	waits.Merge(&one)
}

func waitOf(waits *latency.Snapshot) Wait {
	return Wait{waits.Quantile(0.5), waits.Quantile(0.99), waits.Quantile(0.999), waits.Max()}
}

// publish makes the worker's counts visible to Stats.
func (w *Worker) publish() {
	w.hot.Count.Add(count.Turns, w.turns-w.published)
	w.published, w.publishAt = w.turns, w.hot.Now+publishAfter
	w.hot.Count.Publish()
	w.queued.Publish()
}

// Outstanding returns the number of pooled objects that are taken or on their way home: 0 in a
// system at rest. Call it only while nothing runs: before Start, after Shutdown, or between turns
// of a Manual system.
func (s *System) Outstanding() (n int) {
	for _, w := range s.workers {
		w.hot.Shard.Flush()
	}
	for _, w := range s.workers {
		n += w.hot.Shard.Outstanding()
	}
	return n + s.guests.Pools.Outstanding()
}
