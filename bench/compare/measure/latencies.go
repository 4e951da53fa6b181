package measure

import (
	"time"

	"github.com/stackhouse-go/stackhouse/house/latency"
)

// Latencies times one in several round trips. It has one writer at a time.
type Latencies struct {
	every uint64 // a power of 2
	h     latency.Histogram
}

// One in how many round trips is timed: of cheap ones fewer.
const (
	OfCheap = 64
	OfDear  = 16
)

// NewLatencies returns one that times one round trip in every, a power of 2.
func NewLatencies(every uint64) *Latencies { return &Latencies{every: every} }

// Begin returns the clock if the i-th round trip is to be timed, otherwise 0.
func (l *Latencies) Begin(i uint64) int64 {
	if i&(l.every-1) == 0 {
		return now()
	}
	return 0
}

// End records a round trip that began at from, if that isn't 0.
func (l *Latencies) End(from int64) {
	if from != 0 {
		l.h.Record(time.Duration(now() - from))
	}
}

func (l *Latencies) reset() { l.h = latency.Histogram{} }

func (l *Latencies) quantiles() [3]int64 {
	var s latency.Snapshot
	l.h.Publish()
	l.h.Snapshot(&s)
	return [3]int64{int64(s.Quantile(0.5)), int64(s.Quantile(0.99)), int64(s.Quantile(0.999))}
}

// began is the zero of the clock.
var began = time.Now()

// now is never 0: the process is older than its first round trip.
func now() int64 { return int64(time.Since(began)) }
