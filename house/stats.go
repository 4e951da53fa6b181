package house

import (
	"time"

	"github.com/stackhouse-go/stackhouse/internal/stat"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Stats is what a system's workers counted since it began. A worker shows its counts
// every 64 turns and when it parks; of turns that others borrowed since, up to 63 are not
// shown yet.
type Stats struct {
	Turns      uint64 // passes of the loops
	Visits     uint64 // of actors
	Messages   uint64 // handled: calls, replies, timers, system messages
	Answers    uint64 // asks that ended: replied to, failed, or refused
	Late       uint64 // answers that nobody waited for any more
	Expired    uint64 // calls dropped because their deadline had passed
	Cancelled  uint64 // stacks ended because their asker gave up
	Timeouts   uint64 // asks whose deadline passed at the asker
	Refused    uint64 // calls to stopped actors
	DeadLetter uint64 // notices that nobody handled
	Failures   uint64 // panics, and Throws in notices
	Forwards   uint64 // notifications for an actor that had moved
	Parks      uint64 // times that a worker had nothing to do
	Woken      uint64 // parks that a message from elsewhere ended; timers and the network ended the others
	Lent       uint64 // times that a guest, or another worker, ran a parked worker's turns
	Trimmed    uint64 // pooled objects left to the collector
	QueueWait  Wait
}

// Wait is how long ready actors waited for their turn, measured at one visit in 16.
type Wait struct{ P50, P99, P999, Max time.Duration }

// Stats returns the sum over all workers. Any goroutine may call it.
func (s *System) Stats() Stats {
	var total Stats
	var wait, one stat.Snapshot
	for _, w := range s.workers {
		c := &w.hot.Count
		total.Turns += c.Load(stack.CountTurns)
		total.Visits += c.Load(stack.CountVisits)
		total.Messages += c.Load(stack.CountMessages)
		total.Answers += c.Load(stack.CountAnswers)
		total.Late += c.Load(stack.CountLate)
		total.Expired += c.Load(stack.CountExpired)
		total.Cancelled += c.Load(stack.CountCancelled)
		total.Timeouts += c.Load(stack.CountTimeouts)
		total.Refused += c.Load(stack.CountRefused)
		total.DeadLetter += c.Load(stack.CountDeadLetter)
		total.Failures += c.Load(stack.CountFailures)
		total.Forwards += c.Load(stack.CountForwards)
		total.Parks += c.Load(stack.CountParks)
		total.Woken += c.Load(stack.CountWoken)
		total.Lent += c.Load(stack.CountLent)
		total.Trimmed += c.Load(stack.CountTrimmed)
		w.queued.Snapshot(&one)
		wait.Merge(&one)
	}
	ns := func(q float64) time.Duration { return time.Duration(wait.Quantile(q)) }
	total.QueueWait = Wait{ns(0.5), ns(0.99), ns(0.999), time.Duration(wait.Max())}
	return total
}

// publish shows the worker's counts.
func (w *Worker) publish() {
	w.hot.Count.Add(stack.CountTurns, w.turns-w.published)
	w.published = w.turns
	w.hot.Count.Publish()
	w.queued.Publish()
}

// Outstanding returns the number of pooled objects that are taken or on their
// way home: 0 in a system at rest. Only while nothing runs: before Start, after
// Shutdown, or between turns of a Manual system.
func (s *System) Outstanding() (n int) {
	for _, w := range s.workers {
		w.hot.Shard.Flush()
	}
	for _, w := range s.workers {
		n += w.hot.Shard.Outstanding()
	}
	return n + s.guests.Pools.Outstanding()
}
