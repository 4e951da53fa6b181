package house_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// The load of the long tests: a source on one worker sends notices to a sink on
// the other, 64 at a time, and asks it now and then so that the sink keeps up; a
// timer ticks beside.

type (
	sink     struct{ got uint64 }
	sinkTake struct{ core.NoticeStack[uint64] }
	sinkSum  struct {
		core.AskStack[struct{}, uint64]
	}

	source struct {
		take core.NoticePort[uint64]
		sum  core.Port[struct{}, uint64]
		sent uint64 // in the life of the actor, as the sink counts
	}
	sourceRun struct {
		// until when, on the worker's clock; answers how many were sent
		core.AskStack[int64, uint64]
		sum  core.Future[uint64]
		tick core.Future[core.Tick]
	}
)

func (k *sink) take(s *sinkTake) core.Yield { k.got += s.Msg; return s.Return() }
func (k *sink) sum(s *sinkSum) core.Yield   { return s.Return(k.got) }

func (a *source) run(s *sourceRun) core.Yield {
	if s.sum.Ready() {
		if got, err := s.sum.Get(); err != nil {
			return s.Throw(err)
		} else if got != a.sent || core.Now(s) > s.Req {
			return s.Return(got)
		}
	}
	for range 64 {
		a.take.Notice(s, 1)
	}
	a.sent += 64
	a.sum.Ask(s, &s.sum, struct{}{})
	if a.sent%(64*1024) == 0 {
		core.Timer.Ask(s, &s.tick, time.Millisecond)
	}
	return core.Suspend(s, (*source).run)
}

var (
	onTake = core.HandleNotice((*sink).take)
	onSum  = core.Handle((*sink).sum)
	onRun  = core.Handle((*source).run)
)

// longLoad is how long the load runs that must not disturb the collector.
const longLoad = time.Minute

// oneWay runs the load for d and returns how many notices arrived.
func oneWay(t *testing.T, sys *house.System, run core.Port[int64, uint64], d time.Duration) uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d+time.Minute)
	defer cancel()
	n, err := core.Ask(ctx, run, sys.Clock()+int64(d))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLongOneWayTraffic shows that a minute of traffic from one worker to the
// other neither allocates, which also means that no pool grows, nor causes a collection.
func TestLongOneWayTraffic(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG=1")
	}
	sys, err := house.New(house.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := sys.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer sys.Shutdown(context.Background())
	k := core.Spawn(sys.Workers()[0], func() *sink { return &sink{} })
	a := core.Spawn(sys.Workers()[1], func() *source { return &source{take: onTake.At(k), sum: onSum.At(k)} })
	run := onRun.At(a)
	oneWay(t, sys, run, 2*time.Second)
	before := sys.Stats()

	var from, to runtime.MemStats
	runtime.GC() // the runtime's own periodic collection is two minutes off now
	runtime.ReadMemStats(&from)
	n := oneWay(t, sys, run, longLoad)
	runtime.ReadMemStats(&to)

	t.Logf("%d notices in a minute, %d mallocs, %d collections, %d parks", n, to.Mallocs-from.Mallocs, to.NumGC-from.NumGC, sys.Stats().Parks-before.Parks)
	if to.NumGC != from.NumGC {
		t.Errorf("%d collections, want 0", to.NumGC-from.NumGC)
	}
	// The guest's context and timer are the test's own; one pooled object for each
	// notice or turn would be millions.
	if d := to.Mallocs - from.Mallocs; d > 100 {
		t.Errorf("%d mallocs in a minute, want none but the test's own", d)
	}
}
