//go:build ignore

package main

import (
	"github.com/anthdm/hollywood/actor"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// echo answers numbers with the next one.
type echo struct{ asked uint64 }

func newEcho() actor.Receiver { return &echo{} }

func (e *echo) Receive(ctx *actor.Context) {
	if m, ok := ctx.Message().(*note); ok {
		e.asked++
		ctx.Respond(&note{m.n + 1})
	}
}

// asker asks an echo, one ask after the other, each of which blocks it.
type asker struct{ to *actor.PID }

func (a *asker) Receive(ctx *actor.Context) {
	m, ok := ctx.Message().(*order)
	if !ok {
		return
	}
	sum := uint64(0)
	for i := range uint64(m.n) {
		answer, err := ctx.Request(a.to, &note{i}, askTimeout).Result()
		if err != nil {
			m.tally.Fail(err)
			return
		}
		sum += answer.(*note).n
	}
	m.tally.Report(sum)
}

// askers has 64 actors ask one.
func askers() (*measure.Work, error) {
	e, err := start()
	if err != nil {
		return nil, err
	}
	to := e.Spawn(newEcho, "echo")
	var all [64]*actor.PID
	for i := range all {
		all[i] = e.Spawn(func() actor.Receiver { return &asker{to} }, "asker")
	}
	return &measure.Work{Do: func(n int) (int, error) {
		share := max(1, n/len(all))
		tally := measure.NewTally(len(all))
		for _, pid := range all {
			e.Send(pid, &order{share, tally})
		}
		return len(all) * share, tally.Wait(uint64(len(all)) * measure.Sum(share))
	}}, nil
}

// askGuest has this goroutine ask an actor.
func askGuest() (*measure.Work, error) {
	e, err := start()
	if err != nil {
		return nil, err
	}
	to := e.Spawn(newEcho, "echo")
	latencies := measure.NewLatencies(measure.OfDear)
	return &measure.Work{
		Latencies: latencies,
		Do: func(n int) (int, error) {
			sum := uint64(0)
			for i := range uint64(n) {
				from := latencies.Begin(i)
				answer, err := e.Request(to, &note{i}, askTimeout).Result()
				if err != nil {
					return 0, err
				}
				latencies.End(from)
				sum += answer.(*note).n
			}
			return n, measure.Right(sum, measure.Sum(n))
		},
	}, nil
}
