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
	// Failures is the number of failures in a row that opens the breaker. 0: 5. Negative: no number
	// does.
	Failures int
	// Ratio is the share of failures among the calls of the last Window that opens the breaker, if
	// there are at least Calls of them: 0.5 is half, 1 is all. 0: no share does.
	Ratio float64
	// Calls is the least number of calls in the Window for Ratio to count. 0: 20.
	Calls int
	// Window is how long a call counts for Ratio; it moves in steps of a tenth. 0: 10 s.
	Window time.Duration
	// Pause is how long the open breaker refuses all calls. 0: 1 s. It doubles each time that a
	// probe fails, up to PauseMax, and is Pause again after the breaker has closed.
	Pause time.Duration
	// PauseMax bounds the pause, without Jitter. 0: 30 s, or Pause if that is longer.
	PauseMax time.Duration
	// Jitter is the largest share by which a pause is made longer at random, so that breakers in
	// front of the same thing don't try it at the same time. 0: 0.2. Negative: none.
	Jitter float64
	// Probes is how many calls are let through after a pause: if all succeed the breaker closes; if
	// one fails it opens again. 0: 1.
	Probes int
	// Failed reports whether an error is a failure of what is called. Others count as successes: an
	// answer came. nil: every error is a failure. A call whose asker gave up (context.Canceled,
	// ErrCancelled) counts as neither. If Failed panics, or calls runtime.Goexit, the error is a
	// failure.
	Failed func(err error) bool
	// Seed makes the jitter differ between breakers that open at the same moment.
	Seed uint64
}

// BreakerState is what a Breaker does with calls.
type BreakerState uint8

// The states of a breaker, and every way out. Each change of state begins a new period; a call that
// ends in a later period than it began in changes nothing.
const (
	// BreakerClosed: calls are let through. Too many failures: open.
	BreakerClosed BreakerState = iota
	// BreakerOpen: calls are refused. The first call after the pause: half open.
	BreakerOpen
	// BreakerHalfOpen: Probes calls are let through, others are refused. All succeeded: closed. One
	// failed: open, for longer. Not all have ended within a pause: half open anew, and the old
	// probes no longer count.
	BreakerHalfOpen
)

// String returns the state's name: closed, open, half open.
func (s BreakerState) String() string {
	return [...]string{"closed", "open", "half open"}[s]
}

// breakerParts is the number of parts of the window.
const breakerParts = 10

// Breaker is a circuit breaker: it stops calls to what fails, and tries it again later. It is a
// pure state machine: time is an argument, and it neither allocates nor locks. So it belongs to one
// actor, in a field, or to one offload pool (house.OffloadConfig.Breaker). Around an ask,
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
// If the stack ends in between, End isn't called. That matters only for probes, and only until they
// count as lost.
type Breaker struct {
	config BreakerConfig
	state  BreakerState
	period uint64 // counts changes of state: it tells calls of former states
	now    int64  // the latest time that was passed to it

	// BreakerClosed.
	row   int // failures in a row
	parts [breakerParts]breakerPart

	// BreakerOpen and BreakerHalfOpen.
	pause     int64 // without jitter
	until     int64 // open: the end of the pause; half open: when the probes are lost
	begun     int   // half open: probes let through. Invariant: succeeded <= begun <= config.Probes
	succeeded int
	opened    uint64
}

// breakerPart counts the calls of one part of the window.
type breakerPart struct {
	number        int64 // the time divided by the length of a part
	calls, failed int
}

// breakerLongest is the longest duration in a BreakerConfig, so that sums of durations and times
// don't overflow.
const breakerLongest = 365 * 24 * time.Hour

// NewBreaker makes a closed breaker. It panics if a setting makes no sense: a negative one whose
// comment gives negatives no meaning, a Ratio or Jitter above 1, or a duration above a year.
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

// State returns the state. A breaker whose pause is over is open until the next call begins.
func (b *Breaker) State() BreakerState { return b.state }

// String returns the state's name.
func (b *Breaker) String() string { return b.state.String() }

// Opened returns how often the breaker has opened.
func (b *Breaker) Opened() uint64 { return b.opened }

// Refuses returns ErrBreakerOpen if Begin would, otherwise nil. It changes nothing. now is as in
// Begin.
//
//alloc:none
func (b *Breaker) Refuses(now int64) error {
	now = max(now, b.now)
	if b.state == BreakerClosed || now >= b.until || b.state == BreakerHalfOpen && b.begun < b.config.Probes {
		return nil
	}
	return fault.ErrBreakerOpen
}

// Begin lets a call through and returns its number for End, or returns ErrBreakerOpen. now is a
// time in ns of any clock that doesn't go back: core.Now.
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

// End says how a call ended: err is its error, or nil. Call it once for each call that Begin let
// through.
//
//alloc:none
func (b *Breaker) End(now int64, call uint64, err error) {
	b.now = max(now, b.now)
	if call != b.period {
		return
	}
	failed, told := true, true
	// even if Failed panics or calls runtime.Goexit: a pool calls End under its lock, outside all
	// steps
	defer func() {
		recover()
		b.ended(failed, told)
	}()
	failed, told = b.judge(err)
}

// ended is the rest of End, after err was judged.
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

// judge reports whether err is a failure, and whether it counts at all. It calls Failed.
func (b *Breaker) judge(err error) (failed, told bool) {
	switch {
	case err == nil:
		return false, true
	case errors.Is(err, context.Canceled):
		return false, false
	}
	return b.config.Failed == nil || b.config.Failed(err), true
}

// count counts a call that ended while the breaker was closed, and opens the breaker if there are
// too many failures.
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

// tooMany reports whether the window whose last part has this number has too many failures.
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

// chance returns a number of [0, 1) made from the seed, the time and how often the breaker has
// opened.
func (b *Breaker) chance() float64 {
	return float64(mix(b.config.Seed+uint64(b.now)+b.opened)>>11) / (1 << 53)
}
