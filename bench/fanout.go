package main

import (
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
)

// width is how many actors a fan asks at once.
const width = 8

// fan asks several actors and goes on when all have answered.
type fan struct {
	to        [width]core.Port[question, answer]
	latencies latency.Histogram
}

// spread is its driver.
type spread struct {
	core.NoticeStack[*round]
	replies [width]core.Future[answer]
	ops     uint64
	asked   int64 // when, if this one is timed; 0: it isn't
}

var fanDrive = core.HandleNotice((*fan).ask)

func (f *fan) ask(s *spread) core.Yield {
	s.asked = sent(s.ops)
	for i := range f.to {
		f.to[i].Ask(s, &s.replies[i], question{s.ops + uint64(i)})
	}
	return core.Suspend(s, (*fan).answered)
}

func (f *fan) answered(s *spread) core.Yield {
	for i := range s.replies {
		rep, err := s.replies[i].Get()
		if err == nil {
			err = rep.right(s.ops + uint64(i))
		}
		if err != nil {
			s.Msg.fail(err)
			return s.Return()
		}
	}
	s.ops++
	if s.asked != 0 {
		at := now()
		f.latencies.Record(time.Duration(at - s.asked))
		if s.Msg.over(at) {
			s.Msg.leave(s.ops)
			return s.Return()
		}
	}
	return f.ask(s)
}

func fanout8(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load {
		f := &fan{}
		var callees [width]core.Address[echo]
		for i := range callees {
			callees[i] = core.Spawn(sys.Workers()[0], func() *echo { return &echo{} })
			f.to[i] = echoAnswer.At(callees[i])
		}
		from := fanDrive.At(core.Spawn(sys.Workers()[0], func() *fan { return f }))
		return load{
			drivers:   1,
			latencies: []*latency.Histogram{&f.latencies},
			start:     func(r *round) { core.Notice(from, r) },
			check: func(done uint64) error {
				for _, callee := range callees {
					if err := expect(callee)(done); err != nil {
						return err
					}
				}
				return nil
			},
		}
	})
}
