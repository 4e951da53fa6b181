package stackhouse

import (
	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
	"github.com/stackhouse-go/stackhouse/core"
)

const fanWidth = 1000

// fan tells a thousand counters, round by round.
type fan struct {
	self  core.NoticePort[struct{}]
	to    []core.Address[counter]
	order order
	round int
}

var (
	fanBegin = core.HandleNotice((*fan).begin)
	fanSend  = core.HandleNotice((*fan).send)
)

// begin starts an order of N rounds. The counters are born beside the fan.
func (f *fan) begin(s *core.NoticeStack[order]) core.Yield {
	for len(f.to) < fanWidth {
		// Rounds don't wait for counters that move to another worker.
		to, err := core.SpawnWith(core.Beside(s), newCounter, core.Props{Mailbox: core.Unbounded()})
		if err != nil {
			s.Msg.Tally.Fail(err)
			return s.Return()
		}
		f.to = append(f.to, to)
	}
	for _, to := range f.to {
		counterExpect.At(to).Notice(s, s.Msg)
	}
	f.order, f.round = s.Msg, 0
	f.self = fanSend.At(core.Self[fan](s))
	f.self.Notice(s, struct{}{})
	return s.Return()
}

// send tells all the number of the round. The next round queues behind this one.
func (f *fan) send(s *core.NoticeStack[struct{}]) core.Yield {
	f.round++
	for _, to := range f.to {
		counterAdd.At(to).Notice(s, uint64(f.round))
	}
	if f.round < f.order.N {
		f.self.Notice(s, struct{}{})
	}
	return s.Return()
}

func fanout() (*measure.Work, error) {
	sys, err := start()
	if err != nil {
		return nil, err
	}
	at := core.Spawn(sys, func() *fan { return &fan{} })
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		rounds := max(1, n/fanWidth)
		tally := measure.NewTally(fanWidth)
		if err := core.Notice(fanBegin.At(at), order{rounds, tally}); err != nil {
			return 0, err
		}
		return rounds * fanWidth, tally.Wait(fanWidth * measure.Sum(rounds))
	}}, nil
}
