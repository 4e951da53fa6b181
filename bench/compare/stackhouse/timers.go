package stackhouse

import (
	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
	"github.com/stackhouse-go/stackhouse/core"
)

// clock arms timers, one in a stack each, a burst at a time.
type clock struct {
	self  core.NoticePort[struct{}]
	wait  core.NoticePort[greeting]
	order order
	armed int
}

// alarm is one timer.
type alarm struct {
	core.NoticeStack[greeting]
	tick core.Future[core.Tick]
}

var (
	clockBegin = core.HandleNotice((*clock).begin)
	clockArm   = core.HandleNotice((*clock).arm)
	clockWait  = core.HandleNotice((*clock).set)
)

// begin starts an order of N timers.
func (c *clock) begin(s *core.NoticeStack[order]) core.Yield {
	self := core.Self[clock](s)
	c.self, c.wait = clockArm.At(self), clockWait.At(self)
	c.order, c.armed = s.Msg, 0
	c.self.Notice(s, struct{}{})
	return s.Return()
}

func (c *clock) arm(s *core.NoticeStack[struct{}]) core.Yield {
	for last := min(c.armed+burstSize, c.order.N); c.armed < last; c.armed++ {
		c.wait.Notice(s, greeting{uint64(c.armed + 1), c.order.Tally})
	}
	if c.armed < c.order.N {
		c.self.Notice(s, struct{}{})
	}
	return s.Return()
}

func (c *clock) set(s *alarm) core.Yield {
	core.Timer.Ask(s, &s.tick, measure.Soon(int(s.Msg.Number-1)))
	return core.Suspend(s, (*clock).fired)
}

func (c *clock) fired(s *alarm) core.Yield {
	if _, err := s.tick.Get(); err != nil {
		s.Msg.Tally.Fail(err)
		return s.Return()
	}
	s.Msg.Tally.Report(s.Msg.Number)
	return s.Return()
}

func timers() (*measure.Work, error) {
	sys, err := start()
	if err != nil {
		return nil, err
	}
	at := core.Spawn(sys, func() *clock { return &clock{} })
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		tally := measure.NewTally(n)
		if err := core.Notice(clockBegin.At(at), order{n, tally}); err != nil {
			return 0, err
		}
		return n, tally.Wait(measure.Sum(n))
	}}, nil
}
