package main

import (
	"context"
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
)

// ringSize is that of the thread-ring benchmark of the Computer Language
// Benchmarks Game.
const ringSize = 503

// token goes from node to node.
type token struct {
	Round *round
	Hops  uint64
	Sent  int64 // when, if this hop is timed; 0: it isn't
}

// node passes the token on.
type node struct {
	next      core.NoticePort[token]
	hops      uint64
	latencies *latency.Histogram // of all nodes: they are on one worker
}

var nodePass = core.HandleNotice((*node).pass)

func (n *node) pass(s *core.NoticeStack[token]) core.Yield {
	t := s.Msg
	n.hops++
	t.Hops++
	if t.Sent != 0 {
		at := now()
		n.latencies.Record(time.Duration(at - t.Sent))
		if t.Round.over(at) {
			t.Round.leave(t.Hops)
			return s.Return()
		}
	}
	t.Sent = sent(t.Hops)
	n.next.Notice(s, t)
	return s.Return()
}

// parent has the nodes born.
type parent struct {
	nodes     [ringSize]*node
	latencies latency.Histogram
}

var parentBear = core.Handle((*parent).bear)

// bear spawns the ring beside the parent and returns the port of its first node.
func (p *parent) bear(s *core.AskStack[struct{}, core.NoticePort[token]]) core.Yield {
	var ports [ringSize]core.NoticePort[token]
	for i := range p.nodes {
		p.nodes[i] = &node{latencies: &p.latencies}
		ports[i] = nodePass.At(core.Spawn(core.Beside(s), func() *node { return p.nodes[i] }))
	}
	for i, n := range p.nodes {
		n.next = ports[(i+1)%ringSize]
	}
	return s.Return(ports[0])
}

// check compares the hops of the token with those of the nodes.
func (p *parent) check(done uint64) error {
	sum := uint64(0)
	for _, n := range p.nodes {
		sum += n.hops
	}
	if sum != done {
		return fmt.Errorf("the token made %d hops and the nodes passed it %d times", done, sum)
	}
	return nil
}

func ring503(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load {
		p := &parent{}
		at := core.Spawn(sys.Workers()[0], func() *parent { return p })
		first, err := core.Ask(context.Background(), parentBear.At(at), struct{}{})
		return load{
			drivers:   1,
			latencies: []*latency.Histogram{&p.latencies},
			check:     p.check,
			start: func(r *round) {
				if err != nil {
					r.fail(err)
					return
				}
				core.Notice(first, token{Round: r})
			},
		}
	})
}
