//go:build ignore

package main

import (
	"github.com/anthdm/hollywood/actor"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// counter sums what it is told, and reports when it was told all of an order.
type counter struct {
	order order
	told  int
	sum   uint64
}

// count asks a counter what it was told so far.
type (
	count   struct{}
	counted struct{ sum uint64 }
)

func newCounter() actor.Receiver { return &counter{} }

func (c *counter) Receive(ctx *actor.Context) {
	switch m := ctx.Message().(type) {
	case *note:
		c.sum += m.n
		c.told++
		if c.told == c.order.n {
			c.order.tally.Report(c.sum)
		}
	case *count:
		ctx.Respond(&counted{c.sum})
	case *order:
		*c = counter{order: *m}
	}
}

// tell has goroutines tell an actor.
func tell(producers int) measure.Make {
	return func() (*measure.Work, error) {
		e, err := start()
		if err != nil {
			return nil, err
		}
		to := e.Spawn(newCounter, "counter")
		return &measure.Work{Do: func(n int) (int, error) {
			tally := measure.NewTally(1)
			e.Send(to, &order{n, tally})
			for p := range producers {
				go func() {
					for i := p + 1; i <= n; i += producers {
						e.Send(to, &note{uint64(i)})
					}
				}()
			}
			return n, tally.Wait(measure.Sum(n))
		}}, nil
	}
}

// source tells a counter numbers, in bursts.
type source struct {
	to    *actor.PID
	order order
	next  int
}

const (
	burstSize = 128
	burstsMax = 4 // under way
)

func (a *source) Receive(ctx *actor.Context) {
	switch m := ctx.Message().(type) {
	case *order:
		a.order, a.next = *m, 1
		for range burstsMax {
			a.send(ctx)
		}
	case *counted: // all of a burst was handled
		if a.next <= a.order.n {
			a.send(ctx)
		}
	}
}

func (a *source) send(ctx *actor.Context) {
	for last := min(a.next+burstSize, a.order.n+1); a.next < last; a.next++ {
		ctx.Send(a.to, &note{uint64(a.next)})
	}
	ctx.Send(a.to, &count{})
}

// tellActor has an actor tell another.
func tellActor() (*measure.Work, error) {
	e, err := start()
	if err != nil {
		return nil, err
	}
	to := e.Spawn(newCounter, "counter")
	from := e.Spawn(func() actor.Receiver { return &source{to: to} }, "source")
	return &measure.Work{Do: func(n int) (int, error) {
		tally := measure.NewTally(1)
		e.Send(to, &order{n, tally})
		e.Send(from, &order{n, tally})
		return n, tally.Wait(measure.Sum(n))
	}}, nil
}

const fanWidth = 1000

// fan tells a thousand counters, round by round.
type fan struct {
	to    []*actor.PID
	order order
	round int
}

func (f *fan) Receive(ctx *actor.Context) {
	switch m := ctx.Message().(type) {
	case *order:
		for len(f.to) < fanWidth {
			f.to = append(f.to, ctx.SpawnChild(newCounter, "counter"))
		}
		for _, to := range f.to {
			ctx.Send(to, m)
		}
		f.order, f.round = *m, 0
		f.send(ctx)
	case again:
		f.send(ctx)
	}
}

func (f *fan) send(ctx *actor.Context) {
	f.round++
	for _, to := range f.to {
		ctx.Send(to, &note{uint64(f.round)})
	}
	if f.round < f.order.n {
		ctx.Send(ctx.PID(), again{})
	}
}

func fanout() (*measure.Work, error) {
	e, err := start()
	if err != nil {
		return nil, err
	}
	at := e.Spawn(func() actor.Receiver { return &fan{} }, "fan")
	return &measure.Work{Do: func(n int) (int, error) {
		rounds := max(1, n/fanWidth)
		tally := measure.NewTally(fanWidth)
		e.Send(at, &order{rounds, tally})
		return rounds * fanWidth, tally.Wait(fanWidth * measure.Sum(rounds))
	}}, nil
}
