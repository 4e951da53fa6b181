//go:build ignore

package main

import (
	"github.com/anthdm/hollywood/actor"

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

type pong struct{}

func newPong() actor.Receiver { return pong{} }

func (pong) Receive(ctx *actor.Context) {
	if m, ok := ctx.Message().(*note); ok {
		ctx.Send(ctx.Sender(), &note{m.n + 1})
	}
}

func (p *ping) Receive(ctx *actor.Context) {
	switch m := ctx.Message().(type) {
	case *order:
		if p.to == nil {
			p.to = ctx.SpawnChild(newPong, "pong")
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

func (p *ping) serve(ctx *actor.Context) {
	if p.latencies != nil {
		p.from = p.latencies.Begin(p.next)
	}
	ctx.Send(p.to, &note{p.next})
	p.next++
}

// pingpong is one pair.
func pingpong() (*measure.Work, error) {
	e, err := start()
	if err != nil {
		return nil, err
	}
	latencies := measure.NewLatencies(measure.OfDear)
	at := e.Spawn(func() actor.Receiver { return &ping{latencies: latencies} }, "ping")
	return &measure.Work{Latencies: latencies, Do: func(n int) (int, error) {
		tally := measure.NewTally(1)
		e.Send(at, &order{n, tally})
		return n, tally.Wait(measure.Sum(n))
	}}, nil
}

// pairs is 64 pairs; an operation is a message, half a round trip.
func pairs() (*measure.Work, error) {
	e, err := start()
	if err != nil {
		return nil, err
	}
	var pings [64]*actor.PID
	for i := range pings {
		pings[i] = e.Spawn(func() actor.Receiver { return &ping{} }, "ping")
	}
	return &measure.Work{Do: func(n int) (int, error) {
		trips := max(1, n/2/len(pings))
		tally := measure.NewTally(len(pings))
		for _, p := range pings {
			e.Send(p, &order{trips, tally})
		}
		return 2 * len(pings) * trips, tally.Wait(uint64(len(pings)) * measure.Sum(trips))
	}}, nil
}
