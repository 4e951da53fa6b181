package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// The stress has all features meet: asks with and without limits, forwards, offloads that fail,
// stashes, barriers, watches, restarts, stops, actors that move, guests that give up, a shutdown
// under traffic. What is checked while it runs: one sender's messages begin in their order and
// once, a reply is its ask's, nothing begins behind a barrier, a watcher hears once of each end,
// and then the name is free, what is Serial begins nothing beside another, and nothing ends or
// begins anew beside what it keeps. At rest each citizen still answers, and the books balance
// (see balance).

// newStress spawns the mayor and its citizens.
func newStress(t testing.TB, seed uint64, sys *house.System, ask func(core.Port[int, int], int) (int, error)) *stress {
	pool, err := sys.NewOffloadPool(house.OffloadConfig{Name: "kept", Goroutines: 2, Queue: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	w := &stress{t: t, seed: seed, sys: sys, pool: pool}
	w.routes = [...]core.Port[stressReq, uint64]{citizenAsks.RoundRobin(&w.group), citizenLots.LeastQueued(&w.group),
		citizenAsks.ByKey(&w.group, func(req *stressReq) uint64 { return req.Key })}
	w.spread = citizenTales.LeastQueued(&w.group)
	for i := range w.roles {
		w.roles[i] = &role{w: w, id: i, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
	}
	w.office = &mayor{w: w, alive: map[core.AnyAddress]int{}}
	w.mayor = roomy(sys.Workers()[0], func() *mayor { return w.office })
	for slot := range stressCitizens {
		if _, err := ask(mayorAdds.At(w.mayor), slot); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	return w
}

// balance checks the books when the system has been shut down.
func (w *stress) balance(ended bool) (b stressBooks) {
	for _, r := range w.roles {
		b.add(&r.stressBooks)
	}
	same := func(what string, got, want int) {
		w.t.Helper()
		if got != want {
			w.bad("%s: %d and %d of %+v", what, got, want, b)
		}
	}
	errs := 0
	for _, n := range b.errs {
		errs += n
	}
	dead := 0
	for _, c := range w.sys.DeadLetters() {
		if c.Type == "core_test.tale" || c.Type == "core_test.saga" {
			dead += int(c.Count)
		}
	}
	same("asks and jobs = replies + results + errors + those whose asker had ended", b.asks+b.jobs, b.replies+b.results+errs+b.left)
	same("notices = those that began + dead letters + those refused as the citizen had stopped", b.tells, b.heard+dead+b.refused)
	same("asks that began = asks that ended", b.began, b.ended)
	same("instances that started = that ended", b.started, b.stopped)
	same("nobody lives", w.sys.Actors(), 0)
	same("pooled objects that are out", int(w.sys.Outstanding()), 0)
	if ended {
		same("watched = told", w.office.watched, w.office.told)
	}
	return b
}

// guest is one operation from outside.
func (r *role) guest(ctx context.Context) {
	to := r.rng.IntN(stressCitizens)
	at := r.w.citizen(to)
	switch what := r.rng.IntN(40); {
	case what < 1:
		at.Stop()
	case what < 2:
		at.Restart(errStress)
	case what < 3:
		at.Drain()
	case what < 4:
		at.Pause()
		r.tell(to)
		at.Continue()
	case what < 14:
		r.tell(to)
	case what < 18:
		r.tellInTime(ctx, to)
	default:
		r.ask(ctx)
	}
}

// rollCall has each citizen answer, behind whatever it has been through.
func (w *stress) rollCall(ask func(p core.Port[stressReq, uint64], req stressReq) (uint64, error), wait func()) {
	r := w.roles[stressCitizens]
	for slot := range stressCitizens {
		for tries := 0; ; tries++ {
			m := mark{From: r.id}
			// where this goroutine isn't the sender that the guest's was, and may overtake it
			if w.mail(slot) != stressFair {
				m = r.mark(slot)
			}
			req := stressReq{m, r.rng.Uint64(), 0}
			r.asks++
			n, err := ask(citizenAsks.At(w.citizen(slot)), req)
			if r.answered(req, n, err); err == nil {
				break
			} else if tries > 3000 {
				w.t.Fatalf("seed %d: citizen %d doesn't answer: %v", w.seed, slot, err)
			}
			wait()
		}
	}
}

// tell sends some notices to one citizen.
func (r *role) tell(to int) {
	for n := r.rng.IntN(40); n > 0; n-- {
		switch r.rng.IntN(20) {
		case 0, 1:
			r.told(core.Notice(citizenSagas.At(r.w.citizen(to)), saga{r.mark(to)}))
		default:
			r.told(core.Notice(citizenTales.At(r.w.citizen(to)), tale{r.mark(to)}))
		}
	}
}

// tellInTime sends some to one, and waits for room for a while, which may be too short.
func (r *role) tellInTime(ctx context.Context, to int) {
	ctx, end := context.WithTimeout(ctx, time.Duration(r.rng.IntN(2000))*time.Microsecond)
	defer end()
	for n := r.rng.IntN(80); n > 0; n-- {
		switch err := core.NoticeWait(ctx, citizenTales.At(r.w.citizen(to)), tale{r.mark(to)}); err {
		case core.ErrTimeout:
			return
		default:
			r.told(err)
		}
	}
}

// ask asks one citizen, and gives up after a while, which may be soon.
func (r *role) ask(ctx context.Context) {
	port, m := r.port()
	req := stressReq{m, r.rng.Uint64(), 3}
	switch r.rng.IntN(4) {
	case 0:
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, time.Duration(r.rng.IntN(300))*time.Microsecond)
		defer end()
	case 1:
		var end context.CancelFunc
		ctx, end = context.WithCancel(ctx)
		go end()
	}
	r.asks++
	n, err := core.Ask(ctx, port, req)
	r.answered(req, n, err)
}

func (r *role) answered(req stressReq, n uint64, err error) {
	if err != nil {
		r.note("a guest's ask", err)
	} else if r.replies++; n != 2*req.Key {
		r.w.bad("the reply to %x of guest %d is %x", req.Key, r.id, n)
	}
}

// stressThreads is one run with threads: each guest does so much, then the mayor ends the
// citizens, and the system is shut down; or, at half of it, the system is shut down, and guests
// go on until that is over.
func stressThreads(t *testing.T, seed uint64, each int, abrupt bool) stressBooks {
	ignore := goleak.IgnoreCurrent()
	sys, err := house.New(house.Config{Workers: 3, Budget: []int{0, 1, 3}[seed%3], Logger: quiet, AskTimeout: 20 * time.Millisecond,
		ShareAfter: 20 * time.Microsecond, OffloadMax: 4, OffloadQueue: 8, WakeForGuests: seed%2 == 1, Supervise: resumes})
	if err != nil {
		t.Fatal(err)
	}
	if err := sys.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// AskTimeout is for who may fail
	patient, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w := newStress(t, seed, sys, func(p core.Port[int, int], n int) (int, error) { return core.Ask(patient, p, n) })
	var guests sync.WaitGroup
	half := make(chan struct{}, stressGuests)
	for _, r := range w.roles[stressCitizens:] {
		guests.Go(func() {
			for i := 0; i < each || abrupt; i++ {
				r.guest(t.Context())
				if i == each/2 {
					half <- struct{}{}
				}
				select {
				case <-sys.Done():
					return
				default:
				}
			}
		})
	}
	if abrupt {
		<-half
	} else {
		guests.Wait()
		w.rollCall(func(p core.Port[stressReq, uint64], req stressReq) (uint64, error) {
			return core.Ask(t.Context(), p, req)
		},
			func() { time.Sleep(time.Millisecond) })
		for left := 1; left > 0; {
			if left, err = core.Ask(t.Context(), mayorEnds.At(w.mayor), struct{}{}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadlineOfTests)
	defer cancel()
	if err := sys.Shutdown(ctx); err != nil {
		t.Fatalf("seed %d: shutdown: %v", seed, err)
	}
	guests.Wait()
	b := w.balance(!abrupt)
	goleak.VerifyNone(t, ignore)
	return b
}

// stressed runs seeds with threads until so much has been done.
func stressed(t *testing.T, seeds, each int) {
	var all stressBooks
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			b := stressThreads(t, seed, each, seed%3 == 2)
			all.add(&b)
		})
	}
	all.busy(t)
}

// busy fails if a run was too calm to say anything.
func (b *stressBooks) busy(t *testing.T) {
	t.Logf("%+v", *b)
	for what, n := range map[string]int{"replies": b.replies, "results": b.results, "asks left": b.left, "notices": b.heard,
		"barriers": b.barriers, "functions kept": b.kept, "escalations": b.escalations, "members of batches": b.lots, "stashes": b.stashes, "forwards": b.forwards, "timeouts": b.errs[0], "stops": b.errs[2],
		"restarts": b.errs[3], "panics": b.errs[4], "throws": b.errs[7]} {
		if n == 0 {
			t.Errorf("no %s: the stress is too calm", what)
		}
	}
}

func TestStress(t *testing.T) {
	each := 4000
	if invariant.Race {
		each /= 5
	}
	stressed(t, 12, each)
}

// TestStressLong is the same for minutes.
func TestStressLong(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG=1: this takes minutes")
	}
	stressed(t, 120, 20_000)
}

// TestStressInSimulations is the same by seeds, each of which is run twice and must do the same.
func TestStressInSimulations(t *testing.T) {
	var all stressBooks
	seeds := uint64(60)
	if invariant.Race { // all of it is one goroutine, ten times as slow
		seeds /= 4
	}
	for seed := range seeds {
		hash, b := stressSim(t, seed)
		if again, _ := stressSim(t, seed); again != hash {
			t.Errorf("seed %d: hash %x, then %x", seed, hash, again)
		}
		all.add(&b)
	}
	all.busy(t)
}

// stressSim is one run in a simulation.
func stressSim(t *testing.T, seed uint64) (uint64, stressBooks) {
	sim := drawn(t, seed, house.Config{Workers: 1 + int(seed%3), AskTimeout: 2 * time.Millisecond, Supervise: resumes}, briskSteps)
	w := newStress(t, seed, sim.System, func(p core.Port[int, int], n int) (int, error) { return housetest.Ask(t, sim, p, n) })
	type asked struct {
		r    *role
		req  stressReq
		call core.Pending[uint64]
	}
	var open []asked
	rng := rand.New(rand.NewPCG(seed, 99))
	for range 150 {
		r := w.roles[stressCitizens+rng.IntN(stressGuests)]
		to := r.rng.IntN(stressCitizens)
		switch rng.IntN(12) {
		case 0:
			w.citizen(to).Stop()
		case 1:
			w.citizen(to).Restart(errStress)
		case 2:
			w.citizen(to).Drain()
		case 3, 4:
			r.tell(to)
		default:
			port, m := r.port()
			req := stressReq{m, r.rng.Uint64(), 3}
			r.asks++
			open = append(open, asked{r, req, core.Begin(port, req)})
		}
		for range rng.IntN(8) {
			sim.Turn()
		}
	}
	abrupt := seed%4 == 3
	if !abrupt {
		w.rollCall(func(p core.Port[stressReq, uint64], req stressReq) (uint64, error) {
			return housetest.Ask(t, sim, p, req)
		},
			func() { sim.Run(10 * time.Millisecond) })
	}
	for left := 1; left > 0 && !abrupt; sim.Run(time.Millisecond) {
		var err error
		if left, err = housetest.Ask(t, sim, mayorEnds.At(w.mayor), struct{}{}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if err := sim.Shutdown(t.Context()); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for _, a := range open {
		if !a.call.Ready() {
			t.Fatalf("seed %d: an ask has no end", seed)
		}
		n, err := a.call.Get()
		a.r.answered(a.req, n, err)
	}
	return sim.Hash(), w.balance(!abrupt)
}
