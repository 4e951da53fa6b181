package core_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestTwoBarriers: calls are held until the last has ended, whichever that is.
func TestTwoBarriers(t *testing.T) {
	eachSeed(t, 10, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		stand, ended := 0, 0
		bars := func(d time.Duration) script { // when both are under way
			return func(_ *player, s *scene) core.Yield {
				core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
				return s.wait(func(_ *player, s *scene) core.Yield {
					s.Barrier()
					stand++
					core.Timer.Ask(s, &s.tick, d)
					return s.wait(func(_ *player, s *scene) core.Yield {
						stand--
						ended++
						return s.Return(1)
					})
				})
			}
		}
		for i, d := range []time.Duration{10 * time.Millisecond, 60 * time.Millisecond} {
			both := []core.Pending[int]{core.Begin(a, bars(d)), core.Begin(a, bars(70*time.Millisecond-d))}
			sim.Run(15 * time.Millisecond)
			if stand != 2 {
				t.Fatalf("seed %d: %d barriers stand", sim.Seed, stand)
			}
			var behind []core.Pending[int]
			for range 6 {
				behind = append(behind, core.Begin(a, func(_ *player, s *scene) core.Yield {
					if stand != 0 || ended != 2*(i+1) {
						t.Errorf("seed %d: a call begins while %d barriers stand", sim.Seed, stand)
					}
					return s.Return(1)
				}))
				sim.Run(10 * time.Millisecond) // one ends meanwhile
			}
			sim.Run(time.Second)
			for _, c := range append(both, behind...) {
				if n, err := c.Get(); n != 1 || err != nil {
					t.Errorf("seed %d: answer %d, %v", sim.Seed, n, err)
				}
			}
		}
	})
}

// porter holds its calls for a while. At the end it tells itself something, which comes behind
// what was held.
type porter struct {
	seen []int
	hold string
	self core.Address[porter]
	tick core.Future[core.Tick]
}

type porterStack struct {
	core.AskStack[int, int]
	tick core.Future[core.Tick]
}

const porterWaits = 10 * time.Millisecond

func (p *porter) note(s *core.NoticeStack[int]) core.Yield {
	p.seen = append(p.seen, s.Msg)
	return s.Return()
}

// tells says 4, 5 and 6 to the porter itself.
func (p *porter) tells(s core.Running) {
	for n := 4; n <= 6; n++ {
		porterNote.At(p.self).Notice(s, n)
	}
}

func (p *porter) holds(s *porterStack) core.Yield {
	switch p.hold {
	case "barrier":
		s.Barrier()
	case "pause":
		p.self.Pause()
	}
	core.Timer.Ask(s, &s.tick, porterWaits)
	return core.Suspend(s, (*porter).held)
}

func (p *porter) held(s *porterStack) core.Yield {
	p.tells(s)
	if p.hold == "pause" {
		p.self.Continue()
	}
	return s.Return(1)
}

func (p *porter) PreStart(s *core.HookStack) core.Yield {
	if p.hold != "hook" {
		return s.Return()
	}
	core.Timer.Ask(s, &p.tick, porterWaits)
	return core.Suspend(s, (*porter).started)
}

func (p *porter) started(s *core.HookStack) core.Yield {
	p.tells(s)
	return s.Return()
}

var (
	porterNote  = core.HandleNotice((*porter).note)
	porterHolds = core.Handle((*porter).holds)
)

// TestOrderAtTheEndOfAHold: what was held goes before what has come since.
func TestOrderAtTheEndOfAHold(t *testing.T) {
	for _, hold := range []string{"barrier", "pause", "serial", "hook"} {
		t.Run(hold, func(t *testing.T) {
			eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
				p := &porter{hold: hold}
				var err error
				p.self, err = core.SpawnWith(sim, func() *porter { return p }, core.Props{Serial: hold == "serial"})
				if err != nil {
					t.Fatal(err)
				}
				call := core.Begin(porterHolds.At(p.self), 0) // of "hook" it is held itself
				sim.Run(porterWaits / 2)
				for n := 1; n <= 3; n++ {
					core.Notice(porterNote.At(p.self), n)
				}
				sim.Run(time.Second)
				if _, err := call.Get(); err != nil {
					t.Error(err)
				}
				want := []int{1, 2, 3, 4, 5, 6}
				if hold == "hook" {
					want = append(want, 4, 5, 6) // once by the call
				}
				if !slices.Equal(p.seen, want) {
					t.Errorf("seed %d: told %v, want %v", sim.Seed, p.seen, want)
				}
			})
		})
	}
}
