package housetest_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// The bound on an actor's wait, as docs/design/turn.md has it, in a simulation: steps take what
// the test says, and so does the end of a turn.

const (
	turnMax     = 256 // messages a turn
	strideMax   = 64  // messages between two readings of the clock
	hotStreak   = 16  // visits to actors with answers before one to an actor with calls only
	replyStreak = 16  // answers to an actor before one of its calls
)

// load is actors that always have something to do, on one worker, and a late one that
// seldom has.
type load struct {
	t      *testing.T
	sim    *housetest.Sim
	cost   func() int64 // of a step, ns
	end    int64        // cost of the end of a turn, ns
	length int64        // of the longest turn without its end, ns
	seen   int64        // when the late actor was visited; 0: not yet
	rng    *rand.Rand
}

type (
	fed      struct{ *load } // always has calls
	answered struct {        // always has answers
		*load
		none  core.Port[int, int]
		heard int
	}
	late struct { // has a call, or an answer, now and then
		*load
		far core.Port[int, int]
	}
	answeredStack struct {
		core.NoticeStack[int]
		f core.Future[int]
	}
	far struct{}

	// countStack has a local, so that it doesn't share an envelope.
	countStack struct {
		core.NoticeStack[int]
		_ int
	}
)

// Set by init: steps that name their own handlers would be an initialization cycle.
var (
	fedMore       core.NoticeHandler[fed, int]
	fedFill       = core.HandleNotice((*fed).fill)
	answeredMore  = core.HandleNotice((*answered).ask)
	answeredCount = core.Handle((*answered).count)
	lateCall      = core.HandleNotice((*late).call)
	lateTell      = core.HandleNotice((*late).tell)
	lateAsk       = core.HandleNotice((*late).ask)
	farAnswer     = core.Handle((*far).answer)
)

func init() { fedMore = core.HandleNotice((*fed).more) }

func (l *load) work() { l.sim.Now += l.cost() }

func (f *fed) fill(s *core.NoticeStack[uint64]) core.Yield {
	for range s.Msg {
		fedMore.At(core.Self[fed](s)).Notice(s, 0)
	}
	return s.Return()
}

func (f *fed) more(s *countStack) core.Yield {
	fedMore.At(core.Self[fed](s)).Notice(s, 0)
	f.work()
	return s.Return()
}

func (a *answered) ask(s *answeredStack) core.Yield {
	a.none.Ask(s, &s.f, 0) // a router without members: the answer is there at once
	return core.Suspend(s, (*answered).again)
}

func (a *answered) again(s *answeredStack) core.Yield {
	a.heard++
	a.work()
	return a.ask(s)
}

// count takes how many answers had been heard, and returns how many more there are.
func (a *answered) count(s *core.AskStack[int, int]) core.Yield { return s.Return(a.heard - s.Req) }

func (l *late) call(s *countStack) core.Yield {
	l.seen = l.sim.Now
	return s.Return()
}

func (l *late) tell(s *core.NoticeStack[int]) core.Yield {
	l.seen = l.sim.Now
	return s.Return()
}

func (l *late) ask(s *answeredStack) core.Yield {
	l.far.Ask(s, &s.f, 0)
	return core.Suspend(s, (*late).hear)
}

func (l *late) hear(s *answeredStack) core.Yield {
	l.seen = l.sim.Now
	return s.Return()
}

func (f *far) answer(s *core.AskStack[int, int]) core.Yield { return s.Return(s.Req) }

// newLoad returns a load of so many actors that have calls and so many that have answers.
func newLoad(t *testing.T, seed uint64, c house.Config, calls, answers int) *load {
	c.Workers, c.SlowStep, c.Logger = 2, -1, slog.New(slog.DiscardHandler)
	l := &load{t: t, sim: housetest.New(t, seed, c), cost: func() int64 { return 0 }, rng: rand.New(rand.NewPCG(seed, 9))}
	w := l.sim.Workers()[0]
	for range calls {
		core.Notice(fedFill.At(core.Spawn(w, func() *fed { return &fed{l} })), 2*uint64(c.Budget))
	}
	none := farAnswer.RoundRobin(&core.Group[far]{})
	for range answers {
		at := answeredMore.At(core.Spawn(w, func() *answered { return &answered{load: l, none: none} }))
		for range c.Budget + 1 {
			core.Notice(at, 0)
		}
	}
	for range 50 {
		w.Turn()
	}
	t.Cleanup(func() { l.cost = func() int64 { return 0 } })
	return l
}

// turn is one turn of the loaded worker, from its end.
func (l *load) turn() {
	l.sim.Now += l.end
	began := l.sim.Now
	l.sim.Workers()[0].Turn()
	l.length = max(l.length, l.sim.Now-began)
}

