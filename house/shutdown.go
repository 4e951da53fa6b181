package house

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stackhouse-go/stackhouse/internal/turns"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// ErrAbandoned is in the outcome of a Shutdown whose time ended before its work: errors.Is finds
// it, and the text names what was left behind.
var ErrAbandoned = errors.New("house: a shutdown abandoned something")

// abandoned is an error about something that a shutdown has left behind.
type abandoned struct{ error }

func (abandoned) Is(target error) bool { return target == ErrAbandoned }

// Unwrap has errors.Is find the context's error.
func (a abandoned) Unwrap() error { return a.error }

// Shutdown runs the hooks, stops every actor, ends the workers and releases everything. Asks in
// progress end with ErrStopped: to have them answered first, let a ShutdownHook wait, or drain the
// actors there. Further calls wait for the end of the first and return its outcome, or the error of
// their own context.
//
// Its time is over when ctx ends or, if ctx has no deadline, after Config.ShutdownTimeout. What
// Shutdown waits for then, or begins later, gets another tenth of a second, and is abandoned after
// that: the outcome names it, and is ErrAbandoned. In a step, and in a function offloaded to the
// system, Shutdown fails with ErrBlockingOnWorker: call BeginShutdown there.
func (s *System) Shutdown(ctx context.Context) error {
	if turns.Running() || slices.ContainsFunc(s.pools(), (*OffloadPool).runsHere) {
		return fault.ErrBlockingOnWorker
	}
	if run := s.begin(); run != nil {
		run(ctx)
		return s.outcome
	}
	select {
	case <-s.closed:
	case <-ctx.Done():
	}
	select {
	case <-s.closed: // both may have come
		return s.outcome
	default:
		return ctx.Err()
	}
}

// BeginShutdown begins a Shutdown, limited by Config.ShutdownTimeout, and returns at once: for
// steps, which may also call core.Shutdown, and for others that must not wait. Callers of Shutdown
// then get the outcome. A Manual system doesn't shut down before its caller calls Shutdown: only
// the channel Ending is closed.
func (s *System) BeginShutdown() {
	if s.config.Manual {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.announce()
		return
	}
	if run := s.begin(); run != nil {
		go run(context.Background())
	}
}

// Ending returns a channel that is closed when a shutdown begins: for main, which also waits for
// signals, and for readiness probes.
func (s *System) Ending() <-chan struct{} { return s.ending }

// Done returns a channel that is closed when the shutdown is over; Shutdown then returns its
// outcome at once.
func (s *System) Done() <-chan struct{} { return s.closed }

// announce closes s.ending, once. The caller holds the lock.
func (s *System) announce() {
	select {
	case <-s.ending:
	default:
		close(s.ending)
	}
}

// begin enters the draining phase and returns the work to do; nil: an earlier caller does it.
func (s *System) begin() (run func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase >= draining {
		return nil
	}
	hooks := s.hooks
	s.phase = draining
	s.announce()
	return func(ctx context.Context) {
		if _, limited := ctx.Deadline(); !limited && s.config.ShutdownTimeout > 0 {
			limit, cancel := context.WithTimeout(ctx, s.config.ShutdownTimeout)
			defer cancel()
			ctx = limit
		}
		s.outcome = s.shutdown(ctx, hooks)
		close(s.closed)
	}
}

// shutdown does Shutdown's work, once.
func (s *System) shutdown(ctx context.Context, hooks []ShutdownHook) error {
	if len(hooks) > 0 {
		s.launch() // so that asks of hooks are answered, also if the system was never started
	}
	errs := []error{s.runHooks(ctx, hooks, false)}
	stopping := s.newPatience(ctx)
	defer stopping.end()
	for _, h := range s.close() {
		h.Stop(&s.guests)
	}
	if err := s.launch(); err == nil && !s.config.Manual {
		if !stopping.wait(s.empty) {
			errs = append(errs, s.left(ctx.Err()))
		}
		errs = append(errs, s.closeOffloads(ctx), s.endWorkers(ctx))
	} else {
		s.turnUntilEmpty()
		errs = append(errs, err, s.left(errTimeless))
		s.leaveAll()
		errs = append(errs, s.closeOffloads(ctx))
	}
	return errors.Join(append(errs, s.runHooks(ctx, hooks, true))...)
}

