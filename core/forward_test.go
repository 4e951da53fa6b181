package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// forward has another player act.
func forward(to core.Port[script, int], act script) script {
	return func(_ *player, s *scene) core.Yield { return to.Forward(s, act) }
}

// nothingLeft ends a simulation, and requires that every pooled object has come home.
func nothingLeft(t *testing.T, sim *housetest.Sim) {
	t.Helper()
	require.NoError(t, sim.Shutdown(t.Context()))
	require.Zero(t, sim.Outstanding())
}

// TestForward: the asker gets the other's answer, on all ways between workers, however often the
// ask is forwarded; all of them know who asked.
func TestForward(t *testing.T) {
	eachSeed(t, 5, 3, func(t *testing.T, sim *housetest.Sim) {
		for at := range 27 {
			ai, a := cast(sim, at%3)
			_, b := cast(sim, at/3%3)
			_, c := cast(sim, at/9)
			senders := 0
			whose := func(act script) script {
				return func(p *player, s *scene) core.Yield {
					if core.Sender(s) == ai.Any() {
						senders++
					}
					return act(p, s)
				}
			}
			wantAnswer(t, sim, a, relay(b, whose(forward(c, whose(answer(7))))), 7)
			wantAnswer(t, sim, a, relay(b, whose(forward(c, whose(forward(b, whose(forward(a, whose(answerIn(time.Millisecond, 8))))))))), 8)
			if senders != 6 {
				t.Errorf("%d of 6 knew who asked", senders)
			}
			wantAnswer(t, sim, b, forward(c, answer(9)), 9) // a guest's
		}
		nothingLeft(t, sim)
	})
}

// TestForwardedErrors: what the other says, or its house, is what the asker hears.
func TestForwardedErrors(t *testing.T) {
	oops := errors.New("oops")
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		for worker := range 2 {
			_, a := cast(sim, 0)
			_, b := cast(sim, 0)
			ci, c := cast(sim, worker)
			wantError(t, sim, a, relay(b, forward(c, func(_ *player, s *scene) core.Yield { return s.Throw(oops) })), oops)
			wantError(t, sim, a, relay(b, forward(c, func(*player, *scene) core.Yield { panic(oops) })), core.ErrPanic)
			ci.Stop()
			sim.Rest()
			wantError(t, sim, a, relay(b, forward(c, answer(1))), core.ErrStopped)
			wantError(t, sim, b, forward(c, answer(1)), core.ErrStopped)
		}
	})
}

// TestForwardToAFullMailbox: the refusal is the answer.
func TestForwardToAFullMailbox(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 2, MailboxMax: 1, Supervise: resumes, Logger: quiet})
	for worker := range 2 {
		_, a := cast(sim, 0)
		_, b := cast(sim, 0)
		_, c := cast(sim, worker)
		full := 0
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			for i := range s.f {
				b.Ask(s, &s.f[i], forward(c, answer(1)))
			}
			return s.wait(func(_ *player, s *scene) core.Yield {
				for i := range s.f {
					if _, err := s.f[i].Get(); err == core.ErrMailboxFull {
						full++
					}
				}
				return s.Return(1)
			})
		}, 1)
		if full == 0 {
			t.Error("nothing was refused")
		}
	}
}

// TestForwardOfTheDead: what was given up, or is late, isn't begun by whom it was forwarded to;
// what it has suspended there ends.
func TestForwardOfTheDead(t *testing.T) {
	eachSeedOf(t, 5, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		for worker := range 2 {
			_, a := cast(sim, 0)
			_, b := cast(sim, 0)
			ci, c := cast(sim, worker)
			began, went := 0, 0
			slow := func(_ *player, s *scene) core.Yield {
				began++
				core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
				return s.wait(func(_ *player, s *scene) core.Yield { went++; return s.Return(1) })
			}
			// Given up while it is suspended there.
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[0], forward(c, forward(c, slow)))
				core.Timer.Ask(s, &s.tick, time.Millisecond)
				return s.waitAny(answer(2))
			}, 2)
			sim.Run(20 * time.Millisecond)
			if began != 1 || went != 0 {
				t.Errorf("the ask began %d times and went on %d times, want 1 and 0", began, went)
			}
			// Given up, and expired, while it is queued there.
			ci.Pause()
			sim.Rest()
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[0], forward(c, slow))
				b.AskWithin(s, &s.f[1], forward(c, slow), time.Millisecond)
				core.Timer.Ask(s, &s.tick, 2*time.Millisecond)
				return s.waitUntil(func(s *scene) bool { return s.tick.Ready() }, answer(2))
			}, 2)
			ci.Continue()
			sim.Run(20 * time.Millisecond)
			if began != 1 {
				t.Errorf("%d asks began that nobody waits for", began-1)
			}
		}
		wantStat(t, "late", stats(sim).Late, 6)
		nothingLeft(t, sim)
	})
}

