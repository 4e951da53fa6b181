package house

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// ShutdownHook is something to do in a shutdown; see System.AddShutdownHook.
type ShutdownHook struct {
	// Name stands before the hook's error in the outcome of Shutdown. Empty: nothing does.
	Name string
	// Order says when the hook runs: lower ones first; among equals, the last registered first.
	Order int
	// After means that the hook runs when actors, offloaded functions and workers have ended or
	// were abandoned: to close what they used. Otherwise it runs while actors still answer: to stop
	// accepting, and to finish what is in flight.
	After bool
	// Run is called once, on a goroutine of its own. Its context is Shutdown's, which may have
	// ended already. A hook that hasn't returned a tenth of a second after the end of the context,
	// and after its own beginning, is abandoned. A panic counts as its error.
	Run func(ctx context.Context) error
}

// OnShutdown is AddShutdownHook for a function alone. Any goroutine may call it.
func (s *System) OnShutdown(f func(context.Context) error) {
	s.AddShutdownHook(ShutdownHook{Run: f})
}

// AddShutdownHook has h run in the shutdown. If that has begun already, h doesn't run. It panics if
// h has no Run. Any goroutine may call it.
func (s *System) AddShutdownHook(h ShutdownHook) {
	if h.Run == nil {
		panic("house: a ShutdownHook without Run")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, h)
}

// runHooks runs the hooks with the given After, in their order.
func (s *System) runHooks(ctx context.Context, hooks []ShutdownHook, after bool) error {
	hooks = slices.DeleteFunc(slices.Clone(hooks), func(h ShutdownHook) bool { return h.After != after })
	slices.Reverse(hooks)
	slices.SortStableFunc(hooks, func(a, b ShutdownHook) int { return cmp.Compare(a.Order, b.Order) })
	var errs []error
	for _, h := range hooks {
		err := h.run(ctx, s.newPatience(ctx))
		if err != nil && h.Name != "" {
			err = fmt.Errorf("house: shutdown hook %s: %w", h.Name, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// run runs the hook until it returns or is abandoned.
func (h ShutdownHook) run(ctx context.Context, m *patience) (err error) {
	defer m.end()
	ended := make(chan struct{})
	var outcome error
	go func() {
		defer close(ended)
		returned := false
		defer func() {
			if value := recover(); value != nil {
				outcome = fmt.Errorf("panic: %v", value)
			} else if !returned {
				outcome = errors.New("runtime.Goexit was called")
			}
		}()
		outcome = h.Run(ctx)
		returned = true
	}()
	if !m.wait(ended) {
		return abandoned{fmt.Errorf("it hasn't returned: %w", ctx.Err())}
	}
	return outcome
}
