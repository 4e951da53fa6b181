package measure

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// patience is how long a run may take before its messages are lost.
const patience = 90 * time.Second

// Tally is where those who handle messages report their sums. Any goroutine and
// any actor may report; the one who does the work waits.
type Tally struct {
	left    atomic.Int64 // reports to come
	sum     atomic.Uint64
	failure atomic.Pointer[error]
	done    chan struct{}
}

// NewTally returns a tally that waits for so many reports.
func NewTally(reports int) *Tally {
	t := &Tally{done: make(chan struct{}, 1)}
	t.left.Store(int64(reports))
	return t
}

// Report adds a sum. The last report ends Wait.
func (t *Tally) Report(sum uint64) {
	t.sum.Add(sum)
	if t.left.Add(-1) == 0 {
		t.end()
	}
}

// Fail ends Wait with an error.
func (t *Tally) Fail(err error) {
	if t.failure.CompareAndSwap(nil, &err) {
		t.end()
	}
}

// end never blocks: Report may run in an actor.
func (t *Tally) end() {
	select {
	case t.done <- struct{}{}:
	default:
	}
}

// Wait waits for all reports and checks their sum.
func (t *Tally) Wait(want uint64) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-t.done:
	case <-late.C:
		return fmt.Errorf("%d reports are missing after %v", t.left.Load(), patience)
	}
	if err := t.failure.Load(); err != nil {
		return *err
	}
	return Right(t.sum.Load(), want)
}

// ErrWrong says that messages were lost, doubled or mangled.
var ErrWrong = errors.New("wrong sum")

// Right compares a sum, or an answer, with what it must be.
func Right(got, want uint64) error {
	if got != want {
		return fmt.Errorf("%w: %d, not %d", ErrWrong, got, want)
	}
	return nil
}

// Sum returns 1 + 2 + … + n, which is what n numbered messages come to.
func Sum(n int) uint64 { return uint64(n) * (uint64(n) + 1) / 2 }

// Share returns the i-th of so many nearly equal parts of n.
func Share(n, i, parts int) int {
	share := n / parts
	if i < n%parts {
		share++
	}
	return share
}