// TestForwardKeepsTheDeadline: what is left of the first ask's is all that whoever answers has,
// and what it asks.
func TestForwardKeepsTheDeadline(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		for worker := range 2 {
			_, a := cast(sim, 0)
			_, b := cast(sim, 0)
			_, c := cast(sim, worker)
			var first int64
			same := func(_ *player, s *scene) core.Yield {
				if s.Deadline() != first || first == 0 {
					t.Errorf("the deadline is %d, that of the first ask %d", s.Deadline(), first)
				}
				core.Timer.Ask(s, &s.tick, time.Hour)
				return s.wait(func(_ *player, s *scene) core.Yield {
					if sim.Now < first {
						t.Errorf("ended at %d, before %d", sim.Now, first)
					}
					_, err := s.tick.Get()
					return s.Throw(err)
				})
			}
			noted := func(act script) script {
				return func(_ *player, s *scene) core.Yield {
					first = s.Deadline()
					return c.Forward(s, act)
				}
			}
			wantError(t, sim, b, noted(same), core.ErrTimeout) // a guest's default
			began := sim.Now
			wantError(t, sim, a, askWithin(b, 30*time.Millisecond, noted(forward(b, same))), core.ErrTimeout)
			if took := time.Duration(sim.Now - began); took > time.Second {
				t.Errorf("30 ms took %v", took)
			}
		}
	})
}

// TestForwardAndStop: who has forwarded an ask has nothing to do with it.
func TestForwardAndStop(t *testing.T) {
	eachSeed(t, 5, 3, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		bi, b := cast(sim, 1)
		_, c := cast(sim, 2)
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			b.Ask(s, &s.f[0], forward(c, answerIn(10*time.Millisecond, 5)))
			core.Timer.Ask(s, &s.tick, time.Millisecond)
			return s.waitUntil(func(s *scene) bool { return s.tick.Ready() }, func(p *player, s *scene) core.Yield {
				bi.Stop()
				return s.wait(get)
			})
		}, 5)
	})
}

// TestForwardThenFail: an ask isn't forwarded by a step that fails behind it.
func TestForwardThenFail(t *testing.T) {
	for name, fail := range map[string]func(s *scene, y core.Yield) core.Yield{
		"panic":       func(*scene, core.Yield) core.Yield { panic("behind Forward") },
		"zero Yield":  func(*scene, core.Yield) core.Yield { return core.Yield{} },
		"Return":      func(s *scene, _ core.Yield) core.Yield { return s.Return(1) },
		"an old one":  func(s *scene, y core.Yield) core.Yield { return y },
		"Forward too": func(s *scene, y core.Yield) core.Yield { return play.At(core.Self[player](s)).Forward(s, answer(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			sim := stage(t, 1, 1)
			_, a := cast(sim, 0)
			_, b := cast(sim, 0)
			began := false
			if name == "an old one" { // of another stack
				var old core.Yield
				wantAnswer(t, sim, a, relay(b, func(p *player, s *scene) core.Yield {
					old = b.Forward(s, answer(1))
					return old
				}), 1)
				wantError(t, sim, a, relay(b, func(_ *player, s *scene) core.Yield { s.Return(1); return old }), core.ErrPanic)
				return
			}
			wantError(t, sim, a, relay(b, func(p *player, s *scene) core.Yield {
				return fail(s, b.Forward(s, func(_ *player, s *scene) core.Yield { began = true; return s.Return(1) }))
			}), core.ErrPanic)
			nothingLeft(t, sim)
			if began {
				t.Error("the ask was forwarded")
			}
		})
	}
}

// TestForwardToMany: a batch has forwarded asks as members, and routers pass on.
func TestForwardToMany(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		_, b := cast(sim, 1)
		group := &core.Group[player]{}
		if _, err := core.Ask(context.Background(), play.RoundRobin(group), nil); err != core.ErrNoMember {
			t.Error(err)
		}
		ports := map[string]core.Port[script, int]{
			"round robin": play.RoundRobin(group),
			"by key":      play.ByKey(group, func(*script) uint64 { return 3 }),
			"least":       play.LeastQueued(group),
			"through":     play.RoundRobin(group).Through(func(f script) (script, error) { return f, nil }),
			"through one": b.Through(func(f script) (script, error) { return f, nil }),
		}
		for name, p := range ports {
			if name != "through one" {
				wantError(t, sim, a, relay(b, forward(p, answer(1))), core.ErrNoMember)
			}
		}
		for worker := range 2 {
			m, _ := cast(sim, worker)
			group.Join(m)
		}
		for _, p := range ports {
			for i := range 4 {
				wantAnswer(t, sim, a, relay(b, forward(p, answer(i))), i)
			}
		}
		refuses := errors.New("refused")
		wantError(t, sim, a, relay(b, forward(b.Through(func(script) (script, error) { return nil, refuses }), answer(1))), refuses)
		wantError(t, sim, a, relay(b, forward(play.ByKey(group, func(*script) uint64 { panic("no key") }), answer(1))), core.ErrPanic)
		wantError(t, sim, a, relay(b, forward(core.First(play, group), answer(1))), core.ErrPanic)
		nothingLeft(t, sim)
	})
}

