//go:build linux && !portable

package house_test

import (
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// dozer is told that nothing begins.
type dozer struct{ told, quiet uint64 }

type dozerStack struct {
	core.AskStack[time.Duration, uint64]
}

func (a *dozer) hear(s *core.NoticeStack[int]) core.Yield         { a.told++; return s.Return() }
func (a *dozer) bored(s *core.NoticeStack[core.Quiet]) core.Yield { a.quiet++; return s.Return() }

func (a *dozer) set(s *dozerStack) core.Yield {
	core.ReceiveTimeout(s, s.Req, dozerBored)
	return s.Return(a.quiet)
}

var (
	dozerHear  = core.HandleNotice((*dozer).hear)
	dozerBored = core.HandleNotice((*dozer).bored)
	dozerSet   = core.Handle((*dozer).set)
)

// TestZeroAllocReceiveTimeout: 20,000 messages, changes of the timeout, and timeouts.
func TestZeroAllocReceiveTimeout(t *testing.T) {
	m := newByHand(t)
	a := core.Spawn(m.Workers()[0], func() *dozer { return &dozer{} })
	hear, set := dozerHear.At(a), dozerSet.At(a)
	ask := func(d time.Duration) uint64 {
		call := core.Begin(set, d)
		for !call.Ready() {
			m.rest()
		}
		n, err := call.Get()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	housetest.ZeroAlloc(t, 20_000, func(n int) {
		before := ask(time.Millisecond)
		for i := range n {
			core.Notice(hear, i)
			if i%8 == 0 {
				ask(time.Duration(1+i%3) * time.Millisecond)
			}
			if i%16 == 0 {
				m.now += int64(5 * time.Millisecond)
				m.rest()
			}
			m.rest()
		}
		if got := ask(time.Millisecond) - before; got < uint64(n/32) {
			t.Errorf("%d timeouts in %d messages", got, n)
		}
	})
}
