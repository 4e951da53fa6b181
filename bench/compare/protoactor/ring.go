package protoactor

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/scheduler"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// token goes around; each hop takes one off.
type token struct {
	left, sum uint64
	tally     *measure.Tally
}

// link passes the token on to the next one, which it is told first.
type link struct{ next *actor.PID }

type setNext struct{ next *actor.PID }

func newLink() actor.Actor { return &link{} }

func (l *link) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *token:
		left, sum := m.left-1, m.sum+m.left
		if left == 0 {
			m.tally.Report(sum)
		} else {
			ctx.Send(l.next, &token{left, sum, m.tally})
		}
	case *setNext:
		l.next = m.next
	}
}

func ring() (*measure.Work, error) {
	sys := start()
	var all [503]*actor.PID
	for i := range all {
		all[i] = sys.Root.Spawn(props(newLink))
	}
	for i, pid := range all {
		sys.Root.Send(pid, &setNext{all[(i+1)%len(all)]})
	}
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		tally := measure.NewTally(1)
		sys.Root.Send(all[0], &token{left: uint64(n), tally: tally})
		return n, tally.Wait(measure.Sum(n))
	}}, nil
}

// clock arms timers, a burst at a time.
type clock struct {
	timers *scheduler.TimerScheduler
	order  order
	armed  int
}

func (c *clock) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *note:
		c.order.tally.Report(m.n)
	case *order:
		c.timers = scheduler.NewTimerScheduler(ctx)
		c.order, c.armed = *m, 0
		c.arm(ctx)
	case again:
		c.arm(ctx)
	}
}

func (c *clock) arm(ctx actor.Context) {
	for last := min(c.armed+burstSize, c.order.n); c.armed < last; c.armed++ {
		c.timers.SendOnce(measure.Soon(c.armed), ctx.Self(), &note{uint64(c.armed + 1)})
	}
	if c.armed < c.order.n {
		ctx.Send(ctx.Self(), again{})
	}
}

func timers() (*measure.Work, error) {
	sys := start()
	at := sys.Root.Spawn(props(func() actor.Actor { return &clock{} }))
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		tally := measure.NewTally(n)
		sys.Root.Send(at, &order{n, tally})
		return n, tally.Wait(measure.Sum(n))
	}}, nil
}