// TestForwardThenFailOfARouter: a member isn't taken for busy with what it never got.
func TestForwardThenFailOfARouter(t *testing.T) {
	sim := stage(t, 1, 1)
	group := &core.Group[player]{}
	m, one := cast(sim, 0)
	group.Join(m)
	_, b := cast(sim, 0)
	least := play.LeastQueued(group)
	for range 3 {
		wantError(t, sim, b, func(_ *player, s *scene) core.Yield {
			least.Forward(s, answer(1))
			panic("behind Forward")
		}, core.ErrPanic)
	}
	other, _ := cast(sim, 0)
	group.Join(other)
	asked := map[core.Address[player]]int{}
	for range 8 {
		wantAnswer(t, sim, b, forward(least, func(_ *player, s *scene) core.Yield {
			asked[core.Self[player](s)]++
			return s.Return(1)
		}), 1)
	}
	if asked[m] == 0 {
		t.Errorf("asked %v: never the first", asked)
	}
	wantAnswer(t, sim, one, answer(2), 2)
	nothingLeft(t, sim)
}

// TestForwardToABatch: forwarded asks are members of batches as others are.
func TestForwardToABatch(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		for worker := range 2 {
			_, a := cast(sim, 0)
			_, b := cast(sim, 0)
			counter := sumAt(sim, worker)
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				for i := range s.f {
					b.Ask(s, &s.f[i], func(_ *player, s *scene) core.Yield { return counter.Forward(s, i) })
				}
				return s.wait(func(_ *player, s *scene) core.Yield {
					sum := 0
					for i := range s.f {
						n, err := s.f[i].Get()
						if err != nil || n != 10*i {
							t.Errorf("answer %d, %v of %d", n, err, i)
						}
						sum += n
					}
					return s.Return(sum)
				})
			}, 280)
		}
	})
}

// tens is an actor that answers ten times what it is asked, many at a time.
type tens struct{}

type tensStack struct{ core.BatchAskStack[int, int] }

var tensOf = core.HandleBatch((*tens).all, 0)

func (*tens) all(s *tensStack) core.Yield {
	return s.ReturnEach(func(n *int) (int, error) { return 10 * *n, nil })
}

func sumAt(sim *housetest.Sim, worker int) core.Port[int, int] {
	return tensOf.At(core.Spawn(sim.Workers()[worker], func() *tens { return &tens{} }))
}

// courier hands letters on, or writes them.
type courier struct{ next core.Port[int, []byte] }

type errand struct {
	core.AskStack[int, []byte]
}

var deliver = core.Handle((*courier).deliver)

func (c *courier) deliver(s *errand) core.Yield {
	s.Copy([]byte("of the one on the way"))
	if s.Req%10 == 0 { // it has been handed on often enough
		return s.Return(s.Copy(letterOf(s.Req / 10)))
	}
	return c.next.Forward(s, s.Req-1)
}

func letterOf(n int) []byte { return bytes.Repeat(fmt.Append(nil, "letter ", n), 9) }

