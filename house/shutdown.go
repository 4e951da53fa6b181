package house

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	if s.config.Manual {
		s.turnUntilEmpty()
	}
	if !ran {
		s.leaveAll()
		return errors.Join(append(errs, s.offload.close(ctx))...)
	}
	select {
	case <-s.empty:
	case <-ctx.Done():
		errs = append(errs, fmt.Errorf("house: %d actors didn't stop: %w", s.Actors(), ctx.Err()))
	}
	errs = append(errs, s.offload.close(ctx), s.endWorkers(ctx))
	return errors.Join(errs...)
}

// close enters the closing phase and returns the houses to stop.
func (s *System) close() (all []*stack.House) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = closing
	if s.count == 0 {
		close(s.empty)
	}
	for h := s.first; h != nil; h = h.Register.Next {
		all = append(all, h)
	}
	return all
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
	}
}

// endWorkers has the loops leave and waits for them.
func (s *System) endWorkers(ctx context.Context) error {
	for _, w := range s.workers {
		w.leaving.Store(true)
		w.poller.Wake()
	}
	for i, w := range s.workers {
		select {
		case <-w.gone:
		case <-ctx.Done():
			return fmt.Errorf("house: worker %d is still in a handler: %w", i, ctx.Err())
		}
	}
	s.closePollers()
	return nil
}
