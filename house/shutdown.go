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

// ErrAbandoned is in the outcome of a Shutdown whose context ended before all that it waits for:
// errors.Is finds it, and the text names what was left behind.
var ErrAbandoned = errors.New("house: a shutdown abandoned something")

// abandoned is an error of what a shutdown has left behind.
type abandoned struct{ error }

func (abandoned) Is(target error) bool { return target == ErrAbandoned }

// Unwrap has errors.Is find the context's error.
func (a abandoned) Unwrap() error { return a.error }

// Shutdown runs the hooks, stops every actor, ends the workers and releases all. Asks in progress
// end with ErrStopped: who wants them answered first has a ShutdownHook wait, or drains actors
// there. It is idempotent: every call waits for the end of the first and returns its outcome, or
// the error of its own context. If ctx ends first, or, if it has no deadline,
// Config.ShutdownTimeout has passed, the outcome names what was abandoned and is ErrAbandoned;
// what is waited for then, or begins later, has a tenth of a second more. In a step, and in a
// function offloaded to the system, whose end it would wait for, it fails with
// ErrBlockingOnWorker: call BeginShutdown there.
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
	case <-s.closed: // perhaps both have come
		return s.outcome
	default:
		return ctx.Err()
	}
}

// BeginShutdown begins a Shutdown, within Config.ShutdownTimeout, and returns at once: for steps,
// which core.Shutdown is for if they don't know the system, and for what else mustn't wait.
// Whoever calls Shutdown then gets the outcome. A Manual system shuts down when its caller calls
// Shutdown: only Ending is closed.
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

// Ending is closed when a shutdown begins: for main, which waits for signals too, and for probes
// of readiness.
func (s *System) Ending() <-chan struct{} { return s.ending }

// Done is closed when a shutdown is over; Shutdown returns its outcome then.
func (s *System) Done() <-chan struct{} { return s.closed }

// announce closes ending. The caller holds the lock.
func (s *System) announce() {
	select {
	case <-s.ending:
	default:
		close(s.ending)
	}
}

// begin enters the draining phase and returns what is to be done; nil: somebody else does it.
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

// shutdown is the one run of Shutdown's work.
func (s *System) shutdown(ctx context.Context, hooks []ShutdownHook) error {
	if len(hooks) > 0 {
		s.launch() // what hooks ask is answered, also if the system was never started
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

// moment is how long what was told to end has for that, at least: System.moment, but for tests.
const moment = 100 * time.Millisecond

// patience waits until a context ends, and, once, for a moment more: who sees that end has yet to
// return, and what would have ended at once isn't to blame for a context that had ended before.
type patience struct {
	ctx    context.Context
	moment time.Duration
	over   context.Context // nil: the moment hasn't begun
	cancel context.CancelFunc
}

func (s *System) newPatience(ctx context.Context) *patience {
	return &patience{ctx: ctx, moment: s.moment}
}

// end frees what the wait took.
func (p *patience) end() {
	if p.cancel != nil {
		p.cancel()
	}
}

// wait reports whether what ended stands for ended in time.
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

// errTimeless is why an actor whose end waits for a timer isn't stopped by the Shutdown of a system
// without loops.
var errTimeless = errors.New("no time passes while a system without loops shuts down")

// left is the error that names the actors that haven't stopped, as in "#4, #7 and 3 more", because
// of why; nil if there is none.
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

// turnUntilEmpty runs the turns of a system that has no loops, and all that is offloaded.
func (s *System) turnUntilEmpty() {
	for busy := true; busy; {
		busy = s.move(math.MaxInt64) > 0
		for _, w := range s.workers {
			busy = w.Turn() || busy
		}
	}
}

// leaveAll closes workers that no loop runs.
func (s *System) leaveAll() {
	for _, w := range s.workers {
		w.leave()
	}
}

// closeOffloads ends the contexts of offloaded functions, and waits for the functions.
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

// endWorkers has the loops leave and waits for them.
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