// TestForwardedBytes: bytes of a reply live until the asker needs them no longer, whatever
// others write meanwhile; then all slabs are free.
func TestForwardedBytes(t *testing.T) {
	sim := stage(t, 1, 2)
	c := &courier{}
	other := deliver.At(core.Spawn(sim.Workers()[1], func() *courier { return &courier{} }))
	one := deliver.At(core.Spawn(sim.Workers()[0], func() *courier { return c }))
	c.next = other
	for hops := range 2 {
		var calls []core.Pending[[]byte]
		for n := range 5 {
			calls = append(calls, core.Begin(one, 10*n+hops))
			sim.Rest()
		}
		for n, call := range calls {
			if err := call.GetInto(func(got *[]byte) {
				if want := letterOf(n); !bytes.Equal(*got, want) {
					t.Errorf("letter %q, want %q", *got, want)
				}
			}); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestForwardWithThreads: many asks cross three workers, some given up, while the actors between
// stop, each when it has forwarded one. Nobody else's answer is lost with them.
func TestForwardWithThreads(t *testing.T) {
	const guests, each = 4, 500
	sys := open(t, house.Config{Workers: 3})
	var ports [3]core.Port[script, int]
	for i, w := range sys.Workers() {
		ports[i] = play.At(core.Spawn(w, func() *player { return &player{} }))
	}
	between := func(worker int, act script) (core.Address[player], core.Port[script, int], script) {
		a := core.Spawn(sys.Workers()[worker], func() *player { return &player{} })
		return a, play.At(a), func(_ *player, s *scene) core.Yield {
			a.Stop()
			return ports[(worker+1)%3].Forward(s, act)
		}
	}
	var all sync.WaitGroup
	var gaveUp atomic.Int64
	for g := range guests {
		all.Go(func() {
			for i := range each {
				a, p, act := between((g+i)%3, forward(ports[(g+i)%3], answer(i)))
				ctx, cancel := context.WithCancel(t.Context())
				if i%7 == 0 {
					go cancel()
				}
				n, err := core.Ask(ctx, ports[i%3], relay(p, act))
				cancel()
				switch {
				case err != nil && i%7 == 0:
					gaveUp.Add(1)
				case err != nil || n != i:
					t.Errorf("answer %d, %v of %d", n, err, i)
				}
				if err := a.StopWait(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := sys.Actors(); n != len(ports) {
		t.Errorf("%d actors are left, want %d", n, len(ports))
	}
	if n := gaveUp.Load(); n == guests*(each/7+1) {
		t.Error("all were given up that could be")
	}
}

// TestSender: guests are nobody; the address can be used again as one of its type, and only of
// that.
func TestSender(t *testing.T) {
	sim := stage(t, 1, 2)
	ai, a := cast(sim, 0)
	_, b := cast(sim, 1)
	var sender core.AnyAddress
	note := func(_ *player, s *scene) core.Yield { sender = core.Sender(s); return s.Return(1) }
	wantAnswer(t, sim, b, note, 1)
	if sender != (core.AnyAddress{}) {
		t.Errorf("a guest is %v", sender)
	}
	wantAnswer(t, sim, a, relay(b, note), 1)
	if got, ok := core.As[player](sender); !ok || got != ai {
		t.Errorf("sender %v, want %v", sender, ai)
	}
	if _, ok := core.As[tens](sender); ok {
		t.Error("a player is taken for something else")
	}
	if want := fmt.Sprint(ai); sender.String() != want || sender.Path() != ai.Path() {
		t.Errorf("sender %v at %v", sender, sender.Path())
	}
	wantError(t, sim, a, relay(b, func(_ *player, s *scene) core.Yield {
		asker, _ := core.As[player](core.Sender(s))
		asker.Stop()
		return s.Return(1)
	}), core.ErrStopped)
	if want := fmt.Sprint(ai); sender.String() != want {
		t.Errorf("a sender that has stopped is %v, want %s", sender, want)
	}
}

// A forwarded ask that waits when its asker stops counts as given up, and one whose time passes
// as one that came too late.
func TestForwardedAskEndsInTheQueue(t *testing.T) {
	sim := stage(t, 1, 2)
	asker, p := cast(sim, 0)
	_, between := cast(sim, 0)
	last, to := cast(sim, 1)
	last.Pause()
	call := core.Begin(p, relay(between, forward(to, answer(1))))
	sim.Rest()
	asker.Stop()
	sim.Rest()
	last.Continue()
	sim.Rest()
	endedAs(t, core.ErrStopped, call)
	wantStat(t, "calls that were given up", stats(sim).Cancelled, 1)
	wantStat(t, "calls that came too late", stats(sim).Expired, 0)

	last.Pause()
	call = core.Begin(between, forward(to, answer(1))) // who doesn't look at it gives nothing up
	sim.Run(time.Minute)
	last.Continue()
	sim.Rest()
	endedAs(t, core.ErrTimeout, call)
	wantStat(t, "calls that were given up", stats(sim).Cancelled, 1)
	wantStat(t, "calls that came too late", stats(sim).Expired, 1)
}

// TestForwardTimeAndAgain: work in many parts, each forwarded, holds no more memory with every
// part; the asker gets the answer, and the bytes, of the last one, and those of all parts live
// until then.
func TestForwardTimeAndAgain(t *testing.T) {
	sim := stage(t, 1, 2)
	_, a := cast(sim, 0)
	_, b := cast(sim, 1)
	most, least := 0, math.MaxInt
	var part func(left int) script
	part = func(left int) script {
		return func(_ *player, s *scene) core.Yield {
			if held := sim.Outstanding(); left < 90 { // the first parts fill lanes
				most, least = max(most, held), min(least, held)
			}
			if left == 0 {
				return s.Return(7)
			}
			return b.Forward(s, part(left-1))
		}
	}
	wantAnswer(t, sim, a, relay(b, part(100)), 7)
	if most > least+2 {
		t.Errorf("between %d and %d pooled objects are out", least, most)
	}
	nothingLeft(t, sim)
}
