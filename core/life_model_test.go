package core_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// Random operations on a tree of actors, beside the reference of life_model_reference_test.go:
// what each actor was told and did, in its order, how each call ended, who heard of whose end,
// who is left and what it is called must be the same after each operation.

const (
	slot    = 230e6 // ns: timers end in one each; holds of whole seconds end apart from them
	timerAt = 0.99  // where in it
	jitter  = 0.004 // slots that turns may take
	askFor  = 40.04 // slots that an ask may take
	opsTime = 0.02  // slots that operations of one slot may take
	askTime = askFor * slot
)

// modelWorld is a simulation and the reference beside it.
type modelWorld struct {
	*housetest.Sim
	*reference
	t    *testing.T
	rng  *rand.Rand
	refs []ref
	ids  map[core.AnyAddress]int

	at     int // the slot
	used   map[int]bool
	lines  [][]string
	saw    []string
	asked  []*refCall // that haven't ended
	calls  int
	names  int
	chatty bool // each operation is logged
}

func (w *modelWorld) note(id int, format string, args ...any) {
	w.lines[id] = append(w.lines[id], fmt.Sprintf(format, args...))
}

// take returns how long to wait, to the end of a slot that nobody else has.
func (w *modelWorld) take(who string) time.Duration {
	n := int(float64(w.Now)/slot + 0.005)
	for n += len(who) * int(who[len(who)-1]) % 5; w.used[n]; n++ {
	}
	w.used[n] = true
	w.reference.waits[who] = float64(n) + timerAt
	return time.Duration((float64(n)+timerAt)*slot) - time.Duration(w.Now)
}

// spawn returns 0, or 1 and the number of who has the name, -1 if that is of another kind.
func (w *modelWorld) spawn(at core.Place, p *plan) int {
	switch p.kind {
	case kindBare:
		return spawnOf(w, at, p, &bareSpecies, func() (*bareMortal, *mortal) { a := &bareMortal{}; return a, &a.mortal })
	case kindEnds:
		return spawnOf(w, at, p, &endsSpecies, func() (*endsMortal, *mortal) { a := &endsMortal{}; return a, &a.mortal })
	}
	return spawnOf(w, at, p, &fullSpecies, func() (*fullMortal, *mortal) { a := &fullMortal{}; return a, &a.mortal })
}

func spawnOf[A any](w *modelWorld, at core.Place, p *plan, of *species[A], make func() (*A, *mortal)) int {
	life := 0
	for len(w.refs) <= p.id {
		w.refs, w.lines = append(w.refs, nil), append(w.lines, nil)
	}
	a, err := core.SpawnWith(at, func() *A {
		life++
		a, of := make()
		of.w, of.plan, of.life = w, p, life
		return a
	}, core.Props{Name: p.name, OnFailure: p.own.strategy(), Children: p.below.strategy(), Serial: p.serial})
	switch {
	case err == nil:
		p.serialNo = a.House().Serial()
		w.refs[p.id] = refOf[A]{a, of}
		w.ids[a.Any()] = p.id
		return 0
	case !errors.Is(err, core.ErrAlreadyExists):
		panic(err)
	case a == core.Address[A]{}:
		return -1
	}
	return 1 + w.ids[a.Any()]
}

// strategy is p for the runtime.
func (p *policy) strategy() *core.Strategy {
	if p == nil {
		return nil
	}
	s := &core.Strategy{Restarts: p.limit, Window: time.Duration(p.window * slot), Backoff: time.Duration(p.backoff * slot), BackoffMax: time.Duration(p.backoffMax * slot)}
	switch p.scope {
	case forAll:
		s.Scope = core.AllForOne
	case forRest:
		s.Scope = core.RestForOne
	}
	s.Decide = func(err error) core.Directive {
		for i, e := range modelErrors {
			var start *core.StartError
			if errors.As(err, &start) && errors.Is(err, e) {
				return modelDirectives[p.start[i]]
			} else if errors.Is(err, e) {
				return modelDirectives[p.by[i]]
			}
		}
		panic(err)
	}
	return s
}

