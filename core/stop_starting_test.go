package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// hatchling waits in the hook that starts its instance of a certain number.
type hatchling struct {
	diary  *diary
	life   int
	waits  int
	nurse  core.Port[script, int]
	answer core.Future[int]
}

func (h *hatchling) hatch(s *core.HookStack, hook string) core.Yield {
	h.diary.note("%d:%s", h.life, hook)
	if h.life == h.waits {
		h.nurse.Ask(s, &h.answer, never)
		return core.Suspend(s, (*hatchling).hatched)
	}
	return s.Return()
}

func (h *hatchling) hatched(s *core.HookStack) core.Yield {
	h.diary.note("%d:resumed", h.life)
	return s.Return()
}

func (h *hatchling) PreStart(s *core.HookStack) core.Yield    { return h.hatch(s, "start") }
func (h *hatchling) PostRestart(s *core.HookStack) core.Yield { return h.hatch(s, "again") }
func (h *hatchling) PostStop(s *core.HookStack) core.Yield {
	h.diary.note("%d:stop", h.life)
	return s.Return()
}

func (h *hatchling) ask(s *core.AskStack[bool, int]) core.Yield {
	if s.Req {
		panic(errHot)
	}
	return s.Return(h.life)
}

var hatchlingAsk = core.Handle((*hatchling).ask)

// A stop of who waits in a hook that starts an instance, or between two instances, acts at once:
// the hook isn't resumed, the end hook runs as behind a failed start, and what waits ends with
// ErrStopped. So does a stop of a parent, and of the system.
func TestStopWhileStarting(t *testing.T) {
	for _, c := range []struct {
		name   string
		waits  int // the instance that does
		with   core.Strategy
		fails  int
		queued error
		made   int // instances
		want   string
	}{
		{"PreStart", 1, core.Strategy{}, 0, core.ErrStopped, 1, "1:start 1:stop"},
		{"PostRestart", 2, core.Strategy{}, 1, core.ErrStopped, 2, "1:start 1:stop 2:again 2:stop"},
		{"a pause", 0, core.Strategy{Backoff: time.Hour}, 1, core.ErrStopped, 1, "1:start 1:stop"},
		{"a hold", 0, core.Strategy{}, 6, core.ErrRestarted, 6,
			"1:start 1:stop 2:again 2:stop 3:again 3:stop 4:again 4:stop 5:again 5:stop 6:again 6:stop"},
	} {
		for _, by := range []string{"itself", "its parent", "the system"} {
			t.Run(c.name+", by "+by, func(t *testing.T) {
				sim := stage(t, 1, 2)
				d, made := &diary{}, 0
				_, nurse := cast(sim, 1)
				p := haunt(t, sim, &diary{}, "p", core.Props{})
				var h core.Address[hatchling]
				_, err := housetest.Ask(t, sim, ghostDo.At(p), func(_ *ghost, s *ghostStack) (y core.Yield) {
					h, _ = core.SpawnWith(core.Under(s), func() *hatchling {
						made++
						return &hatchling{diary: d, life: made, waits: c.waits, nurse: nurse}
					}, core.Props{OnFailure: &c.with})
					return s.Return(0)
				})
				require.NoError(t, err)
				for range c.fails {
					housetest.Ask(t, sim, hatchlingAsk.At(h), true)
				}
				queued := core.Begin(hatchlingAsk.At(h), false)
				sim.Rest()
				began := sim.Now
				switch by {
				case "itself":
					h.Stop()
				case "its parent":
					p.Stop()
				default:
					require.NoError(t, sim.Shutdown(t.Context()))
				}
				late := core.Begin(hatchlingAsk.At(h), false)
				sim.Rest()
				require.Less(t, sim.Now-began, int64(time.Second))
				require.Equal(t, c.want, d.took())
				require.Equal(t, c.made, made)
				endedAs(t, c.queued, queued)
				endedAs(t, core.ErrStopped, late)
			})
		}
	}
}

// Who has a PreStart and is spawned while the system closes never lives, and answers so; nothing
// is held there.
func TestSpawnWithPreStartWhileClosing(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	var late core.Pending[int]
	haunt(t, sim, d, "p", core.Props{}, func(g *ghost) {
		g.bearsAt = "stop"
		g.bears = func(*ghost, *core.HookStack) {
			c := haunt(t, sim, d, "c", core.Props{})
			c.Drain() // no room is asked for it
			late = core.Begin(ghostDo.At(c), says("never"))
		}
	})
	sim.Rest()
	require.NoError(t, sim.Shutdown(t.Context()))
	endedAs(t, core.ErrStopped, late)
	require.Equal(t, "p1:start p1:stop", d.took())
}
