package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
)

// load is a scenario that is ready to run rounds.
type load struct {
	drivers   int                  // how many start starts
	start     func(r *round)       // starts the drivers; it may be one itself
	latencies []*latency.Histogram // where they record; each has one writer

	// whether the operations of all rounds were done; nil: each was looked at
	check func(done uint64) error
	meter func() (memory, error) // nil: this process
	note  func() (string, error) // nil: none
}

// warmUp is the part of the measured length that the warm-up round takes.
const warmUp = 5

// measure runs a warm-up round, then the one whose figures count.
func (l load) measure(o options) (result, error) {
	if l.meter == nil {
		l.meter = allocated
	}
	warm, measured := &round{warm: true}, &round{}
	if err := l.run(warm, o.length/warmUp); err != nil {
		return result{}, fmt.Errorf("warm-up: %w", err)
	}
	for _, h := range l.latencies {
		*h = latency.Histogram{}
	}
	runtime.GC()
	before, err := l.meter()
	if err != nil {
		return result{}, err
	}
	cpu := cpuTime()
	start := now()
	if err := l.run(measured, o.length); err != nil {
		return result{}, err
	}
	if cpu != unknown {
		cpu = cpuTime() - cpu
	}
	after, err := l.meter()
	if err != nil {
		return result{}, err
	}
	res := result{ops: measured.ops.Load(), elapsed: time.Duration(measured.ended.Load() - start), used: after.since(before), cpu: cpu}
	res.p = quantiles(l.latencies)
	if l.check != nil {
		err = l.check(warm.ops.Load() + res.ops)
	}
	if err == nil && l.note != nil {
		res.note, err = l.note()
	}
	return res, err
}

func (l load) run(r *round, length time.Duration) error {
	r.until = now() + int64(length)
	r.drivers.Store(int64(l.drivers))
	l.start(r)
	return r.wait()
}

// quantiles puts the histograms, whose writers rest, together.
func quantiles(all []*latency.Histogram) [4]int64 {
	var one, sum latency.Snapshot
	for _, h := range all {
		h.Publish()
		h.Snapshot(&one)
		sum.Merge(&one)
	}
	return [4]int64{int64(sum.Quantile(0.5)), int64(sum.Quantile(0.99)), int64(sum.Quantile(0.999)), int64(sum.Max())}
}

// withSystem measures a load of actors. prepare spawns them.
func withSystem(o options, prepare func(sys *house.System) load) (result, error) {
	// Actors stay where they are born: those of a scenario share counts, and that is its subject.
	return withConfig(house.Config{Workers: o.workers, Spin: o.spin, LockThreads: o.lock, ShareAfter: -1}, o, prepare)
}

// withConfig is withSystem with a configuration of its own.
func withConfig(c house.Config, o options, prepare func(sys *house.System) load) (res result, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	sys, err := house.New(c)
	if err != nil {
		return res, err
	}
	if err = sys.Start(ctx); err != nil {
		return res, err
	}
	if err = rouse(ctx, sys, c.Spin); err == nil {
		res, err = prepare(sys).measure(o)
	}
	ctx, cancel = context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err = errors.Join(err, sys.Shutdown(ctx)); err != nil {
		return res, err
	}
	if n := sys.Outstanding(); n != 0 {
		return res, fmt.Errorf("%d pooled objects are still out after shutdown", n)
	}
	return res, nil
}

// rouse wakes every worker a few times after it had time to park.
func rouse(ctx context.Context, sys *house.System, spin time.Duration) error {
	for _, w := range sys.Workers() {
		at := core.Spawn(w, func() *echo { return &echo{} })
		for i := range uint64(3) {
			// many times what a worker spins by default
			time.Sleep(time.Millisecond + 2*max(0, spin))
			if _, err := ask(ctx, echoAnswer.At(at), i); err != nil {
				return fmt.Errorf("rouse: %w", err)
			}
		}
		if err := at.StopWait(ctx); err != nil {
			return fmt.Errorf("rouse: %w", err)
		}
	}
	return nil
}

// roomy spawns an actor for as many messages as come.
func roomy[A any](at core.Place, factory func() *A) core.Address[A] {
	a, err := core.SpawnWith(at, factory, core.Props{Mailbox: core.Unbounded()})
	if err != nil {
		panic(err)
	}
	return a
}
