package protoactor

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// idler handles one number, and then idles.
type idler struct{ number uint64 }

type greeting struct {
	number uint64
	tally  *measure.Tally
}

func (i *idler) Receive(ctx actor.Context) {
	if m, ok := ctx.Message().(*greeting); ok {
		i.number = m.number
		m.tally.Report(m.number)
	}
}

// mother makes idlers, its children, a burst at a time, and tells each its number.
type mother struct {
	order order
	made  int
}

var idlers = props(func() actor.Actor { return &idler{} })

func (m *mother) Receive(ctx actor.Context) {
	switch o := ctx.Message().(type) {
	case *order:
		m.order, m.made = *o, 0
		m.bear(ctx)
	case again:
		m.bear(ctx)
	}
}

func (m *mother) bear(ctx actor.Context) {
	for last := min(m.made+burstSize, m.order.n); m.made < last; {
		m.made++
		ctx.Send(ctx.Spawn(idlers), &greeting{uint64(m.made), m.order.tally})
	}
	if m.made < m.order.n {
		ctx.Send(ctx.Self(), again{})
	}
}

func spawn() (*measure.Work, error) {
	sys := start()
	at := sys.Root.Spawn(props(func() actor.Actor { return &mother{} }))
	return &measure.Work{Close: stop(sys), Idle: true, Do: func(n int) (int, error) {
		tally := measure.NewTally(n)
		sys.Root.Send(at, &order{n, tally})
		return n, tally.Wait(measure.Sum(n))
	}}, nil
}

// node is a branch or a leaf of a tree. It stops when it has answered.
type node struct {
	parent *actor.PID
	left   int // sums to come
	sum    uint64
}

var nodes = props(func() actor.Actor { return &node{} })

// part is the leaves below a node: size numbers from first.
type part struct{ first, size int }

func (a *node) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *part:
		if m.size == 1 {
			ctx.Respond(&note{uint64(m.first)})
			ctx.Stop(ctx.Self())
			return
		}
		a.parent, a.left = ctx.Sender(), measure.Degree
		size := m.size / measure.Degree
		for i := range measure.Degree {
			ctx.Request(ctx.Spawn(nodes), &part{m.first + i*size, size})
		}
	case *note:
		a.sum += m.n
		a.left--
		if a.left == 0 {
			ctx.Send(a.parent, &note{a.sum})
			ctx.Stop(ctx.Self())
		}
	}
}

func skynet() (*measure.Work, error) {
	sys := start()
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		trees, leaves := measure.Trees(n)
		for range trees {
			sum, err := sys.Root.RequestFuture(sys.Root.Spawn(nodes), &part{0, leaves}, -1).Result()
			if err != nil {
				return 0, err
			}
			if err := measure.Right(sum.(*note).n, measure.LeafSum(leaves)); err != nil {
				return 0, err
			}
		}
		return trees * leaves, nil
	}}, nil
}
