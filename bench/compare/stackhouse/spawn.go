package stackhouse

import (
	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
	"github.com/stackhouse-go/stackhouse/core"
)

// idler handles one number, and then idles.
type idler struct{ number uint64 }

type greeting struct {
	Number uint64
	Tally  *measure.Tally
}

var idlerGreet = core.HandleNotice((*idler).greet)

func newIdler() *idler { return &idler{} }

func (i *idler) greet(s *core.NoticeStack[greeting]) core.Yield {
	i.number = s.Msg.Number
	s.Msg.Tally.Report(i.number)
	return s.Return()
}

// mother makes idlers beside itself, a burst at a time, and tells each its number.
type mother struct {
	self  core.NoticePort[struct{}]
	order order
	made  int
}

var (
	motherBegin = core.HandleNotice((*mother).begin)
	motherBear  = core.HandleNotice((*mother).bear)
)

// begin starts an order of N idlers.
func (m *mother) begin(s *core.NoticeStack[order]) core.Yield {
	m.self = motherBear.At(core.Self[mother](s))
	m.order, m.made = s.Msg, 0
	m.self.Notice(s, struct{}{})
	return s.Return()
}

func (m *mother) bear(s *core.NoticeStack[struct{}]) core.Yield {
	for last := min(m.made+burstSize, m.order.N); m.made < last; {
		m.made++
		at := core.Spawn(core.Beside(s), newIdler)
		idlerGreet.At(at).Notice(s, greeting{uint64(m.made), m.order.Tally})
	}
	if m.made < m.order.N {
		m.self.Notice(s, struct{}{})
	}
	return s.Return()
}

func spawn() (*measure.Work, error) {
	sys, err := start()
	if err != nil {
		return nil, err
	}
	at := motherBegin.At(core.Spawn(sys, func() *mother { return &mother{} }))
	return &measure.Work{Close: stop(sys), Idle: true, Do: func(n int) (int, error) {
		tally := measure.NewTally(n)
		if err := core.Notice(at, order{n, tally}); err != nil {
			return 0, err
		}
		return n, tally.Wait(measure.Sum(n))
	}}, nil
}