// moment is the least time between telling something to end and abandoning it; tests change
// System.moment.
const moment = 100 * time.Millisecond

// patience waits until a context ends and then, once, for a moment more: what sees the context end
// needs time to return, and if the context had ended before, what would end at once isn't
// abandoned.
type patience struct {
	ctx    context.Context
	moment time.Duration
	over   context.Context // nil: the moment hasn't begun
	cancel context.CancelFunc
}

func (s *System) newPatience(ctx context.Context) *patience {
	return &patience{ctx: ctx, moment: s.moment}
}

// end frees the timer of the moment.
func (p *patience) end() {
	if p.cancel != nil {
		p.cancel()
	}
}

// wait reports whether ended was closed in time.
func (p *patience) wait(ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	case <-p.ctx.Done():
	}
	if p.over == nil {
		p.over, p.cancel = context.WithTimeout(context.Background(), p.moment)
	}
	select {
	case <-ended:
		return true
	case <-p.over.Done():
	}
	select { // both may have come
	case <-ended:
		return true
	default:
		return false
	}
}

// close enters the closing phase and returns the houses to stop.
func (s *System) close() []*stack.House {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = closing
	if s.houses.count() == 0 {
		close(s.empty)
	}
	return s.houses.last(math.MaxInt)
}

// abandonedMax is how many actors an error names.
const abandonedMax = 10

// errTimeless is why an actor isn't stopped whose end waits for a timer, in the Shutdown of a
// system without loops.
var errTimeless = errors.New("no time passes while a system without loops shuts down")

// left returns the error that names the actors that haven't stopped, as in "#4, #7 and 3 more",
// with the reason why; nil if all have stopped.
func (s *System) left(why error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.houses.count() == 0 {
		return nil
	}
	var names []string
	for _, h := range s.houses.last(abandonedMax) {
		names = append(names, fmt.Sprintf("#%d", h.Serial()))
	}
	left := strings.Join(names, ", ")
	if more := s.houses.count() - len(names); more > 0 {
		left += fmt.Sprintf(" and %d more", more)
	}
	return abandoned{fmt.Errorf("house: actors didn't stop: %s: %w", left, why)}
}

// turnUntilEmpty runs the turns of a system without loops, and all offloaded functions, until there
// is nothing to do.
func (s *System) turnUntilEmpty() {
	for busy := true; busy; {
		busy = s.move(math.MaxInt64) > 0
		for _, w := range s.workers {
			busy = w.Turn() || busy
		}
	}
}

// leaveAll has the workers of a system without loops leave.
func (s *System) leaveAll() {
	for _, w := range s.workers {
		w.leave()
	}
}

// closeOffloads closes the offload pools, which ends the contexts of their functions, and waits
// until the functions have returned.
func (s *System) closeOffloads(ctx context.Context) error {
	pools := s.pools()
	for _, p := range pools {
		p.close()
	}
	s.move(math.MaxInt64)
	var errs []error
	patience := s.newPatience(ctx)
	defer patience.end()
	for _, p := range pools {
		if !patience.wait(p.ended) {
			errs = append(errs, p.left(ctx.Err()))
		}
	}
	return errors.Join(errs...)
}

// endWorkers tells the loops to leave and waits until they have.
func (s *System) endWorkers(ctx context.Context) error {
	for _, w := range s.workers {
		w.dismiss()
	}
	var errs []error
	patience := s.newPatience(ctx)
	defer patience.end()
	for i, w := range s.workers {
		if !patience.wait(w.gone) {
			errs = append(errs, abandoned{fmt.Errorf("house: worker %d hasn't left: %w", i, ctx.Err())})
		}
	}
	return errors.Join(errs...)
}
