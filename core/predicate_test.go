package core_test

import (
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestPredicateOnlyLooks: what only a step may do is a panic in the predicate of SuspendUntil,
// contained as one in a step; an ask made there would have no deadline.
func TestPredicateOnlyLooks(t *testing.T) {
	never := func(_ *player, s *scene) core.Yield {
		core.Timer.Ask(s, &s.tick, time.Hour)
		return s.wait(get)
	}
	for name, do := range map[string]func(s *scene, b core.Port[script, int]){
		"Ask":          func(s *scene, b core.Port[script, int]) { b.Ask(s, &s.f[2], never) },
		"AskWithin":    func(s *scene, b core.Port[script, int]) { b.AskWithin(s, &s.f[2], never, time.Second) },
		"Timer":        func(s *scene, _ core.Port[script, int]) { core.Timer.Ask(s, &s.tick, time.Hour) },
		"Return":       func(s *scene, _ core.Port[script, int]) { s.Return(1) },
		"Throw":        func(s *scene, _ core.Port[script, int]) { s.Throw(errHot) },
		"Forward":      func(s *scene, b core.Port[script, int]) { b.Forward(s, answer(1)) },
		"Suspend":      func(s *scene, _ core.Port[script, int]) { core.Suspend(s, (*player).next) },
		"SuspendAny":   func(s *scene, _ core.Port[script, int]) { core.SuspendAny(s, (*player).next) },
		"SuspendUntil": func(s *scene, _ core.Port[script, int]) { core.SuspendUntil(s, (*player).enough, (*player).next) },
		"Barrier":      func(s *scene, _ core.Port[script, int]) { s.Barrier() },
		"Stash":        func(s *scene, _ core.Port[script, int]) { core.Stash(s) },
		"Unstash":      func(s *scene, _ core.Port[script, int]) { core.Unstash(s) },
	} {
		t.Run(name, func(t *testing.T) {
			eachSeed(t, 2, 2, func(t *testing.T, sim *housetest.Sim) {
				_, a := cast(sim, 0)
				for worker := range 2 {
					_, b := cast(sim, worker)
					call := core.Begin(a, func(_ *player, s *scene) core.Yield {
						b.Ask(s, &s.f[0], answer(1))
						b.Ask(s, &s.f[1], never)
						return s.waitUntil(func(s *scene) bool { do(s, b); return false }, get)
					})
					sim.Rest()
					if !call.Ready() {
						t.Fatal("the predicate went on")
					}
					_, err := call.Get()
					wantPanic(t, err, "a predicate of SuspendUntil asks, or ends its stack, in core_test.(*player).open")
					wantAnswer(t, sim, a, relay(b, answer(5)), 5)
				}
				nothingLeft(t, sim)
			})
		})
	}
}
