package core_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// lodging is a kind of actors that do all that may come between an ask by name and its answer:
// they are stopped, drained, restarted and fail, are late to begin and to end, stash and forward,
// take batches, have small mailboxes and others refuse what they don't like. What has begun is
// noted, outside of them.
type (
	lodging struct {
		rng    *rand.Rand
		all    core.Named[lodger]
		inn    core.Port[stay, int] // by name, one at a time
		hall   core.Port[stay, int] // by name, in batches
		onward core.Port[stay, int] // where some are forwarded to
		begun  map[int]int          // by the number of the stay
		here   map[string]int       // actors that have begun and not ended their lives, by name
		last   int                  // the number of the last stay
		errs   map[error]int        // what asks ended with
		bad    []string             // what was wrong with that
	}
	lodger struct {
		name    string
		of      *lodging
		started bool
		stashed int
		tick    core.Future[core.Tick]
	}
	// stay is what one is asked.
	stay struct {
		id   int
		name string
		do   int
	}
	stayStack struct {
		core.AskStack[stay, int]
		tick core.Future[core.Tick]
	}
	stayBatch struct {
		core.BatchAskStack[stay, int]
		tick core.Future[core.Tick]
	}
)

const (
	stayAtOnce = iota
	stayAWhile
	stayStashed
	stayForwarded
	stayPanics
	stayStops
	stayRefused
	stayThrows
	stayMax
)

// lodgingErrors are what asks end with.
var lodgingErrors = []error{nil, core.ErrStopped, core.ErrRestarted, core.ErrPanic, core.ErrMailboxFull}

var errUnloved = errors.New("unloved")

// Begins refuses some, as if the actor had stopped: those have not begun, and aren't asked again.
func (l *lodging) Begins(s core.Running) error {
	if s := s.(*stayStack); s.Req.do == stayRefused {
		l.begun[s.Req.id]++
		return core.ErrStopped
	}
	return nil
}

func (*lodging) Ended(core.Running, error) {}

func (l *lodger) pause() time.Duration { return time.Duration(l.of.rng.IntN(3)) * time.Millisecond }

func (l *lodger) PreStart(s *core.HookStack) core.Yield {
	if l.of.rng.IntN(12) == 0 {
		return s.Throw(errUnloved)
	}
	core.Timer.Ask(s, &l.tick, l.pause())
	return core.Suspend(s, func(l *lodger, s *core.HookStack) core.Yield {
		l.begins()
		return s.Return()
	})
}

func (l *lodger) begins() {
	l.started = true
	l.of.here[l.name]++
}

func (l *lodger) PostRestart(s *core.HookStack) core.Yield {
	l.begins()
	return s.Return()
}

func (l *lodger) PreRestart(s *core.HookStack) core.Yield {
	l.ends()
	return s.Return()
}

func (l *lodger) PostStop(s *core.HookStack) core.Yield {
	core.Timer.Ask(s, &l.tick, l.pause())
	return core.Suspend(s, func(l *lodger, s *core.HookStack) core.Yield {
		l.ends()
		return s.Return()
	})
}

func (l *lodger) ends() {
	if l.started {
		l.of.here[l.name]--
	}
}

func (l *lodger) stay(s *stayStack) core.Yield {
	if s.Req.do == stayStashed && l.stashed < 2 {
		l.stashed++
		return core.Stash(s)
	}
	core.Unstash(s)
	l.of.begun[s.Req.id]++
	switch s.Req.do {
	case stayForwarded:
		return l.of.onward.Forward(s, stay{id: -s.Req.id, do: stayAWhile})
	case stayPanics:
		panic("a lodger's")
	case stayStops:
		core.Self[lodger](s).Stop()
	case stayThrows:
		return s.Throw(core.ErrStopped)
	case stayAtOnce:
		return s.Return(s.Req.id)
	}
	core.Timer.Ask(s, &s.tick, l.pause())
	return core.Suspend(s, (*lodger).stayed)
}

