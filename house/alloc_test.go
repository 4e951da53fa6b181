//go:build linux && !portable

// The portable poller waits on a channel, for which the Go runtime allocates now and then.

package house_test

import (
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// A loader does operations of one kind with a target, on several stacks at once.
// What is in flight is bounded, so that the pools find their size soon.

type (
	target       struct{ got uint64 }
	targetAskS   struct{ core.AskStack[uint64, uint64] }
	targetBatchS struct {
		core.BatchAskStack[uint64, uint64]
	}
	targetTakeS struct{ core.NoticeStack[uint64] }

	loader struct {
		ask   core.Port[uint64, uint64]
		batch core.Port[uint64, uint64]
		take  core.NoticePort[uint64]
	}
	loadLanes struct { // a whole load: lanes times count/lanes operations
		core.AskStack[load, uint64]
		f [256]core.Future[uint64]
	}
	loadLane struct { // operations one after the other
		core.AskStack[int, uint64]
		f    [64]core.Future[uint64]
		tick core.Future[core.Tick]
		left int
		sum  uint64
	}
	load struct {
		Lanes, Count int
		Lane         core.Port[int, uint64]
	}
)

func (t *target) ask(s *targetAskS) core.Yield     { t.got++; return s.Return(s.Req + 1) }
func (t *target) take(s *targetTakeS) core.Yield   { t.got++; return s.Return() }
func (t *target) batch(s *targetBatchS) core.Yield { t.got += uint64(s.Len()); return s.ReturnAll(1) }

// load runs the lanes and adds up what they did.
func (l *loader) load(s *loadLanes) core.Yield {
	for i := range s.Req.Lanes {
		s.Req.Lane.Ask(s, &s.f[i], s.Req.Count/s.Req.Lanes)
	}
	return core.Suspend(s, (*loader).loaded)
}

func (l *loader) loaded(s *loadLanes) core.Yield {
	sum := uint64(0)
	for i := range s.Req.Lanes {
		n, err := s.f[i].Get()
		if err != nil {
			return s.Throw(err)
		}
		sum += n
	}
	return s.Return(sum)
}

// collect adds up n answers, each of which stands for ops operations.
func (s *loadLane) collect(n, ops int) (err error) {
	for i := range n {
		if !s.f[i].Ready() {
			return nil // the first step
		}
		if _, err := s.f[i].Get(); err != nil {
			return err
		}
		s.sum += uint64(ops)
		s.left -= ops
	}
	return nil
}

func (s *loadLane) begin() {
	if s.left == 0 && s.sum == 0 {
		s.left = s.Req
	}
}

// asks is one ask after the other.
func (l *loader) asks(s *loadLane) core.Yield {
	s.begin()
	if err := s.collect(1, 1); err != nil {
		return s.Throw(err)
	}
	if s.left == 0 {
		return s.Return(s.sum)
	}
	l.ask.Ask(s, &s.f[0], 1)
	return core.Suspend(s, (*loader).asks)
}

// fanOuts is eight asks at once, again and again.
func (l *loader) fanOuts(s *loadLane) core.Yield {
	s.begin()
	if err := s.collect(8, 1); err != nil {
		return s.Throw(err)
	}
	if s.left == 0 {
		return s.Return(s.sum)
	}
	for i := range 8 {
		l.ask.Ask(s, &s.f[i], 1)
	}
	return core.Suspend(s, (*loader).fanOuts)
}

// batches is 64 asks at once of a handler that takes them together.
func (l *loader) batches(s *loadLane) core.Yield {
	s.begin()
	if err := s.collect(64, 1); err != nil {
		return s.Throw(err)
	}
	if s.left == 0 {
		return s.Return(s.sum)
	}
	for i := range 64 {
		l.batch.Ask(s, &s.f[i], 1)
	}
	return core.Suspend(s, (*loader).batches)
}

// notices is 63 notices and an ask, so that the target keeps up.
func (l *loader) notices(s *loadLane) core.Yield {
	s.begin()
	if err := s.collect(1, 64); err != nil {
		return s.Throw(err)
	}
	if s.left == 0 {
		return s.Return(s.sum)
	}
	for range 63 {
		l.take.Notice(s, 1)
	}
	l.ask.Ask(s, &s.f[0], 1)
	return core.Suspend(s, (*loader).notices)
}

// timers is one timer after the other.
func (l *loader) timers(s *loadLane) core.Yield {
	s.begin()
	if s.tick.Ready() {
		if _, err := s.tick.Get(); err != nil {
			return s.Throw(err)
		}
		s.sum++
		s.left--
	}
	if s.left == 0 {
		return s.Return(s.sum)
	}
	core.Timer.Ask(s, &s.tick, time.Microsecond)
	return core.Suspend(s, (*loader).timers)
}

var (
	onTargetAsk   = core.Handle((*target).ask)
	onTargetBatch = core.HandleBatch((*target).batch, 64)
	onTargetTake  = core.HandleNotice((*target).take)

	onLoad    = core.Handle((*loader).load)
	onAsks    = core.Handle((*loader).asks)
	onFanOuts = core.Handle((*loader).fanOuts)
	onBatches = core.Handle((*loader).batches)
	onNotices = core.Handle((*loader).notices)
	onTimers  = core.Handle((*loader).timers)
)

// operations is how many a single guest's ask does, so that its own cost is none.
const operations = 1_000_000

// zeroAlloc does a million operations of one kind on one worker, then across
// two: the lanes on one, the target on the other; timers on the target's side.
func zeroAlloc(t *testing.T, lanes int, kind core.Handler[loader, int, uint64], away bool) {
	if invariant.Race {
		t.Skip("the race detector makes a million operations long, and finds nothing here that it doesn't elsewhere")
	}
	for across, name := range []string{"one worker", "two workers"} {
		t.Run(name, func(t *testing.T) {
			// The mailbox has room for what 16 lanes send at once, though the number that others
			// see is behind.
			sys := started(t, house.Config{Workers: 2, AskTimeout: 10 * time.Minute, MailboxMax: 4096})
			to := core.Spawn(sys.Workers()[across], func() *target { return &target{} })
			at := func(worker int) core.Address[loader] {
				return core.Spawn(sys.Workers()[worker], func() *loader {
					return &loader{ask: onTargetAsk.At(to), batch: onTargetBatch.At(to), take: onTargetTake.At(to)}
				})
			}
			near := at(0)
			lane := kind.At(near)
			if away {
				lane = kind.At(at(across))
			}
			count := operations / (64 * lanes) * 64 * lanes
			run := func(lanes, n int) {
				// Not core.Ask, whose select and timer the runtime must find room for.
				if got, err := core.Begin(onLoad.At(near), load{lanes, n, lane}).Get(); err != nil || got != uint64(n) {
					t.Fatalf("%d of %d operations, %v", got, n, err)
				}
			}
			for range 10 { // twice as much in flight
				run(2*lanes, 2*64*lanes)
			}
			for range 100 { // the runtime caches for each P what a goroutine needs to wait
				run(1, 64)
			}
			housetest.ZeroAlloc(t, count, func(n int) { run(lanes, n) })
		})
	}
}

func TestZeroAllocNotice(t *testing.T) { zeroAlloc(t, 8, onNotices, false) }
func TestZeroAllocAsk(t *testing.T)    { zeroAlloc(t, 128, onAsks, false) }
func TestZeroAllocFanOut(t *testing.T) { zeroAlloc(t, 16, onFanOuts, false) }
func TestZeroAllocBatch(t *testing.T)  { zeroAlloc(t, 4, onBatches, false) }
func TestZeroAllocTimer(t *testing.T)  { zeroAlloc(t, 64, onTimers, true) }

// TestZeroAllocFindsOne: a single malloc in the million is found.
func TestZeroAllocFindsOne(t *testing.T) {
	probe := &findings{TB: t}
	var kept *[64]byte
	housetest.ZeroAlloc(probe, operations, func(n int) {
		for i := range n {
			if i == n/2 {
				kept = new([64]byte)
			}
		}
	})
	if kept == nil || probe.errors != 1 {
		t.Errorf("%d findings, want 1", probe.errors)
	}
}

// findings counts errors instead of failing.
type findings struct {
	testing.TB
	errors int
}

func (f *findings) Helper()               {}
func (f *findings) Errorf(string, ...any) { f.errors++ }
