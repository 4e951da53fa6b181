package main

import (
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
)

// note is one message. The channels have the same.
type note struct {
	N    uint64
	Sent int64 // when, if this one is timed; 0: it isn't
}

// sent returns the time if the i-th message is to be timed.
func sent(i uint64) int64 {
	if i%sampled == 0 {
		return now()
	}
	return 0
}

// sink counts notes.
type sink struct {
	count     uint64
	latencies latency.Histogram
}

var (
	sinkTake  = core.HandleNotice((*sink).take)
	sinkCount = core.Handle((*sink).counted)
)

func (k *sink) take(s *core.NoticeStack[note]) core.Yield {
	k.count += s.Msg.N
	if s.Msg.Sent != 0 {
		k.latencies.Record(time.Duration(now() - s.Msg.Sent))
	}
	return s.Return()
}

func (k *sink) counted(s *core.AskStack[struct{}, uint64]) core.Yield { return s.Return(k.count) }

// source sends notes in bursts. Behind each burst goes an ask, which bounds what
// is under way and tells whether all before it was handled.
type source struct {
	to    core.NoticePort[note]
	count core.Port[struct{}, uint64]
	burst uint64
	sent  uint64
}

// bursts is one driver.
type bursts struct {
	core.NoticeStack[*round]
	count core.Future[uint64]
	sent  uint64 // by the source, when this stack asked
	ops   uint64
}

var sourceDrive = core.HandleNotice((*source).send)

func (a *source) send(s *bursts) core.Yield {
	for i := range a.burst {
		a.to.Notice(s, note{1, sent(i)})
	}
	s.ops += a.burst
	a.sent += a.burst
	s.sent = a.sent
	a.count.Ask(s, &s.count, struct{}{})
	return core.Suspend(s, (*source).counted)
}

func (a *source) counted(s *bursts) core.Yield {
	n, err := s.count.Get()
	if err == nil && n != s.sent {
		err = fmt.Errorf("%d notices were handled before the ask behind %d", n, s.sent)
	}
	switch {
	case err != nil:
		s.Msg.fail(err)
	case s.Msg.over(now()):
		s.Msg.leave(s.ops)
	default:
		return a.send(s)
	}
	return s.Return()
}

// noticeLoad has a source on worker 0 send to a sink on the worker given.
func noticeLoad(sys *house.System, on, drivers int, burst uint64) load {
	k := &sink{} // read here while the system rests
	to := core.Spawn(sys.Workers()[on], func() *sink { return k })
	from := sourceDrive.At(core.Spawn(sys.Workers()[0], func() *source {
		return &source{to: sinkTake.At(to), count: sinkCount.At(to), burst: burst}
	}))
	return load{
		drivers:   drivers,
		latencies: []*latency.Histogram{&k.latencies},
		check: func(done uint64) error {
			if k.count != done {
				return fmt.Errorf("%d notices were sent and %d handled", done, k.count)
			}
			return nil
		},
		start: func(r *round) {
			for range drivers {
				core.Notice(from, r)
			}
		},
	}
}

func noticeLocal(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load { return noticeLoad(sys, 0, 1, 128) })
}

func noticeCross(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load { return noticeLoad(sys, 1, 4, 128) })
}
