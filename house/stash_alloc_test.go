//go:build linux && !portable

package house_test

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// hoarder puts back every message that comes while it is shut.
type hoarder struct{ open, got int }

func (a *hoarder) hear(s *core.NoticeStack[int]) core.Yield {
	if a.open == 0 {
		return core.Stash(s)
	}
	a.open--
	a.got++
	return s.Return()
}

func (a *hoarder) let(s *core.AskStack[int, int]) core.Yield {
	a.open = s.Req
	core.Unstash(s)
	return s.Return(a.got)
}

var (
	hoarderHear = core.HandleNotice((*hoarder).hear)
	hoarderLet  = core.Handle((*hoarder).let)
)

// TestZeroAllocStash: 20,000 notices, each of which is stashed once or more.
func TestZeroAllocStash(t *testing.T) {
	m := newByHand(t)
	a := core.Spawn(m.Workers()[0], func() *hoarder { return &hoarder{} })
	hear, let := hoarderHear.At(a), hoarderLet.At(a)
	ask := func(n int) int {
		call := core.Begin(let, n)
		m.rest()
		got, err := call.Get()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	housetest.ZeroAlloc(t, 20_000, func(n int) {
		before := ask(0)
		for range n / 100 {
			for i := range 100 {
				core.Notice(hear, i)
			}
			m.rest()
			ask(40)
			ask(60)
		}
		if got := ask(0) - before; got != n {
			t.Errorf("%d of %d notices", got, n)
		}
	})
}
