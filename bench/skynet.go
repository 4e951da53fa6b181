package main

import (
	"context"
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
)

// degree is how many children a branch has.
const degree = 10

// sky is what the nodes of a tree share. They are on one worker.
type sky struct {
	branch    func() *branch
	leaf      func() *leaf
	grow      core.Handler[branch, part, uint64] // a package variable can't name itself
	leaves    uint64
	latencies latency.Histogram
}

// part is the leaves of a branch: Size numbers from First.
type part struct{ First, Size uint64 }

// branch has children, asks them for their sums, and stops.
type branch struct{ sky *sky }

// growth is its stack.
type growth struct {
	core.AskStack[part, uint64]
	sums [degree]core.Future[uint64]
}

var (
	branchGrow = core.Handle((*branch).grow)
	leafNumber = core.Handle((*leaf).number)
)

func (b *branch) grow(s *growth) core.Yield {
	p := part{s.Req.First, s.Req.Size / degree}
	for i := range s.sums {
		if p.Size == 1 {
			born := sent(p.First)
			at := core.Spawn(core.Beside(s), b.sky.leaf)
			leafNumber.At(at).Ask(s, &s.sums[i], note{p.First, born})
		} else {
			at := core.Spawn(core.Beside(s), b.sky.branch)
			b.sky.grow.At(at).Ask(s, &s.sums[i], p)
		}
		p.First += p.Size
	}
	return core.Suspend(s, (*branch).sum)
}

func (b *branch) sum(s *growth) core.Yield {
	total := uint64(0)
	for i := range s.sums {
		n, err := s.sums[i].Get()
		if err != nil {
			return s.Throw(err)
		}
		total += n
	}
	core.Self[branch](s).Stop()
	return s.Return(total)
}

// leaf answers its number, and stops.
type leaf struct{ sky *sky }

func (l *leaf) number(s *core.AskStack[note, uint64]) core.Yield {
	l.sky.leaves++
	if s.Req.Sent != 0 {
		l.sky.latencies.Record(time.Duration(now() - s.Req.Sent))
	}
	core.Self[leaf](s).Stop()
	return s.Return(s.Req.N)
}

func newSky() *sky {
	k := &sky{grow: branchGrow}
	k.branch = func() *branch { return &branch{k} }
	k.leaf = func() *leaf { return &leaf{k} }
	return k
}

// tree grows one tree and returns when all its actors have stopped.
func (k *sky) tree(sys *house.System, leaves uint64) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	root := core.Spawn(sys.Workers()[0], k.branch)
	sum, err := core.Ask(ctx, branchGrow.At(root), part{0, leaves})
	if err != nil {
		return err
	}
	if want := leaves * (leaves - 1) / 2; sum != want {
		return fmt.Errorf("the sum is %d, not %d", sum, want)
	}
	for sys.Actors() > 0 {
		if ctx.Err() != nil {
			return fmt.Errorf("%d actors haven't stopped", sys.Actors())
		}
		time.Sleep(100 * time.Microsecond)
	}
	return nil
}

func skynet(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load {
		k := newSky()
		return load{
			drivers:   1,
			latencies: []*latency.Histogram{&k.latencies},
			start: func(r *round) {
				ops := uint64(0)
				for ok := true; ok; ok = !r.over(now()) { // whole trees, at least one
					if err := k.tree(sys, uint64(o.leaves)); err != nil {
						r.fail(err)
						return
					}
					ops += uint64(o.leaves)
				}
				r.leave(ops)
			},
			check: func(done uint64) error {
				if k.leaves != done {
					return fmt.Errorf("%d leaves answered and %d were asked", k.leaves, done)
				}
				return nil
			},
		}
	})
}