// waits has the late actor told right before a turn, n times in turns with different pasts, and
// returns its longest wait.
func (l *load) waits(n int, e event) (longest int64) {
	for range n {
		e.prepare()
		for range l.rng.IntN(18) {
			l.turn() // the next one begins elsewhere among those that wait
		}
		l.seen = 0
		e.tell()
		told := l.sim.Now + l.end
		for turns := 0; l.seen == 0; turns++ {
			if turns > 100_000 {
				l.t.Fatalf("seed %d: the actor starves", l.sim.Seed)
			}
			l.turn()
		}
		longest = max(longest, l.seen-told)
	}
	return longest
}

// event is what makes the late actor ready.
type event struct{ prepare, tell func() }

// lateActor spawns one and returns what may come to it.
func (l *load) lateActor() (call, notice, answer event) {
	workers := l.sim.Workers()
	away := farAnswer.At(core.Spawn(workers[1], func() *far { return &far{} }))
	at := core.Spawn(workers[0], func() *late { return &late{l, away} })
	none := func() {}
	call = event{none, func() { core.Notice(lateCall.At(at), 0) }}
	notice = event{none, func() { core.Notice(lateTell.At(at), 0) }}
	answer.prepare = func() {
		for core.Notice(lateAsk.At(at), 0); at.House().Waiting() == 0; {
			l.turn()
		}
	}
	answer.tell = func() {
		for workers[1].Turn() {
		}
	}
	return call, notice, answer
}

// visitsBefore is the bound in visits: of an actor with calls only, or with answers, behind so
// many of its kind, while others of the other kind are ready always.
func visitsBefore(answers bool, ahead, others int) int {
	switch {
	case others == 0:
		return ahead
	case answers:
		return ahead + 1 + ahead/hotStreak
	}
	return ahead + hotStreak*(ahead+1)
}

// bound is the bound in ns: of visits of so many messages, of longest ns each, with ends of
// turns in between.
func bound(visits, messages int, longest, turnTime, end int64) int64 {
	all := int64(visits * messages)
	perTurn := min(turnMax, (turnTime+longest-1)/longest)
	return all*longest + all/perTurn*end
}

// TestWaitBoundIsExact: the longest wait of an actor that becomes ready is what the formula
// says, neither more nor less.
func TestWaitBoundIsExact(t *testing.T) {
	if invariant.Race {
		t.Skip("it is one goroutine, and takes minutes")
	}
	const µs = int64(time.Microsecond)
	for _, c := range []struct {
		name           string
		budget         int
		turnTime, step int64
		messages       int // of a visit
		calls, answers int // actors that always have some
	}{
		{"small steps", 32, 200 * µs, 100, 32, 5, 1},
		{"small steps, calls only", 32, 200 * µs, 100, 32, 40, 0},
		{"small steps, many", 32, 200 * µs, 100, 32, 3, 40},
		{"a budget of 8", 8, 200 * µs, 100, 8, 7, 3},
		{"a budget of 128", 128, 200 * µs, 100, 128, 3, 1},
		{"a budget of 256", 256, 200 * µs, 100, 256, 3, 1},
		{"steps that end turns by time", 8, 64 * µs, µs, 8, 5, 2},
		{"steps that shorten visits", 32, 64 * µs, µs, 8, 5, 2},
		{"slow steps", 32, 160 * µs, 20 * µs, 1, 5, 2},
		{"steps longer than a turn", 32, 160 * µs, 500 * µs, 1, 5, 2},
		{"a turn of 7 ns", 32, 7, 100, 1, 5, 2},
		{"a turn of centuries", 32, 1 << 62, 100, 32, 5, 2},
	} {
		for _, answers := range []bool{false, true} {
			if answers && c.answers == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s, answers %t", c.name, answers), func(t *testing.T) {
				l := newLoad(t, 1, house.Config{Budget: c.budget, TurnTime: time.Duration(c.turnTime)}, c.calls, c.answers)
				call, notice, answer := l.lateActor()
				l.end = 3 * µs
				l.cost = func() int64 { return c.step }
				for range 20 {
					l.turn()
				}
				event, visits := call, visitsBefore(false, c.calls, c.answers)
				if answers {
					event, visits = answer, visitsBefore(true, c.answers, c.calls)
				}
				want := bound(visits, c.messages, c.step, c.turnTime, l.end)
				if got := l.waits(100, event); got != want {
					t.Errorf("the longest wait is %d ns, the bound %d ns: %d visits", got, want, visits)
				}
				if got := l.waits(100, notice); !answers && got > want {
					t.Errorf("a notice in an envelope waits %d ns, the bound is %d ns", got, want)
				}
			})
		}
	}
}

