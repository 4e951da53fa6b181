package core_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

type (
	// singer answers with bytes of its own, after a time.
	singer struct{ id int }
	sing   struct {
		Delay func(id int) time.Duration
		Fails func(id int) error
	}
	singStack struct {
		core.AskStack[sing, []byte]
		tick core.Future[core.Tick]
	}
)

func (v *singer) sing(s *singStack) core.Yield {
	if s.Req.Delay == nil {
		return v.sung(s)
	}
	core.Timer.Ask(s, &s.tick, s.Req.Delay(v.id))
	return core.Suspend(s, (*singer).rested)
}

func (v *singer) rested(s *singStack) core.Yield {
	if _, err := s.tick.Get(); err != nil {
		return s.Throw(err)
	}
	return v.sung(s)
}

func (v *singer) sung(s *singStack) core.Yield {
	if s.Req.Fails != nil {
		if err := s.Req.Fails(v.id); err != nil {
			return s.Throw(err)
		}
	}
	return s.Return(s.Copy(fmt.Append(nil, "song ", v.id)))
}

var singerSing = core.Handle((*singer).sing)

// choir is n singers on all workers.
func choir(sim *housetest.Sim, n int) (*core.Group[singer], []core.Address[singer]) {
	g, all := &core.Group[singer]{}, make([]core.Address[singer], n)
	for i := range all {
		all[i] = core.Spawn(sim, func() *singer { return &singer{i} })
		g.Join(all[i])
	}
	return g, all
}

// sizes are those at which a fan-out takes another stack.
var sizes = []int{1, 2, 8, 9, 64, 65, 256}

