package core_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
)

// TestNoticeWait: through the smallest mailboxes too, all that goroutines send comes, in the order
// of each.
func TestNoticeWait(t *testing.T) {
	const senders, each = 4, 500
	for _, bound := range []int{1, 2, 3, 8} {
		sys := borrowing(t, 2, 0)
		d, a := spawnDesk(t, sys, core.Bounded(bound, core.Reject))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var all sync.WaitGroup
		for from := range senders {
			all.Go(func() {
				for i := range each {
					if err := core.NoticeWait(ctx, deskTake.At(a), from*each+i); err != nil {
						t.Errorf("mailbox of %d, message %d of sender %d: %v", bound, i, from, err)
						return
					}
				}
			})
		}
		all.Wait()
		// behind all of them, once there is room
		for _, err := core.Ask(ctx, deskCount.At(a), struct{}{}); err != nil; {
			if !errors.Is(err, core.ErrMailboxFull) {
				t.Fatal(err)
			}
			_, err = core.Ask(ctx, deskCount.At(a), struct{}{})
		}
		cancel()
		ended(t, sys)
		var next [senders]int
		for _, n := range d.handled {
			if from := n / each; n%each != next[from] {
				t.Fatalf("mailbox of %d: message %d of sender %d comes behind %d others of it", bound, n%each, from, next[from])
			}
			next[n/each]++
		}
		if !slices.Equal(next[:], []int{each, each, each, each}) {
			t.Errorf("mailbox of %d: %d messages are handled, each sender sent %d", bound, next, each)
		}
	}
}

// TestNoticeWaitInVain: whoever waits for room and gets none gets an error that says why, and what
// it was to send is released.
func TestNoticeWaitInVain(t *testing.T) {
	sys := borrowing(t, 2, 0)
	_, a := spawnDesk(t, sys, core.Bounded(1, core.Reject))
	a.Pause()
	if err := core.Notice(deskTake.At(a), 0); err != nil {
		t.Fatal(err)
	}
	var freed atomic.Int32
	wants := func(ctx context.Context, want error) {
		t.Helper()
		before := freed.Load()
		if err := core.NoticeWait(ctx, deskCarry.At(a), carriage{&freed}); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if n := freed.Load() - before; n != 1 {
			t.Errorf("%v: the message is released %d times", want, n)
		}
	}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	wants(soon, core.ErrTimeout)
	over, end := context.WithCancel(t.Context())
	end()
	wants(over, core.ErrCancelled)
	fading, end := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, end)
	wants(fading, core.ErrCancelled)
	time.AfterFunc(10*time.Millisecond, a.Stop)
	wants(t.Context(), core.ErrStopped)
	ended(t, sys)
}
