package stack

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/internal/turns"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// expired is a context whose time is up. It panics if it is asked for its error again and again.
type expired struct {
	context.Context
	asked int
}

func (e *expired) Err() error {
	if e.asked++; e.asked > 10 {
		panic("a context that has ended is asked again and again")
	}
	return context.DeadlineExceeded
}

// WaitStop goes on waiting when the default deadline of asks has passed, and ends with its context.
func TestWaitStop(t *testing.T) {
	h := newHand(t, 1)
	h.guests.AskTimeout, h.guests.Clock = 1, func() int64 { return 1 }
	to := settleOn(h, 0, &ledger{})
	require.ErrorIs(t, h.guests.WaitStop(&expired{Context: t.Context()}, to), fault.ErrTimeout)
	outcome := make(chan error, 1)
	go func() { outcome <- h.guests.WaitStop(t.Context(), to) }()
	for s := to.inbox.Load(); len(outcome) == 0 && (s == nil || s.next == nil); s = to.inbox.Load() {
		runtime.Gosched() // until WaitStop has asked twice
	}
	for len(outcome) == 0 {
		h.settle()
		runtime.Gosched()
	}
	require.NoError(t, <-outcome)
	require.True(t, to.Gone())
}

// hasty is a context with a deadline far away, which ends soon after somebody begins to wait.
type hasty struct{ impatient }

func (h *hasty) Deadline() (time.Time, bool) { return time.Now().Add(time.Hour), true }

func (h *hasty) Done() <-chan struct{} {
	h.waited = true
	done := make(chan struct{})
	time.AfterFunc(10*time.Millisecond, func() { close(done) })
	return done
}

// The default deadline of asks, which passes first here, doesn't count for a guest whose context
// has a deadline.
func TestDeadlineOfTheContextAlone(t *testing.T) {
	h := newHand(t, 1)
	h.guests.AskTimeout = 1
	c := h.guests.Call(settleOn(h, 0, &clerk{}), clerkAsk)
	require.ErrorIs(t, h.guests.Wait(&hasty{impatient{Context: t.Context()}}, c), fault.ErrCancelled)
}

// A step can't wait for room.
func TestWaitForRoomInAStep(t *testing.T) {
	h := newHand(t, 1)
	w := h.workers[0]
	to, factory := NewHouse(func() *ledger { return &ledger{} })
	to.Mailbox(MailboxRules{Max: 1})
	h.drivers[0].Register(to, factory, w)
	say := func() error {
		return TellWait(&impatient{Context: t.Context()}, &h.guests, to, ledgerShort, &words{0, 1})
	}
	defer turns.Begin().End()
	require.NoError(t, say(), "there is room")
	require.ErrorIs(t, say(), fault.ErrBlockingOnWorker)
}