// TestBroadcast: all members are asked, all answers are there, with their bytes,
// as long as the future is.
func TestBroadcast(t *testing.T) {
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			eachSeed(t, 2, 3, func(t *testing.T, sim *housetest.Sim) {
				g, _ := choir(sim, n)
				all := core.Broadcast(singerSing, g)
				odd := func(id int) error {
					if id%2 == 1 {
						return errSour
					}
					return nil
				}
				check := func(answers core.Answers[[]byte]) {
					t.Helper()
					if answers.Len() != n {
						t.Errorf("seed %d: %d answers of %d", sim.Seed, answers.Len(), n)
					}
					i := 0
					for song, err := range answers.All() {
						if odd(i) != nil && err != errSour || odd(i) == nil && (err != nil || string(song) != fmt.Sprint("song ", i)) {
							t.Errorf("seed %d: answer %d is %q, %v", sim.Seed, i, song, err)
						}
						i++
					}
					if err := answers.Err(); (err != nil) != (n > 1) {
						t.Errorf("seed %d: the first error is %v", sim.Seed, err)
					}
				}
				req := sing{Fails: odd}
				for round := range 3 { // the second and third recycle
					if round == 1 {
						req.Delay = func(id int) time.Duration { return time.Duration(id*7919%31) * time.Millisecond }
					}
					_, a := cast(sim, round)
					var f core.Future[core.Answers[[]byte]]
					var other core.Pending[core.Answers[[]byte]]
					wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
						all.Ask(s, &f, req)
						return s.wait(func(_ *player, s *scene) core.Yield {
							answers, err := f.Get()
							if err != nil {
								return s.Throw(err)
							}
							check(answers)
							core.Timer.Ask(s, &s.tick, time.Second)
							other = core.Begin(all, sing{}) // it uses the pools meanwhile
							return s.wait(func(_ *player, s *scene) core.Yield {
								check(answers)
								return s.Return(1)
							})
						})
					}, 1)
					if _, err := other.Get(); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

var errSour = errors.New("sour")

// TestBroadcastOfAGuest: a guest reads the answers while they are valid.
func TestBroadcastOfAGuest(t *testing.T) {
	sys := open(t, house.Config{Workers: 2})
	g := &core.Group[singer]{}
	for i := range 5 {
		g.Join(core.Spawn(sys, func() *singer { return &singer{i} }))
	}
	all := core.Broadcast(singerSing, g)
	for range 10 {
		var songs []string
		err := core.AskInto(t.Context(), all, sing{}, func(answers *core.Answers[[]byte]) {
			for song, err := range answers.All() {
				songs = append(songs, fmt.Sprint(string(song), err))
			}
		})
		if got := strings.Join(songs, ", "); err != nil || got != "song 0<nil>, song 1<nil>, song 2<nil>, song 3<nil>, song 4<nil>" {
			t.Errorf("%s, %v", got, err)
		}
	}
	if n := sys.Actors(); n != 6 {
		t.Errorf("%d actors for 5 singers and a host", n)
	}
}

// TestGuestsFanBehindAShutdown: who asks for guests lives beside the first member, and reaches
// those of that system. When it has shut down, and left the group, the next is asked.
func TestGuestsFanBehindAShutdown(t *testing.T) {
	one, two := stage(t, 1, 1), stage(t, 2, 1)
	g, _ := choir(one, 1)
	g.Join(core.Spawn(two, func() *singer { return &singer{1} }))
	first := core.First(singerSing, g)
	sings := func(want string) {
		t.Helper()
		call := core.Begin(first, sing{Fails: func(id int) error {
			if fmt.Sprint("song ", id) != want {
				return errSour
			}
			return nil
		}})
		for range 4 {
			one.Rest()
			two.Rest()
		}
		require.True(t, call.Ready())
		song := ""
		require.NoError(t, call.GetInto(func(b *[]byte) { song = string(*b) }))
		require.Equal(t, want, song)
	}
	sings("song 0")
	require.NoError(t, one.Shutdown(t.Context()))
	sings("song 1")
}

// TestFirst: the first success is the answer, the rest is cancelled; if there is
// none, the last failure is.
func TestFirst(t *testing.T) {
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			eachSeedOf(t, 2, 3, briskSteps, func(t *testing.T, sim *housetest.Sim) {
				g, _ := choir(sim, n)
				first := core.First(singerSing, g)
				winner, last := n/2, n/3
				sour := make([]error, n)
				for i := range sour {
					sour[i] = fmt.Errorf("singer %d is %w", i, errSour)
				}
				slow := sing{ // the winner is the second to end, where there are several
					Delay: func(id int) time.Duration {
						switch id {
						case winner:
							return 2 * time.Millisecond
						case (winner + 1) % n:
							return time.Millisecond
						}
						return time.Hour
					},
					Fails: func(id int) error {
						if id == winner {
							return nil
						}
						return sour[id]
					},
				}
				none := sing{
					Delay: func(id int) time.Duration {
						if id == last {
							return time.Second
						}
						return time.Duration(id*31%97) * time.Millisecond
					},
					Fails: func(id int) error { return sour[id] },
				}
				for w := range 3 {
					_, a := cast(sim, w)
					var f core.Future[[]byte]
					wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
						first.Ask(s, &f, slow)
						return s.wait(func(_ *player, s *scene) core.Yield {
							song, err := f.Get()
							core.Timer.Ask(s, &s.tick, time.Second)
							return s.wait(func(_ *player, s *scene) core.Yield {
								if want := fmt.Sprint("song ", winner); err != nil || string(song) != want {
									t.Errorf("seed %d: %q, %v; want %q", sim.Seed, song, err, want)
								}
								return s.Return(1)
							})
						})
					}, 1)
					wantError(t, sim, a, func(_ *player, s *scene) core.Yield {
						first.Ask(s, &f, none)
						return s.wait(func(_ *player, s *scene) core.Yield {
							_, err := f.Get()
							return s.Throw(err)
						})
					}, sour[last])
				}
				sim.Run(2 * time.Hour)
				if n > 2 {
					wantStat(t, "cancelled", stats(sim).Cancelled, uint64(3*(n-2)))
				}
			})
		})
	}
}