func (l *lodger) stayed(s *stayStack) core.Yield { return s.Return(s.Req.id) }

func (l *lodger) stays(s *stayBatch) core.Yield {
	for _, r := range s.All() {
		l.of.begun[r.id]++
	}
	core.Timer.Ask(s, &s.tick, l.pause())
	return core.Suspend(s, func(_ *lodger, s *stayBatch) core.Yield {
		return s.ReturnEach(func(r *stay) (int, error) { return r.id, nil })
	})
}

var (
	lodgerStay  = core.Handle((*lodger).stay)
	lodgerStays = core.HandleBatch((*lodger).stays, 3)
)

// traveller is an actor that asks for stays, several at once.
type (
	traveller   struct{ of *lodging }
	travelStack struct {
		core.AskStack[int, int]
		stay [3]core.Future[int]
		asks [3]stay
		n    int
		tick core.Future[core.Tick]
		left int
	}
)

func (p *traveller) begin(s *travelStack) core.Yield {
	s.left = s.Req
	return p.depart(s)
}

func (p *traveller) depart(s *travelStack) core.Yield {
	if s.left == 0 {
		return s.Return(0)
	}
	s.left--
	s.n = 1 + p.of.rng.IntN(len(s.asks))
	for i := range s.n {
		to, r := p.of.draw()
		s.asks[i] = r
		to.Ask(s, &s.stay[i], r)
	}
	return core.Suspend(s, (*traveller).been)
}

func (p *traveller) been(s *travelStack) core.Yield {
	for i := range s.n {
		n, err := s.stay[i].Get()
		p.of.judge(s.asks[i], n, err)
	}
	core.Timer.Ask(s, &s.tick, time.Duration(p.of.rng.IntN(4000))*time.Microsecond)
	return core.Suspend(s, (*traveller).depart)
}

var travel = core.Handle((*traveller).begin)

// draw returns a stay, and whom to ask for it.
func (l *lodging) draw() (core.Port[stay, int], stay) {
	l.last++
	r := stay{id: l.last, name: fmt.Sprint(l.rng.IntN(3)), do: l.rng.IntN(stayMax)}
	if l.rng.IntN(2) == 0 {
		r.do = stayAtOnce
	}
	if l.rng.IntN(4) == 0 {
		return l.hall, r
	}
	return l.inn, r
}

// judge notes an answer, and what is wrong with it.
func (l *lodging) judge(r stay, n int, err error) {
	begun := l.begun[r.id]
	switch {
	case begun > 1:
		l.bad = append(l.bad, fmt.Sprintf("%+v began %d times: %v", r, begun, err))
	case err == nil && (begun != 1 || n != r.id && n != -r.id):
		l.bad = append(l.bad, fmt.Sprintf("%+v began %d times, and returned %d", r, begun, n))
	case errors.Is(err, core.ErrTimeout) || errors.Is(err, core.ErrCancelled):
		l.bad = append(l.bad, fmt.Sprintf("%+v: %v", r, err))
	}
	for _, e := range lodgingErrors {
		if errors.Is(err, e) {
			l.errs[e]++
		}
	}
}

// Whatever actors found by name do, each ask is answered, in time, and begins once at most; there
// is never more than one of a name; the number of them is right; and nothing is left.
func TestByNameModel(t *testing.T) {
	seeds := uint64(60)
	if invariant.Race {
		seeds = 15
	}
	errs := map[error]int{}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { lodge(t, seed, errs) })
	}
	for _, e := range lodgingErrors {
		require.Positive(t, errs[e], e)
	}
}

