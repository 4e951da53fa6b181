package stackhouse

import (
	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
	"github.com/stackhouse-go/stackhouse/core"
)

// ping tells a pong, born beside it, a number, and is told the next one.
type ping struct {
	to        core.NoticePort[uint64]
	latencies *measure.Latencies // nil: not timed
	order     order
	next      uint64
	sum       uint64
	from      int64
}

// pong tells numbers back.
type pong struct{ to core.NoticePort[uint64] }

var (
	pingBegin = core.HandleNotice((*ping).begin)
	pingBack  = core.HandleNotice((*ping).back)
	pongTake  = core.HandleNotice((*pong).take)
)

// begin starts an order of N round trips.
func (p *ping) begin(s *core.NoticeStack[order]) core.Yield {
	if p.order.Tally == nil {
		self := pingBack.At(core.Self[ping](s))
		p.to = pongTake.At(core.Spawn(core.Beside(s), func() *pong { return &pong{self} }))
	}
	p.order, p.next, p.sum = s.Msg, 0, 0
	p.serve(s)
	return s.Return()
}

func (p *ping) serve(s core.Running) {
	if p.latencies != nil {
		p.from = p.latencies.Begin(p.next)
	}
	p.to.Notice(s, p.next)
	p.next++
}

func (p *ping) back(s *core.NoticeStack[uint64]) core.Yield {
	if p.latencies != nil {
		p.latencies.End(p.from)
	}
	p.sum += s.Msg
	if p.next < uint64(p.order.N) {
		p.serve(s)
	} else {
		p.order.Tally.Report(p.sum)
	}
	return s.Return()
}

func (p *pong) take(s *core.NoticeStack[uint64]) core.Yield {
	p.to.Notice(s, s.Msg+1)
	return s.Return()
}

// pingpong is one pair.
func pingpong() (*measure.Work, error) {
	sys, err := start()
	if err != nil {
		return nil, err
	}
	latencies := measure.NewLatencies(measure.OfDear)
	at := core.Spawn(sys, func() *ping { return &ping{latencies: latencies} })
	w := carryOut(sys, pingBegin.At(at))
	w.Latencies = latencies
	return w, nil
}

// pairs is 64 pairs; an operation is a message, half a round trip.
func pairs() (*measure.Work, error) {
	sys, err := start()
	if err != nil {
		return nil, err
	}
	var pings [64]core.NoticePort[order]
	for i := range pings {
		pings[i] = pingBegin.At(core.Spawn(sys, func() *ping { return &ping{} }))
	}
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		trips := max(1, n/2/len(pings))
		tally := measure.NewTally(len(pings))
		for _, p := range pings {
			if err := core.Notice(p, order{trips, tally}); err != nil {
				return 0, err
			}
		}
		return 2 * len(pings) * trips, tally.Wait(uint64(len(pings)) * measure.Sum(trips))
	}}, nil
}