// TestFirstOfAGuest: the guest's copy of the answer is read while the answer is valid.
func TestFirstOfAGuest(t *testing.T) {
	sys := open(t, house.Config{Workers: 2})
	g := &core.Group[singer]{}
	for i := range 5 {
		g.Join(core.Spawn(sys, func() *singer { return &singer{i} }))
	}
	fails := func(id int) error {
		if id != 3 {
			return errSour
		}
		return nil
	}
	first := core.First(singerSing, g)
	for range 10 {
		got := ""
		err := core.AskInto(t.Context(), first, sing{Fails: fails}, func(song *[]byte) { got = string(*song) })
		if err != nil || got != "song 3" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// TestFanOfTooMany: there is a bound.
func TestFanOfTooMany(t *testing.T) {
	sim := stage(t, 1, 2)
	g, _ := choir(sim, core.FanMax+1)
	if _, err := housetest.Ask(t, sim, core.First(singerSing, g), sing{}); !errors.Is(err, core.ErrOverloaded) {
		t.Errorf("a guest gets %v", err)
	}
	_, a := cast(sim, 0)
	var f core.Future[core.Answers[[]byte]]
	wantError(t, sim, a, func(_ *player, s *scene) core.Yield {
		core.Broadcast(singerSing, g).Ask(s, &f, sing{})
		return s.wait(func(_ *player, s *scene) core.Yield {
			_, err := f.Get()
			return s.Throw(err)
		})
	}, core.ErrOverloaded)
}

// TestFanEnds: deadlines, cancels and stops of everybody in it end a fan-out once,
// and everything goes home.
func TestFanEnds(t *testing.T) {
	slow := sing{Delay: func(int) time.Duration { return time.Hour }}
	some := sing{Delay: func(id int) time.Duration { return time.Duration(1+id%2*3600) * time.Second }}
	for name, c := range map[string]struct {
		req   sing
		limit time.Duration
		then  func(sim *housetest.Sim, a core.Address[player], members []core.Address[singer])
		all   error // of the broadcast
		first error
		err   error // of the answers
	}{
		"timeout":       {req: slow, limit: time.Millisecond, all: core.ErrTimeout, first: core.ErrTimeout},
		"some time out": {req: some, limit: time.Minute, all: core.ErrTimeout},
		"members stop":  {req: slow, then: func(_ *housetest.Sim, _ core.Address[player], m []core.Address[singer]) { stopAll(m) }, first: core.ErrStopped, err: core.ErrStopped},
		"one member stops": {req: some, then: func(sim *housetest.Sim, _ core.Address[player], m []core.Address[singer]) {
			sim.Run(2 * time.Second)
			for i := range m {
				if i%2 == 1 {
					m[i].Stop()
				}
			}
		}, err: core.ErrStopped},
		"the asker stops": {req: slow, then: func(_ *housetest.Sim, a core.Address[player], _ []core.Address[singer]) { a.Stop() }, all: core.ErrStopped, first: core.ErrStopped},
	} {
		t.Run(name, func(t *testing.T) {
			eachSeed(t, 5, 3, func(t *testing.T, sim *housetest.Sim) {
				g, members := choir(sim, 7)
				address, a := cast(sim, int(sim.Seed)%3)
				all, first := core.Broadcast(singerSing, g), core.First(singerSing, g)
				limit := c.limit
				if limit == 0 {
					limit = 24 * time.Hour
				}
				var f core.Future[core.Answers[[]byte]]
				var h core.Future[[]byte]
				ask := func(got script, fan func(s *scene)) core.Pending[int] {
					return core.Begin(a, func(_ *player, s *scene) core.Yield {
						fan(s)
						return s.wait(got)
					})
				}
				one := ask(func(_ *player, s *scene) core.Yield {
					answers, err := f.Get()
					if err == nil && !errors.Is(answers.Err(), c.err) {
						t.Errorf("seed %d: the answers' error is %v, want %v", sim.Seed, answers.Err(), c.err)
					}
					if err != nil {
						return s.Throw(err)
					}
					return s.Return(1)
				}, func(s *scene) { all.AskWithin(s, &f, c.req, limit) })
				two := ask(func(_ *player, s *scene) core.Yield {
					if _, err := h.Get(); err != nil {
						return s.Throw(err)
					}
					return s.Return(1)
				}, func(s *scene) { first.AskWithin(s, &h, c.req, limit) })
				sim.Run(500 * time.Microsecond)
				if c.then != nil {
					c.then(sim, address, members)
				}
				sim.Run(2 * time.Hour)
				for i, want := range []error{c.all, c.first} {
					call := []core.Pending[int]{one, two}[i]
					if !call.Ready() {
						t.Fatalf("seed %d: ask %d has no end", sim.Seed, i)
					}
					if _, err := call.Get(); !errors.Is(err, want) {
						t.Errorf("seed %d: ask %d ends with %v, want %v", sim.Seed, i, err, want)
					}
				}
			})
		})
	}
}

func stopAll(all []core.Address[singer]) {
	for _, a := range all {
		a.Stop()
	}
}

// TestFanIsCancelled: an asker that ends first takes its fan-out back.
func TestFanIsCancelled(t *testing.T) {
	eachSeed(t, 5, 3, func(t *testing.T, sim *housetest.Sim) {
		g, _ := choir(sim, 4)
		slow := sing{Delay: func(id int) time.Duration { return time.Duration(1+id*id*id*100) * time.Millisecond }}
		_, a := cast(sim, 0)
		var f core.Future[core.Answers[[]byte]]
		var h core.Future[[]byte]
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			core.Broadcast(singerSing, g).Ask(s, &f, slow)
			core.First(singerSing, g).Ask(s, &h, slow)
			return s.Return(5)
		}, 5)
		sim.Run(time.Hour)
		wantStat(t, "cancelled", stats(sim).Cancelled, 2+2*4) // the fan-outs and their members
	})
}