func lodge(t *testing.T, seed uint64, errs map[error]int) {
	rng := rand.New(rand.NewPCG(seed, 7))
	directive := []core.Directive{core.Resume, core.Restart, core.Stop}[rng.IntN(3)]
	fails := &core.Strategy{Decide: func(error) core.Directive { return directive }}
	shares := time.Duration(1+rng.IntN(100)) * time.Microsecond
	sim := drawn(t, seed, house.Config{Workers: 1 + rng.IntN(3), Supervise: fails, ShareAfter: shares}, briskSteps)
	l := &lodging{rng: rng, begun: map[int]int{}, here: map[string]int{}, errs: errs}
	l.open(sim)
	sink := core.Spawn(sim, func() *lodger { return &lodger{name: "sink", of: l} })
	l.onward = lodgerStay.At(sink)

	var calls []core.Pending[int]
	for range 3 {
		calls = append(calls, core.Begin(travel.At(core.Spawn(sim, func() *traveller { return &traveller{l} })), 60))
	}
	for range 150 {
		to, r := l.draw()
		own := core.Begin(to, r)
		for range rng.IntN(4) {
			sim.Turn()
		}
		l.disturb()
		if rng.IntN(40) == 0 {
			sink.Stop()
		}
		sim.Run(time.Duration(rng.IntN(3000)) * time.Microsecond)
		for name, n := range l.here {
			require.LessOrEqual(t, n, 1, "of %s", name)
		}
		sim.Run(60 * time.Millisecond)
		l.unstash(t, sim, own)
		n, err := own.Get()
		l.judge(r, n, err)
	}
	for _, c := range calls {
		l.unstash(t, sim, c)
		endedAs(t, nil, c)
	}
	sink.Stop()
	sim.Run(100 * time.Millisecond)
	require.Empty(t, l.bad)
	l.close(t, sim)
}

// open has l in a system.
func (l *lodging) open(sim *housetest.Sim) {
	p := core.Props{Serial: l.rng.IntN(3) == 0}
	p.Mailbox = []core.Mailbox{{}, core.Bounded(2, core.DropOldest), core.Bounded(1, core.Reject), core.FairBySender(4)}[l.rng.IntN(4)]
	p.Passivate = []core.Passivation{{}, {Idle: time.Millisecond}, {Messages: 1}, {Messages: 3}}[l.rng.IntN(4)]
	l.all = core.NewNamed(sim, core.NamedConfig[lodger]{Kind: "lodger", Props: p, New: func(name string) *lodger {
		if l.rng.IntN(15) == 0 {
			panic("no room")
		}
		return &lodger{name: name, of: l}
	}})
	name := func(s *stay) []byte { return []byte(s.name) }
	l.inn = core.ByName(core.Handle((*lodger).stay, l), l.all, name)
	l.hall = core.ByName(lodgerStays, l.all, name)
}

// disturb has one stop or restart.
func (l *lodging) disturb() {
	a, ok := l.all.Find(fmt.Sprint(l.rng.IntN(3)))
	if !ok {
		return
	}
	switch l.rng.IntN(8) {
	case 0:
		a.Stop()
	case 1:
		a.Drain()
	case 2:
		a.Restart(errUnloved)
	}
}

// unstash asks all, so that what is stashed goes on, until a call is answered.
func (l *lodging) unstash(t *testing.T, sim *housetest.Sim, until core.Pending[int]) {
	for i := 0; !until.Ready() && i < 1000; i++ {
		l.last++
		r := stay{id: l.last, name: fmt.Sprint(i % 3)}
		call := core.Begin(l.inn, r)
		sim.Run(20 * time.Millisecond)
		require.True(t, call.Ready(), "%+v", r)
		n, err := call.Get()
		l.judge(r, n, err)
	}
	require.True(t, until.Ready())
}

// close has all stop.
func (l *lodging) close(t *testing.T, sim *housetest.Sim) {
	here := 0
	for i := range 3 {
		if a, ok := l.all.Find(fmt.Sprint(i)); ok {
			here++
			a.Stop()
		}
	}
	require.Equal(t, here, l.all.Len())
	sim.Run(time.Second)
	require.Zero(t, l.all.Len())
	nothingLeft(t, sim)
}