var modelDirectives = [...]core.Directive{core.Restart, core.Resume, core.Stop, core.Escalate}

// chance is what the runtime takes for a number from 0 to 1 that differs between actors and
// restarts: splitmix64, as any other would do.
func chance(serial uint64, n int) float64 {
	z := (serial<<8 + uint64(n) + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

// outcome is how an ask ended, in the words of the reference.
func outcome(n int, err error) string {
	for i, e := range modelErrors {
		if errors.Is(err, e) && errors.Is(err, core.ErrPanic) {
			return fmt.Sprintf("panic%d", i)
		} else if errors.Is(err, e) {
			return fmt.Sprintf("threw%d", i)
		}
	}
	switch {
	case err == nil && n == 0:
		return "ok"
	case err == nil && n < 0:
		return "taken"
	case err == nil:
		return fmt.Sprintf("taken%d", n-1)
	case err == core.ErrStopped:
		return "stopped"
	case err == core.ErrRestarted:
		return "restarted"
	case err == core.ErrTimeout:
		return "timeout"
	}
	return err.Error()
}

// compare has both come to rest, and compares.
func (w *modelWorld) compare() bool {
	w.Rest()
	w.settle()
	if w.unsure != "" {
		return true
	}
	good := true
	bad := func(format string, args ...any) {
		w.t.Helper()
		w.t.Errorf(format, args...)
		good = false
	}
	for id := range w.lines {
		var want []string
		if id < len(w.reference.lines) {
			want = w.reference.lines[id]
			w.reference.lines[id] = nil
		}
		if !slices.Equal(w.lines[id], want) {
			bad("actor %d: %v, want %v", id, w.lines[id], want)
		}
		w.lines[id] = nil
	}
	slices.Sort(w.saw)
	slices.Sort(w.reference.saw)
	if !slices.Equal(w.saw, w.reference.saw) {
		bad("heard of ends: %v, want %v", w.saw, w.reference.saw)
	}
	w.saw, w.reference.saw = nil, nil
	w.asked = slices.DeleteFunc(w.asked, func(c *refCall) bool {
		got := ""
		if c.pending.Ready() {
			got = outcome(c.pending.Get())
		}
		if want := w.ends[c.id]; got != want {
			bad("call %d ended %q, want %q", c.id, got, want)
		}
		delete(w.ends, c.id)
		return got != ""
	})
	if len(w.ends) > 0 {
		bad("these ended twice: %v", w.ends)
	}
	if got, want := w.Actors(), len(w.alive); got != want {
		bad("%d actors, want %d", got, want)
	}
	return good
}

// lookup compares the names.
func (w *modelWorld) lookup() bool {
	for _, a := range w.actors {
		if a == nil || a.name == "" {
			continue
		}
		err := w.refs[a.id].found(w.Sim)
		if has := w.reference.names[a.path()]; has == a && err != nil || has != a && err == nil {
			w.t.Errorf("lookup of %d, %s: %v", a.id, a.path(), err)
			return false
		}
	}
	return true
}

// modelRun is one simulation of so many operations; it returns how many were done.
func modelRun(t *testing.T, seed uint64, ops int, table *coverage) (done int) {
	w := &modelWorld{
		Sim:       drawn(t, seed, house.Config{Workers: 1 + int(seed%3), AskTimeout: time.Duration(askTime)}, briskSteps),
		reference: &reference{names: map[string]*refActor{}, ends: map[int]string{}, waits: map[string]float64{}, table: table},
		t:         t, rng: rand.New(rand.NewPCG(seed, 1)), ids: map[core.AnyAddress]int{}, used: map[int]bool{},
	}
	w.chatty = os.Getenv("STACKHOUSE_LIFE") == strconv.FormatUint(seed, 10)
	for done = 0; done < ops && w.unsure == ""; {
		w.reference.now = float64(w.Now) / slot
		done += w.operation()
		if !w.compare() || done%16 == 0 && w.unsure == "" && !w.lookup() {
			for _, a := range w.alive {
				w.did("%d stands %d, life %d, hook %d to %.2f, rests %t to %.2f, paused %t, drains %t, %d begun, %d queued", a.id, a.stand, a.life, a.hook, a.hookDue, a.resting, a.restsTo, a.paused, a.drains, len(a.begun), len(a.calls))
			}
			t.Fatalf("seed %d, after %d operations; STACKHOUSE_LIFE=%d shows them", seed, done, seed)
		}
	}
	w.finish()
	table.holds, table.turnedAway, table.stopped = table.holds+w.holds, table.turnedAway+w.turned, table.stopped+w.stopped
	return done
}

// finish has all stop, and looks at what is left and at what was counted.
func (w *modelWorld) finish() {
	for _, a := range slices.Clone(w.alive) {
		if a.parent == nil {
			w.system(a, "stop", toldStop, w.refs[a.id].Stop)
		}
	}
	for w.unsure == "" && w.compare() && len(w.alive) > 0 {
		w.timePasses(5)
	}
	// all must end, whatever came first
	for rounds := 0; w.unsure != "" && w.Actors() > 0; rounds++ {
		for _, r := range w.refs {
			if r != nil {
				r.Stop()
			}
		}
		if w.Run(time.Second); rounds > 1000 {
			w.t.Fatalf("seed %d: %d actors never stop", w.Seed, w.Actors())
		}
	}
	for _, c := range w.asked {
		if !c.pending.Ready() {
			w.t.Fatalf("seed %d: call %d has not ended", w.Seed, c.id)
		}
		c.pending.Get()
	}
	if w.unsure != "" || w.t.Failed() {
		return
	}
	for range 64 {
		for _, worker := range w.Workers() {
			worker.Turn() // counts are published now and then
		}
	}
	st := w.Stats()
	if n := int(st.DeadLetter); n < w.dead || n > w.dead+w.unheard {
		w.t.Errorf("seed %d: %d dead letters, want %d to %d", w.Seed, n, w.dead, w.dead+w.unheard)
	}
	for _, c := range []struct {
		name      string
		got, want int
	}{{"failures", int(st.Failures), w.failures}, {"restarts", int(st.Restarts), w.restarts}, {"expired calls", int(st.Expired), w.expired}, {"late answers", int(st.Late), 0}} {
		if c.got != c.want {
			w.t.Errorf("seed %d: counted %d %s, want %d", w.Seed, c.got, c.name, c.want)
		}
	}
}

func modelRuns(t *testing.T, ops int) {
	var table coverage
	unsure, sims := 0, 0
	for seed := uint64(0); ops > 0; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			n := modelRun(t, seed, min(ops, 1000), &table)
			if ops -= n; n < 1000 {
				unsure++
			}
		})
		if sims++; t.Failed() {
			return
		}
	}
	t.Logf("%d simulations, of which %d ended early, where two things would have happened at about the same time", sims, unsure)
	t.Log(table.text())
	if min(table.holds, table.turnedAway, table.stopped) == 0 {
		t.Error("no hold, nobody turned away in one, or no stop of who starts")
	}
	for d, of := range table.failures {
		for s, row := range of {
			for state, n := range row {
				if n == 0 {
					t.Errorf("directive %d, scope %d, %s: never reached", d, s, stateNames[state])
				}
			}
		}
	}
}

// TestG10LifeModel is 100,000 operations.
func TestG10LifeModel(t *testing.T) { modelRuns(t, 100_000) }

// TestLifeModelLong is 10 million.
func TestLifeModelLong(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG=1: this takes minutes")
	}
	modelRuns(t, 10_000_000)
}
