package stackhouse

import (
	"context"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
	"github.com/stackhouse-go/stackhouse/core"
)

// counter sums what it is told, and reports when it was told all of an order.
type counter struct {
	order order
	told  int
	sum   uint64
}

var (
	counterExpect = core.HandleNotice((*counter).expect)
	counterAdd    = core.HandleNotice((*counter).add)
	counterTold   = core.Handle((*counter).count)
)

func newCounter() *counter { return &counter{} }

func (c *counter) expect(s *core.NoticeStack[order]) core.Yield {
	*c = counter{order: s.Msg}
	return s.Return()
}

func (c *counter) add(s *core.NoticeStack[uint64]) core.Yield {
	c.sum += s.Msg
	c.told++
	if c.told == c.order.N {
		c.order.Tally.Report(c.sum)
	}
	return s.Return()
}

// count answers what was told so far.
func (c *counter) count(s *core.AskStack[struct{}, uint64]) core.Yield { return s.Return(c.sum) }

// tell has goroutines tell an actor.
func tell(producers int) measure.Make {
	return func() (*measure.Work, error) {
		sys, err := start()
		if err != nil {
			return nil, err
		}
		to := core.Spawn(sys, newCounter)
		return &measure.Work{
			Close: stop(sys),
			Do: func(n int) (int, error) {
				tally := measure.NewTally(1)
				if err := core.Notice(counterExpect.At(to), order{n, tally}); err != nil {
					return 0, err
				}
				for p := range producers {
					go func() {
						for i := p + 1; i <= n; i += producers {
							if err := core.NoticeWait(context.Background(), counterAdd.At(to), uint64(i)); err != nil {
								tally.Fail(err)
								return
							}
						}
					}()
				}
				return n, tally.Wait(measure.Sum(n))
			},
		}, nil
	}
}

// source tells a counter numbers, in bursts.
type source struct {
	to    core.NoticePort[uint64]
	told  core.Port[struct{}, uint64]
	width int // bursts under way
	order order
	next  int
}

// burst is one of those that are under way.
type burst struct {
	core.NoticeStack[order]
	sum core.Future[uint64]
}

const burstSize = 128

var (
	sourceBegin = core.HandleNotice((*source).begin)
	sourceSend  = core.HandleNotice((*source).send)
)

// begin starts an order.
func (a *source) begin(s *core.NoticeStack[order]) core.Yield {
	a.order, a.next = s.Msg, 1
	for range a.width {
		sourceSend.At(core.Self[source](s)).Notice(s, s.Msg)
	}
	return s.Return()
}

func (a *source) send(s *burst) core.Yield {
	for last := min(a.next+burstSize, a.order.N+1); a.next < last; a.next++ {
		// no more are under way than a mailbox takes
		if err := a.to.Notice(s, uint64(a.next)); err != nil {
			a.order.Tally.Fail(err)
			return s.Return()
		}
	}
	a.told.Ask(s, &s.sum, struct{}{})
	return core.Suspend(s, (*source).handled)
}

// handled goes on when all of a burst was handled.
func (a *source) handled(s *burst) core.Yield {
	if _, err := s.sum.Get(); err != nil {
		a.order.Tally.Fail(err)
		return s.Return()
	}
	if a.next <= a.order.N {
		return a.send(s)
	}
	return s.Return()
}

// tellActor has an actor tell one on its worker, a burst at a time.
func tellActor() (*measure.Work, error) { return tellOn(0, 1) }

// tellCross has an actor tell one on another worker; while a burst is handled there
// others are sent.
func tellCross() (*measure.Work, error) { return tellOn(1, 4) }

func tellOn(worker, width int) (*measure.Work, error) {
	sys, err := start()
	if err != nil {
		return nil, err
	}
	to := core.Spawn(sys.Workers()[worker], newCounter)
	from := core.Spawn(sys.Workers()[0], func() *source {
		return &source{to: counterAdd.At(to), told: counterTold.At(to), width: width}
	})
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		tally := measure.NewTally(1)
		if err := core.Notice(counterExpect.At(to), order{n, tally}); err != nil {
			return 0, err
		}
		if err := core.Notice(sourceBegin.At(from), order{n, tally}); err != nil {
			return 0, err
		}
		return n, tally.Wait(measure.Sum(n))
	}}, nil
}
