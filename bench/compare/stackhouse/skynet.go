package stackhouse

import (
	"context"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
	"github.com/stackhouse-go/stackhouse/core"
)

// sky is what the nodes of a tree share: how they are made, each beside its parent.
type sky struct {
	branch func() *branch
	leaf   func() *leaf
	grow   core.Handler[branch, part, uint64] // a step can't name its own handler's variable
}

func newSky() *sky {
	k := &sky{grow: branchGrow}
	k.branch = func() *branch { return &branch{k} }
	k.leaf = func() *leaf { return &leaf{} }
	return k
}

// branch has children and sums them up.
type branch struct{ sky *sky }

// part is the leaves below a branch: Size numbers from First.
type part struct{ First, Size uint64 }

// growth is its stack.
type growth struct {
	core.AskStack[part, uint64]
	sums [measure.Degree]core.Future[uint64]
}

// leaf answers its number.
type leaf struct{}

var (
	branchGrow = core.Handle((*branch).ask)
	leafNumber = core.Handle((*leaf).number)
)

func (b *branch) ask(s *growth) core.Yield {
	p := part{s.Req.First, s.Req.Size / measure.Degree}
	for i := range s.sums {
		if p.Size == 1 {
			at := core.Spawn(core.Beside(s), b.sky.leaf)
			leafNumber.At(at).Ask(s, &s.sums[i], p.First)
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

func (l *leaf) number(s *core.AskStack[uint64, uint64]) core.Yield {
	core.Self[leaf](s).Stop()
	return s.Return(s.Req)
}

func skynet() (*measure.Work, error) {
	sys, err := start()
	if err != nil {
		return nil, err
	}
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		trees, leaves := measure.Trees(n)
		for range trees {
			root := core.Spawn(sys, newSky().branch)
			sum, err := core.Ask(context.Background(), branchGrow.At(root), part{0, uint64(leaves)})
			if err != nil {
				return 0, err
			}
			if err := measure.Right(sum, measure.LeafSum(leaves)); err != nil {
				return 0, err
			}
		}
		return trees * leaves, nil
	}}, nil
}
