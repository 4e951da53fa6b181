//go:build explore

package stack

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// at has f called once, at the scheduling point where.
func at(t *testing.T, where string, f func()) {
	t.Helper()
	before, done := invariant.AtPoint, false
	t.Cleanup(func() { invariant.AtPoint = before })
	invariant.AtPoint = func(here string) {
		if before != nil {
			before(here)
		}
		if here == where && !done {
			done = true
			f()
		}
	}
}

// TestGuestGivesUpFirst: the worker sees that a guest gives up before its Call is
// gone, and answers with ErrCancelled. Wait returns the guest's own reason.
func TestGuestGivesUpFirst(t *testing.T) {
	h := newHand(t, 1)
	k := settleOn(h, 0, &keeper{})
	ctx := &ownContext{t.Context(), make(chan struct{})}
	at(t, "inbox.ring", func() { close(ctx.done) })
	at(t, "guest.gone", func() { h.turn(0) })
	c := h.guests.Call(k, keeperAsk)
	*Request[int, int](c.Stack()) = 1
	if err := h.guests.Wait(ctx, c); err != errOwn {
		t.Errorf("error %v, want the guest's own", err)
	}
}

// ownContext is a context that ends with an error that isn't of package context.
type ownContext struct {
	context.Context
	done chan struct{}
}

func (c *ownContext) Done() <-chan struct{} { return c.done }

func (c *ownContext) Err() error {
	select {
	case <-c.done:
		return errOwn
	default:
		return nil
	}
}

var errOwn = errors.New("the guest's own")

// TestGuestGivesUpLast: the answer comes between the end of the guest's context
// and Leave: then Wait returns it.
func TestGuestGivesUpLast(t *testing.T) {
	h := newHand(t, 1)
	k := settleOn(h, 0, &keeper{})
	ctx, cancel := context.WithCancel(t.Context())
	at(t, "inbox.ring", cancel)
	at(t, "guest.gone", func() {
		for s := k.inbox.Load(); s != nil; s = s.next {
			s.cancelled.LetBegin() // as if the worker had looked before
		}
		h.turn(0)
	})
	c := h.guests.Call(k, keeperAsk)
	s := c.Stack()
	*Request[int, int](s) = 1
	err := h.guests.Wait(ctx, c)
	if err != nil || *Reply[int](s) != 1 {
		t.Fatalf("error %v, reply %d", err, *Reply[int](s))
	}
	h.guests.Done(c)
}

// pastContext is a context whose deadline has passed, and whose timer hasn't run.
type pastContext struct{ context.Context }

func (pastContext) Deadline() (time.Time, bool) { return time.Unix(0, 0), true }

// A deadline before the zero of the system's clock has passed.
func TestDeadlineBeforeTheClockBegan(t *testing.T) {
	h := newHand(t, 1)
	k := settleOn(h, 0, &keeper{})
	c := h.guests.Call(k, keeperAsk)
	*Request[int, int](c.Stack()) = 1
	at(t, "guest.waits", func() { h.turn(0) })
	require.ErrorIs(t, h.guests.Wait(pastContext{t.Context()}, c), fault.ErrTimeout)
}
