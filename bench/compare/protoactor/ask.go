package protoactor

import (
	"fmt"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// echo answers numbers with the next one.
type echo struct{ asked uint64 }

func newEcho() actor.Actor { return &echo{} }

func (e *echo) Receive(ctx actor.Context) {
	if m, ok := ctx.Message().(*note); ok {
		e.asked++
		ctx.Respond(&note{m.n + 1})
	}
}

// asker asks an echo, as many asks at once as it has orders.
type asker struct {
	to        *actor.PID
	latencies *measure.Latencies // nil: not timed
}

// questions is what one order came to so far.
type questions struct {
	order order
	next  uint64
	sum   uint64
}

func (a *asker) Receive(ctx actor.Context) {
	if m, ok := ctx.Message().(*order); ok {
		a.ask(ctx, &questions{order: *m})
	}
}

func (a *asker) ask(ctx actor.Context, q *questions) {
	from := int64(0)
	if a.latencies != nil {
		from = a.latencies.Begin(q.next)
	}
	f := ctx.RequestFuture(a.to, &note{q.next}, askTimeout)
	q.next++
	ctx.ReenterAfter(f, func(answer any, err error) {
		m, ok := answer.(*note)
		if err != nil || !ok {
			q.order.tally.Fail(fmt.Errorf("the answer is %v: %w", answer, err))
			return
		}
		if a.latencies != nil {
			a.latencies.End(from)
		}
		q.sum += m.n
		if q.next < uint64(q.order.n) {
			a.ask(ctx, q)
		} else {
			q.order.tally.Report(q.sum)
		}
	})
}

// ask has an actor ask another, one ask after the other.
func ask(every uint64) measure.Make {
	return func() (*measure.Work, error) {
		sys := start()
		latencies := measure.NewLatencies(every)
		to := sys.Root.Spawn(props(newEcho))
		w := carryOut(sys, sys.Root.Spawn(props(func() actor.Actor { return &asker{to, latencies} })))
		w.Latencies = latencies
		return w, nil
	}
}

// askMany has an actor ask another, with 64 asks in flight.
func askMany() (*measure.Work, error) {
	sys := start()
	to := sys.Root.Spawn(props(newEcho))
	from := sys.Root.Spawn(props(func() actor.Actor { return &asker{to: to} }))
	return carryOutAll(sys, slices.Repeat([]*actor.PID{from}, 64)), nil
}

// askers has 64 actors ask one.
func askers() (*measure.Work, error) {
	sys := start()
	to := sys.Root.Spawn(props(newEcho))
	all := make([]*actor.PID, 64)
	for i := range all {
		all[i] = sys.Root.Spawn(props(func() actor.Actor { return &asker{to: to} }))
	}
	return carryOutAll(sys, all), nil
}

// askGuest has this goroutine ask an actor.
func askGuest() (*measure.Work, error) {
	sys := start()
	to := sys.Root.Spawn(props(newEcho))
	latencies := measure.NewLatencies(measure.OfDear)
	return &measure.Work{
		Close:     stop(sys),
		Latencies: latencies,
		Do: func(n int) (int, error) {
			sum := uint64(0)
			for i := range uint64(n) {
				from := latencies.Begin(i)
				answer, err := sys.Root.RequestFuture(to, &note{i}, askTimeout).Result()
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
