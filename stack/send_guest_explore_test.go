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

// at has f called at a scheduling point, once.
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

// TestGuestGivesUpFirst: the worker sees that a guest gives up before the guest
// has left, and answers with ErrCancelled. The guest's own reason wins.
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

// ownContext ends with an error that no worker knows.
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
// and its leaving; it is as good as any.
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

// pastContext has a deadline that has passed; its timer hasn't run.
type pastContext struct{ context.Context }

func (pastContext) Deadline() (time.Time, bool) { return time.Unix(0, 0), true }

// A deadline that lies before the zero of the system's clock is one that has passed.
func TestDeadlineBeforeTheClockBegan(t *testing.T) {
	h := newHand(t, 1)
	k := settleOn(h, 0, &keeper{})
	c := h.guests.Call(k, keeperAsk)
	*Request[int, int](c.Stack()) = 1
	at(t, "guest.waits", func() { h.turn(0) })
	require.ErrorIs(t, h.guests.Wait(pastContext{t.Context()}, c), fault.ErrTimeout)
}
