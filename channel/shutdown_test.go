package channel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
)

// busy has work without end: it asks a peer, a timer and a goroutine again and again, until it is
// stopped.
type busy struct {
	peer core.Port[int, int]
	did  *atomic.Int64
	told *atomic.Int64
}

type (
	busyRun struct {
		core.NoticeStack[int]
		peer core.Future[int]
		tick core.Future[core.Tick]
		job  core.Future[int]
	}
	busyAsk  struct{ core.AskStack[int, int] }
	busyTell struct{ core.NoticeStack[int] }
)

func (b *busy) run(s *busyRun) core.Yield {
	b.peer.Ask(s, &s.peer, 1)
	core.Timer.Ask(s, &s.tick, time.Microsecond)
	core.Offload(s, &s.job, 1, func(_ context.Context, n int) (int, error) { return n, nil })
	return core.Suspend(s, (*busy).ran)
}

func (b *busy) ran(s *busyRun) core.Yield {
	if _, err := s.peer.Get(); err != nil {
		return s.Return() // the peer stopped first
	}
	b.did.Add(1)
	return b.run(s)
}

func (b *busy) ask(s *busyAsk) core.Yield   { return s.Return(s.Req) }
func (b *busy) tell(s *busyTell) core.Yield { b.told.Add(1); return s.Return() }

var (
	busyGo     = core.HandleNotice((*busy).run)
	busyAnswer = core.Handle((*busy).ask)
	busyHear   = core.HandleNotice((*busy).tell)
)

// rush is what goes on in a world until it is shut down.
type rush struct {
	*world
	clients, guests, actors, told atomic.Int64 // what was answered
	group                         sync.WaitGroup
}

// client sends requests, several at a time, until the connection ends.
func (l *rush) client() {
	c := l.dial()
	l.group.Go(func() {
		for {
			if _, err := io.WriteString(c, "after 0 a\nb\nhold 1 c\nd\n"); err != nil {
				return
			}
			for range 4 {
				if _, err := c.r.ReadString('\n'); err != nil {
					return
				}
			}
			l.clients.Add(1)
		}
	})
}

// guest asks until there is nobody.
func (l *rush) guest(p core.Port[int, int]) {
	l.group.Go(func() {
		for {
			switch _, err := core.Ask(context.Background(), p, 1); {
			case err == nil:
				l.guests.Add(1)
			case errors.Is(err, core.ErrMailboxFull): // schedules go on where a worker gets no CPU for 0.1 s
				runtime.Gosched()
			case errors.Is(err, core.ErrStopped):
				return
			default:
				l.Errorf("a guest got %v", err)
				return
			}
		}
	})
}

// begin begins the load: connections, guests, actors that ask each other, timers, offloads,
// schedules.
func (l *rush) begin() {
	l.letGo(1)
	var all [4]core.Address[busy]
	for i := range all {
		all[i] = core.Spawn(l.system, func() *busy {
			b := &busy{did: &l.actors, told: &l.told}
			if i > 0 {
				b.peer = busyAnswer.At(all[i-1])
			}
			return b
		})
	}
	schedules := core.Spawn(l.system, func() *core.Schedules { return core.NewSchedules(time.Now) })
	for i, a := range all {
		if i > 0 {
			require.NoError(l, core.Notice(busyGo.At(a), 0))
		}
		l.guest(busyAnswer.At(a))
		l.client()
		_, err := core.Ask(l.ctx, core.SchedulesAdd.At(schedules),
			core.Schedule{Name: fmt.Sprint(i), Times: core.Every(100 * time.Microsecond), Send: core.Sending(busyHear.At(a), i)})
		require.NoError(l, err)
	}
}

// shutdownsUnderLoad shuts so many systems down while all is under way, every other one with its
// server drained, and looks for what they leave: openWorld does, for pooled objects, connections
// and descriptors.
func shutdownsUnderLoad(t *testing.T, times int) {
	for i := range times {
		before := runtime.NumGoroutine()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			l := &rush{world: openWorld(t, place{network: []string{"tcp", "unix"}[i/2%2], workers: 2}, nil)}
			if i%2 == 0 {
				l.system.OnShutdown(l.server.Drain)
			}
			l.begin()
			l.await("some of everything", func() bool {
				return min(l.clients.Load(), l.guests.Load(), l.actors.Load(), l.told.Load()) > 20
			})
			require.NoError(t, l.system.Shutdown(l.ctx))
			l.group.Wait()
			require.Zero(t, l.system.Actors())
		})
		for began := time.Now(); runtime.NumGoroutine() > before; runtime.Gosched() {
			require.Less(t, time.Since(began), lostAfter, "goroutines are left")
		}
	}
}

func TestG11ShutdownUnderLoad(t *testing.T) { shutdownsUnderLoad(t, 10) }

func TestLongShutdownUnderLoad(t *testing.T) {
	long(t)
	shutdownsUnderLoad(t, 100)
}