// TestFanInAChain: what a member answers may itself come from a fan-out.
func TestFanInAChain(t *testing.T) {
	eachSeed(t, 5, 3, func(t *testing.T, sim *housetest.Sim) {
		g, _ := choir(sim, 3)
		inner := core.Broadcast(singerSing, g)
		var team core.Group[player]
		for w := range 3 {
			a, _ := cast(sim, w)
			team.Join(a)
		}
		outer := core.Broadcast(play, &team)
		_, a := cast(sim, 0)
		var f core.Future[core.Answers[int]]
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			outer.Ask(s, &f, func(_ *player, s *scene) core.Yield {
				f := new(core.Future[core.Answers[[]byte]])
				inner.Ask(s, f, sing{})
				return s.wait(func(_ *player, s *scene) core.Yield {
					answers, err := f.Get()
					if err != nil {
						return s.Throw(err)
					}
					return s.Return(answers.Len())
				})
			})
			return s.wait(func(_ *player, s *scene) core.Yield {
				answers, err := f.Get()
				if err != nil {
					return s.Throw(err)
				}
				sum := 0
				for n := range answers.All() {
					sum += n
				}
				return s.Return(sum)
			})
		}, 9)
	})
}

// TestBroadcastOfNotices: every member is told, by steps and by guests.
func TestBroadcastOfNotices(t *testing.T) {
	eachSeed(t, 3, 3, func(t *testing.T, sim *housetest.Sim) {
		o := staffed(sim, 4)
		tell := clerkTell.Broadcast(&o.group)
		_, a := cast(sim, 1)
		for i := range 5 {
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				tell.Notice(s, numbered{1, i + 1})
				return s.Return(1)
			}, 1)
			core.Notice(tell, numbered{2, i + 1})
		}
		sim.Rest()
		same(t, sim, "messages", o.counts(), []int{10, 10, 10, 10})
		o.all[2].Stop()
		sim.Rest()
		core.Notice(tell, numbered{2, 9})
		sim.Rest()
		same(t, sim, "one stopped", o.counts(), []int{1, 1, 0, 1})
		for i, c := range o.clerks {
			if c.bad != 0 {
				t.Errorf("seed %d: clerk %d got %d out of order", sim.Seed, i, c.bad)
			}
		}
	})
}
