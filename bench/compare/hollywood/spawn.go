//go:build ignore

package main

import (
	"time"

	"github.com/anthdm/hollywood/actor"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// idler handles one number, and then idles.
type idler struct{ number uint64 }

type greeting struct {
	number uint64
	tally  *measure.Tally
}

func newIdler() actor.Receiver { return &idler{} }

func (i *idler) Receive(ctx *actor.Context) {
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

func (m *mother) Receive(ctx *actor.Context) {
	switch o := ctx.Message().(type) {
	case *order:
		m.order, m.made = *o, 0
		m.bear(ctx)
	case again:
		m.bear(ctx)
	}
}

func (m *mother) bear(ctx *actor.Context) {
	for last := min(m.made+burstSize, m.order.n); m.made < last; {
		m.made++
		ctx.Send(ctx.SpawnChild(newIdler, "idler"), &greeting{uint64(m.made), m.order.tally})
	}
	if m.made < m.order.n {
		ctx.Send(ctx.PID(), again{})
	}
}

func spawn() (*measure.Work, error) {
	e, err := start()
	if err != nil {
		return nil, err
	}
	at := e.Spawn(func() actor.Receiver { return &mother{} }, "mother")
	return &measure.Work{Idle: true, Do: func(n int) (int, error) {
		tally := measure.NewTally(n)
		e.Send(at, &order{n, tally})
		return n, tally.Wait(measure.Sum(n))
	}}, nil
}

// node is a branch or a leaf of a tree. It stops when it has answered. It isn't made by
// SpawnChild: a parent that stops while a child does may wait for it for ever.
type node struct {
	parent *actor.PID
	left   int // sums to come
	sum    uint64
}

func newNode() actor.Receiver { return &node{} }

// part is the leaves below a node: size numbers from first.
type part struct{ first, size int }

func (a *node) Receive(ctx *actor.Context) {
	switch m := ctx.Message().(type) {
	case *part:
		if m.size == 1 {
			ctx.Respond(&note{uint64(m.first)})
			ctx.Engine().Poison(ctx.PID())
			return
		}
		a.parent, a.left = ctx.Sender(), measure.Degree
		size := m.size / measure.Degree
		for i := range measure.Degree {
			ctx.Send(ctx.Engine().Spawn(newNode, "node"), &part{m.first + i*size, size})
		}
	case *note:
		a.sum += m.n
		a.left--
		if a.left == 0 {
			ctx.Send(a.parent, &note{a.sum})
			ctx.Engine().Poison(ctx.PID())
		}
	}
}

// treeTimeout is when a tree has lost a leaf.
const treeTimeout = time.Minute

func skynet() (*measure.Work, error) {
	e, err := start()
	if err != nil {
		return nil, err
	}
	return &measure.Work{Do: func(n int) (int, error) {
		trees, leaves := measure.Trees(n)
		for range trees {
			sum, err := e.Request(e.Spawn(newNode, "node"), &part{0, leaves}, treeTimeout).Result()
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