// TestG9WaitBoundHolds: with steps of whatever length, up to the longest, no wait is longer than
// the bound, and no turn.
func TestG9WaitBoundHolds(t *testing.T) {
	for seed := range seeds(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		budget := 1 + rng.IntN(64)
		turnTime := 1000 + rng.Int64N(300_000)
		longest := 1 + rng.Int64N(1<<rng.IntN(16))
		calls, answers := rng.IntN(6), rng.IntN(4)
		l := newLoad(t, seed, house.Config{Budget: budget, TurnTime: time.Duration(turnTime)}, calls, answers)
		call, notice, answer := l.lateActor()
		l.end = rng.Int64N(5000)
		left, slow := 0, false
		l.cost = func() int64 { // quick ones and slow ones in runs, to surprise
			if left--; left < 0 {
				left, slow = rng.IntN(200), rng.IntN(2) == 0
			}
			if slow {
				return longest - rng.Int64N(1+longest/10)
			}
			return rng.Int64N(1 + longest/100)
		}
		got, want := l.waits(8, call), bound(visitsBefore(false, calls, answers), budget, longest, turnTime, l.end)
		if got > want {
			t.Errorf("seed %d: an actor with a call waits %d ns, the bound is %d ns", seed, got, want)
		}
		if calls+answers > 0 { // otherwise it rests, to have more messages in an envelope
			if got = l.waits(8, notice); got > want {
				t.Errorf("seed %d: an actor with a notice in an envelope waits %d ns, the bound is %d ns", seed, got, want)
			}
		}
		got, want = l.waits(8, answer), bound(visitsBefore(true, answers, calls), budget, longest, turnTime, l.end)
		if got > want {
			t.Errorf("seed %d: an actor with an answer waits %d ns, the bound is %d ns", seed, got, want)
		}
		if most := turnTime + int64(strideMax+budget-1)*longest; l.length > most {
			t.Errorf("seed %d: a turn of %d ns, the bound is %d ns", seed, l.length, most)
		}
	}
}

// TestG9TurnEndsInTime: steps that become slow all at once hold a turn up for as many
// messages as go by without a look at the clock. From the next turn on it ends in time.
func TestG9TurnEndsInTime(t *testing.T) {
	const budget, step, turnTime = 48, int64(20 * time.Microsecond), int64(200 * time.Microsecond)
	l := newLoad(t, 1, house.Config{Budget: budget, TurnTime: time.Duration(turnTime)}, 0, 0)
	w := l.sim.Workers()[0]
	one := func() core.Address[fed] { return core.Spawn(w, func() *fed { return &fed{l} }) }
	for range strideMax - 1 { // each has a message less, and then a visit begins
		core.Notice(fedMore.At(one()), 0)
	}
	core.Notice(fedFill.At(one()), 2*budget)
	for range 10 {
		l.turn()
	}
	l.cost = func() int64 { return step }
	for range 100 {
		l.turn()
	}
	if l.length < strideMax*step || l.length > turnTime+(strideMax+budget-1)*step {
		t.Errorf("a turn of surprises takes %v", time.Duration(l.length))
	}
	l.length = 0
	for range 1000 {
		l.turn()
	}
	if l.length != turnTime {
		t.Errorf("a turn of slow steps takes %v, not %v", time.Duration(l.length), time.Duration(turnTime))
	}
}

// TestG9NobodyStarves: an actor that always has answers comes to its calls too, however short its
// visits are.
func TestG9NobodyStarves(t *testing.T) {
	for _, budget := range []int{1, 8, 16, 17, 32} {
		for _, step := range []int64{0, 20_000} {
			l := newLoad(t, 1, house.Config{Budget: budget}, 0, 0)
			a := &answered{load: l, none: farAnswer.RoundRobin(&core.Group[far]{})}
			at := core.Spawn(l.sim.Workers()[0], func() *answered { return a })
			for range 100 {
				core.Notice(answeredMore.At(at), 0)
			}
			for range 200 {
				l.turn()
			}
			l.cost = func() int64 { return step }
			before := a.heard
			call := core.Begin(answeredCount.At(at), before)
			for !call.Ready() && a.heard-before < 1000 {
				l.turn()
			}
			if !call.Ready() {
				t.Fatalf("budget %d, steps of %d ns: a call waits for ever", budget, step)
			}
			if got, err := call.Get(); err != nil || got > replyStreak {
				t.Errorf("budget %d, steps of %d ns: a call waits for %d answers, %v", budget, step, got, err)
			}
		}
	}
}
