package core

import (
	"context"
	"errors"
	"time"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// BreakerConfig is the settings of a Breaker. The zero BreakerConfig opens after 5 failures in a
// row, for a second.
type BreakerConfig struct {
	// Failures in a row that open the breaker. 0: 5. Negative: they never do.
	Failures int
	// Ratio of failures among the calls of the last Window that opens it, if there are at least
	// Calls of them: 0.5 is half. 0: it never does. 1 means that all failed.
	Ratio float64
	// Calls that the Window must hold for Ratio to be looked at. 0: 20.
	Calls int
	// Window is how long a call counts for Ratio; it is kept in ten parts, which end one after
	// the other. 0: 10 s.
	Window time.Duration
	// Pause is how long the open breaker refuses everything. 0: 1 s. It doubles each time that
	// a probe fails, up to PauseMax, and is Pause again when the breaker has closed.
	Pause time.Duration
	// PauseMax bounds the pause, without Jitter. 0: 30 s, or Pause if that is longer.
	PauseMax time.Duration
	// Jitter is by how much of itself a pause is longer at most, so that those who wait for the
	// same thing don't come back together. 0: 0.2. Negative: none.
	Jitter float64
	// Probes is how many calls are let through behind a pause; when all have succeeded the breaker
	// closes, when one fails it opens again. 0: 1.
	Probes int
	// Failed says which errors are failures of what is called. The others count as successes: it
	// has answered. nil: every error. A call that ended because its asker gave up
	// (context.Canceled, ErrCancelled) says nothing, and is neither. An error on which it panics,
	// or calls runtime.Goexit, is a failure.
	Failed func(err error) bool
	// Seed makes the jitter of breakers differ that open at the same moment.
	Seed uint64
}

// BreakerState is what a Breaker does with calls.
type BreakerState uint8

// The states of a breaker, and every way out. A call that ends in another period than it began
// in, as states change, changes nothing.
const (
	// BreakerClosed: calls are let through. Too many failures: open.
	BreakerClosed BreakerState = iota
	// BreakerOpen: calls are refused. The first one behind the pause: half open.
	BreakerOpen
	// BreakerHalfOpen: so many calls as there are Probes are let through, the others refused. All
	// succeeded: closed. One failed: open, for longer. None has ended for a pause: half open
	// anew, as the probes are lost.
	BreakerHalfOpen
)

// String returns the state in a word.
func (s BreakerState) String() string {
	return [...]string{"closed", "open", "half open"}[s]
}

// breakerParts is in how many parts a breaker keeps its window.
const breakerParts = 10

// Breaker is a circuit breaker: it stops calling what fails, and tries it again later. It is a
// pure state machine that is told the time, allocates nothing and locks nothing: it belongs to
// one actor, in a field, or to one offload pool (house.OffloadConfig.Breaker). Around an ask,
//
//	s.call, err = a.breaker.Begin(core.Now(s)) // s.call is a local: uint64
//	if err != nil {
//		return s.Throw(err)
//	}
//	a.remote.Ask(s, &s.answer, s.Req)
//
// and in the step that has the answer
//
//	answer, err := s.answer.Get()
//	a.breaker.End(core.Now(s), s.call, err)
//
// A call whose stack ends in between isn't told of. That matters for probes alone, and not for
// ever.
type Breaker struct {
	config BreakerConfig
	state  BreakerState
	period uint64 // of the state, so that calls of former ones are known
	now    int64  // the latest time that it was told

	// BreakerClosed.
	row   int // failures, the last ones that ended
	parts [breakerParts]breakerPart

	// BreakerOpen and BreakerHalfOpen.
	pause     int64 // without jitter
	until     int64 // open: the end of the pause; half open: when the probes are lost
	begun     int   // half open: probes. Invariant: succeeded <= begun <= config.Probes
	succeeded int
	opened    uint64
}

// breakerPart counts the calls of a part of the window.
type breakerPart struct {
	number        int64 // which part of all time
	calls, failed int
}

// breakerLongest is what a duration of a BreakerConfig may be, so that sums of them are times.
const breakerLongest = 365 * 24 * time.Hour

// NewBreaker makes a closed breaker. It panics if a setting makes no sense: if one is negative that
// mayn't be, Ratio or Jitter are above 1, or a duration is above a year.
func NewBreaker(c BreakerConfig) *Breaker {
	long := func(d time.Duration) bool { return d < 0 || d > breakerLongest }
	if !(c.Ratio >= 0 && c.Ratio <= 1 && c.Jitter <= 1) || min(c.Calls, c.Probes) < 0 || long(c.Window) || long(c.Pause) || long(c.PauseMax) {
		panic("core: a BreakerConfig is out of range")
	}
	c.Failures = orDefault(c.Failures, 5)
	c.Calls = orDefault(c.Calls, 20)
	c.Window = max(breakerParts, orDefault(c.Window, 10*time.Second))
	c.Pause = orDefault(c.Pause, time.Second)
	c.PauseMax = max(c.Pause, orDefault(c.PauseMax, 30*time.Second))
	c.Jitter = max(0, orDefault(c.Jitter, 0.2))
	c.Probes = orDefault(c.Probes, 1)
	return &Breaker{config: c, pause: int64(c.Pause)}
}

func orDefault[T int | float64 | time.Duration](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}

// State returns what the breaker does. An open one whose pause is over is open until the next
// call begins.
func (b *Breaker) State() BreakerState { return b.state }

// String returns the state in a word.
func (b *Breaker) String() string { return b.state.String() }

// Opened returns how often the breaker has opened.
func (b *Breaker) Opened() uint64 { return b.opened }

// Refuses returns ErrBreakerOpen if Begin would, otherwise nil. It changes nothing.
//
//alloc:none
func (b *Breaker) Refuses(now int64) error {
	now = max(now, b.now)
	if b.state == BreakerClosed || now >= b.until || b.state == BreakerHalfOpen && b.begun < b.config.Probes {
		return nil
	}
	return fault.ErrBreakerOpen
}

// Begin lets a call through, whose number End wants, or returns ErrBreakerOpen. The time is in
// ns, of any clock that doesn't go back: core.Now.
//
//alloc:none
func (b *Breaker) Begin(now int64) (call uint64, err error) {
	if err := b.Refuses(now); err != nil {
		return 0, err
	}
	b.now = max(now, b.now)
	if b.state != BreakerClosed {
		if b.now >= b.until {
			b.probe()
		}
		b.begun++
	}
	return b.period, nil
}

// End tells how the call ended, once.
//
//alloc:none
func (b *Breaker) End(now int64, call uint64, err error) {
	b.now = max(now, b.now)
	if call != b.period {
		return
	}
	failed, told := true, true
	// also if what users wrote panics or calls runtime.Goexit: a pool calls End under its lock,
	// outside all steps
	defer func() {
		recover()
		b.ended(failed, told)
	}()
	failed, told = b.judge(err)
}

// ended is the rest of End, when err has been judged.
func (b *Breaker) ended(failed, told bool) {
	switch {
	case b.state == BreakerClosed && told:
		b.count(failed)
	case b.state == BreakerHalfOpen && !told:
		b.begun--
	case b.state == BreakerHalfOpen && failed:
		b.pause = min(2*b.pause, int64(b.config.PauseMax))
		b.open()
	case b.state == BreakerHalfOpen:
		if b.succeeded++; b.succeeded == b.config.Probes {
			b.close()
		}
	}
}

// judge reports whether err is a failure, and whether it tells anything. It calls what users wrote.
func (b *Breaker) judge(err error) (failed, told bool) {
	switch {
	case err == nil:
		return false, true
	case errors.Is(err, context.Canceled):
		return false, false
	}
	return b.config.Failed == nil || b.config.Failed(err), true
}

// count counts a call that ended while the breaker was closed, and opens it if that is one
// failure too many.
func (b *Breaker) count(failed bool) {
	number := b.now / (int64(b.config.Window) / breakerParts)
	part := &b.parts[number%breakerParts]
	if part.number != number {
		*part = breakerPart{number: number}
	}
	part.calls++
	if !failed {
		b.row = 0
		return
	}
	part.failed++
	b.row++
	if b.row == b.config.Failures || b.config.Ratio > 0 && b.tooMany(number) {
		b.pause = int64(b.config.Pause)
		b.open()
	}
}

// tooMany reports whether the window that ends with the part of this number has too many
// failures.
func (b *Breaker) tooMany(number int64) bool {
	calls, failed := 0, 0
	for i := range b.parts {
		if p := &b.parts[i]; p.number > number-breakerParts {
			calls += p.calls
			failed += p.failed
		}
	}
	return calls >= b.config.Calls && float64(failed) >= b.config.Ratio*float64(calls)
}

func (b *Breaker) open() {
	b.enter(BreakerOpen)
	b.opened++
	b.until = b.now + b.pause + int64(float64(b.pause)*b.config.Jitter*b.chance())
}

func (b *Breaker) probe() {
	b.enter(BreakerHalfOpen)
	b.begun, b.succeeded = 0, 0
	b.until = b.now + b.pause
}

func (b *Breaker) close() {
	b.enter(BreakerClosed)
	b.row, b.parts = 0, [breakerParts]breakerPart{}
}

func (b *Breaker) enter(s BreakerState) {
	b.state = s
	b.period++
}

// chance returns a number of [0, 1), by the time of now, the seed and how often it has opened.
func (b *Breaker) chance() float64 {
	return float64(mix(b.config.Seed+uint64(b.now)+b.opened)>>11) / (1 << 53)
}
