package protoactor

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// ping tells a pong a number, and is told the next one.
type ping struct {
	to        *actor.PID
	latencies *measure.Latencies // nil: not timed
	order     order
	next      uint64
	sum       uint64
	from      int64
}

// serve is told to a pong, which tells the number to who is back.
type serve struct {
	n    uint64
	back *actor.PID
}

type pong struct{}

func (pong) Receive(ctx actor.Context) {
	if m, ok := ctx.Message().(*serve); ok {
		ctx.Send(m.back, &note{m.n + 1})
	}
}

func (p *ping) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *order:
		if p.to == nil {
			p.to = ctx.Spawn(props(func() actor.Actor { return pong{} }))
		}
		p.order, p.next, p.sum = *m, 0, 0
		p.serve(ctx)
	case *note:
		if p.latencies != nil {
			p.latencies.End(p.from)
		}
		p.sum += m.n
		if p.next < uint64(p.order.n) {
			p.serve(ctx)
		} else {
			p.order.tally.Report(p.sum)
		}
	}
}

func (p *ping) serve(ctx actor.Context) {
	if p.latencies != nil {
		p.from = p.latencies.Begin(p.next)
	}
	ctx.Send(p.to, &serve{p.next, ctx.Self()})
	p.next++
}

// pingpong is one pair.
func pingpong() (*measure.Work, error) {
	sys := start()
	latencies := measure.NewLatencies(measure.OfDear)
	w := carryOut(sys, sys.Root.Spawn(props(func() actor.Actor { return &ping{latencies: latencies} })))
	w.Latencies = latencies
	return w, nil
}

// pairs is 64 pairs; an operation is a message, half a round trip.
func pairs() (*measure.Work, error) {
	sys := start()
	var pings [64]*actor.PID
	for i := range pings {
		pings[i] = sys.Root.Spawn(props(func() actor.Actor { return &ping{} }))
	}
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		trips := max(1, n/2/len(pings))
		tally := measure.NewTally(len(pings))
		for _, p := range pings {
			sys.Root.Send(p, &order{trips, tally})
		}
		return 2 * len(pings) * trips, tally.Wait(uint64(len(pings)) * measure.Sum(trips))
	}}, nil
}
