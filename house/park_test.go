package house_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// A passer passes what it is asked on to the next, if there is one.
type passer struct{ next core.Port[int, int] }

type passing struct {
	core.AskStack[int, int]
	f core.Future[int]
}

func (p *passer) pass(s *passing) core.Yield {
	if p.next == (core.Port[int, int]{}) {
		return s.Return(s.Req + 1)
	}
	p.next.Ask(s, &s.f, s.Req)
	return core.Suspend(s, (*passer).passed)
}

func (p *passer) passed(s *passing) core.Yield {
	n, err := s.f.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n + 1)
}

var onPass = core.Handle((*passer).pass)

// parkCycles has guests ask, one call after the other, an actor that asks one on another worker,
// until the workers have parked often. Nobody spins or borrows, so that each call wakes
// threads; a wake-up that is lost ends a call by its deadline.
func parkCycles(t *testing.T, parks uint64) {
	sys := started(t, house.Config{Workers: 2, Spin: -1, LockThreads: true})
	workers := sys.Workers()
	last := core.Spawn(workers[1], func() *passer { return &passer{} })
	first := core.Spawn(workers[0], func() *passer { return &passer{next: onPass.At(last)} })
	done := make(chan error, 2)
	for range cap(done) {
		go func() {
			for n := 0; ; n++ {
				got, err := core.Ask(context.Background(), onPass.At(first), n)
				if err != nil || got != n+2 {
					t.Errorf("%d, %v; want %d", got, err, n+2)
				}
				if err != nil || n%1000 == 0 && sys.Stats().Parks >= parks {
					done <- err
					return
				}
			}
		}()
	}
	began := time.Now()
	for range cap(done) {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	st := sys.Stats()
	t.Logf("%d parks, of which %d were ended by a message, in %v", st.Parks, st.Woken, time.Since(began).Round(time.Second))
}

func TestG4ParkCycles(t *testing.T) { parkCycles(t, 10_000) }

// TestLongParkCycles: a million parks, and not one wake-up lost.
func TestLongParkCycles(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG=1")
	}
	parkCycles(t, 1_000_000)
}
