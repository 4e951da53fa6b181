//go:build linux && !portable

// The portable poller waits on a channel, for which the Go runtime allocates now and then.

package house_test

import (
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack"
)

// A herder finds out which of its sheep are on one worker, and drives those until some of them
// have gone to the other, and so on.

const (
	sheepMax   = 32
	sheepTimes = 64 // notices to each at a time
	sheepBurn  = time.Microsecond
)

type (
	sheep  struct{ got uint64 }
	herder struct {
		drive [sheepMax]core.NoticePort[int]
		where [sheepMax]core.Port[int, int]
	}
	sheepRun   struct{ core.NoticeStack[int] }
	sheepWhere struct{ core.AskStack[int, int] }
	herding    struct {
		core.AskStack[int, int] // that many times; answers how many notices were sent
		where                   [sheepMax]core.Future[int]
		sent                    int
	}
)

func (a *sheep) run(s *sheepRun) core.Yield {
	a.got++
	burn(sheepBurn)
	return s.Return()
}

// tell answers on which worker it is.
func (a *sheep) tell(s *sheepWhere) core.Yield { return s.Return(stack.Of(s).Engine().Index) }

func (h *herder) ask(s *herding) core.Yield {
	if s.Req == 0 {
		return s.Return(s.sent)
	}
	s.Req--
	for i := range h.where {
		h.where[i].Ask(s, &s.where[i], 0)
	}
	return core.Suspend(s, (*herder).herd)
}

func (h *herder) herd(s *herding) core.Yield {
	for i := range h.drive {
		at, err := s.where[i].Get()
		if err != nil {
			return s.Throw(err)
		}
		if at == s.Req%2 {
			for range sheepTimes {
				h.drive[i].Notice(s, 0)
			}
			s.sent += sheepTimes
		}
	}
	return h.ask(s)
}

var (
	onSheepRun   = core.HandleNotice((*sheep).run)
	onSheepWhere = core.Handle((*sheep).tell)
	onHerd       = core.Handle((*herder).ask)
)

func TestZeroAllocWhileActorsMove(t *testing.T) {
	if invariant.Race {
		t.Skip("the race detector allocates, and finds nothing here that it doesn't elsewhere")
	}
	sys := started(t, house.Config{Workers: 2, AskTimeout: 10 * time.Minute, ShareAfter: 20 * time.Microsecond})
	h := &herder{}
	at := core.Spawn(sys.Workers()[0], func() *herder { return h })
	for i := range sheepMax {
		a := core.Spawn(at.Beside(), func() *sheep { return &sheep{} })
		h.drive[i], h.where[i] = onSheepRun.At(a), onSheepWhere.At(a)
	}
	sent := 0
	run := func(n int) {
		for end := sent + n; sent < end; {
			got, err := core.Begin(onHerd.At(at), 20).Get()
			if err != nil {
				t.Fatal(err)
			}
			sent += got
		}
	}
	run(operations / 4) // the pools of both workers find their sizes
	before := sys.Stats().Given
	housetest.ZeroAlloc(t, operations, run)
	if given := sys.Stats().Given - before; given < 100 {
		t.Errorf("%d moves", given)
	} else {
		t.Logf("%d moves", given)
	}
}
