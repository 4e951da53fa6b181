package house

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stackhouse-go/stackhouse/stack"
)

// shutdown is the one run of Shutdown's work.
func (s *System) shutdown(ctx context.Context, drains []func(context.Context) error, ran bool) error {
	var errs []error
	for _, f := range slices.Backward(drains) {
		errs = append(errs, f(ctx))
	}
	for _, h := range s.close() {
		h.Stop(&s.guests)
	}
	if !ran {
		s.turnUntilEmpty()
		s.leaveAll()
		return errors.Join(append(errs, s.offload.close(ctx))...)
	}
	select {
	case <-s.empty:
	case <-ctx.Done():
		if left := s.abandoned(); left != "" {
			errs = append(errs, fmt.Errorf("house: actors didn't stop: %s: %w", left, ctx.Err()))
		}
	}
	errs = append(errs, s.offload.close(ctx), s.endWorkers(ctx))
	return errors.Join(errs...)
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

// abandoned names the actors that haven't stopped, as in "#4, #7 and 3 more".
func (s *System) abandoned() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, h := range s.houses.last(abandonedMax) {
		names = append(names, fmt.Sprintf("#%d", h.Serial()))
	}
	left := strings.Join(names, ", ")
	if more := s.houses.count() - len(names); more > 0 {
		left += fmt.Sprintf(" and %d more", more)
	}
	return left
}

// turnUntilEmpty runs the turns of a system that has no loops.
func (s *System) turnUntilEmpty() {
	for busy := true; busy; {
		busy = false
		for _, w := range s.workers {
			busy = w.Turn() || busy
		}
	}
}

// leaveAll closes workers that no loop runs.
func (s *System) leaveAll() {
	for _, w := range s.workers {
		w.hot.Leave()
		w.publish()
	}
}

// endWorkers has the loops leave and waits for them.
func (s *System) endWorkers(ctx context.Context) error {
	for _, w := range s.workers {
		w.leaving.Store(true)
		w.poller.Wake()
	}
	var errs []error
	for i, w := range s.workers {
		if !waitFor(ctx, w.gone) {
			errs = append(errs, fmt.Errorf("house: worker %d hasn't left: %w", i, ctx.Err()))
		}
	}
	return errors.Join(errs...)
}

// waitFor reports whether what ended stands for ended, before ctx did.
func waitFor(ctx context.Context, ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	case <-ctx.Done():
	}
	select { // both may have come
	case <-ended:
		return true
	default:
		return false
	}
}
