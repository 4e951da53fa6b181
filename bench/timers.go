package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
)

const (
	timerMin = time.Millisecond
	timerMax = 50 * time.Millisecond
)

// clock arms timers, one in each of its stacks.
type clock struct {
	random    *rand.Rand
	latencies latency.Histogram
}

// alarm is one driver.
type alarm struct {
	core.NoticeStack[*round]
	tick core.Future[core.Tick]
	due  int64
	ops  uint64
}

var clockDrive = core.HandleNotice((*clock).drive)

func (c *clock) drive(s *alarm) core.Yield { return c.arm(s, now()) }

func (c *clock) arm(s *alarm, at int64) core.Yield {
	d := timerMin + time.Duration(c.random.Int64N(int64(timerMax-timerMin)+1))
	s.due = at + int64(d)
	core.Timer.Ask(s, &s.tick, d)
	return core.Suspend(s, (*clock).fired)
}

func (c *clock) fired(s *alarm) core.Yield {
	at := now()
	_, err := s.tick.Get()
	if err == nil && at < s.due {
		err = fmt.Errorf("a timer fired %v early", time.Duration(s.due-at))
	}
	if err != nil {
		s.Msg.fail(err)
		return s.Return()
	}
	s.ops++
	c.latencies.Record(time.Duration(at - s.due))
	if s.Msg.over(at) {
		s.Msg.leave(s.ops)
		return s.Return()
	}
	return c.arm(s, at)
}

func timers(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load {
		c := &clock{random: rand.New(rand.NewPCG(1, 2))}
		to := clockDrive.At(roomy(sys.Workers()[0], func() *clock { return c }))
		return load{
			drivers:   o.timers,
			latencies: []*latency.Histogram{&c.latencies},
			start: func(r *round) {
				for range o.timers {
					core.Notice(to, r)
				}
			},
		}
	})
}
