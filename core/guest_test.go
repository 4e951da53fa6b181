package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// twin answers a number with its double, at once or later.
type twin struct{ asked int }

type twinStack struct {
	core.AskStack[twinAsk, twinAnswer]
	tick core.Future[core.Tick]
}

type (
	twinAsk struct {
		N     uint64
		After time.Duration
	}
	twinAnswer struct{ N, Double uint64 }
)

func (a *twin) ask(s *twinStack) core.Yield {
	a.asked++
	if s.Req.After == 0 {
		return s.Return(twinAnswer{s.Req.N, 2 * s.Req.N})
	}
	core.Timer.Ask(s, &s.tick, s.Req.After)
	return core.Suspend(s, (*twin).later)
}

func (a *twin) later(s *twinStack) core.Yield {
	if _, err := s.tick.Get(); err != nil { // cut short by the asker's deadline
		return s.Throw(err)
	}
	return s.Return(twinAnswer{s.Req.N, 2 * s.Req.N})
}

var twinPort = core.Handle((*twin).ask)

func newTwin(at core.Place) core.Port[twinAsk, twinAnswer] {
	return twinPort.At(core.Spawn(at, func() *twin { return &twin{} }))
}

func TestGuestAsk(t *testing.T) {
	p := newTwin(open(t, house.Config{}))
	for n := range uint64(100) {
		got, err := core.Ask(t.Context(), p, twinAsk{N: n})
		if err != nil || got.Double != 2*n {
			t.Fatalf("answer %v, %v to %d", got, err, n)
		}
	}
}

// TestGuestsAtOnce: many goroutines ask at once, each gets its own answers.
func TestGuestsAtOnce(t *testing.T) {
	p := newTwin(open(t, house.Config{Workers: 2}))
	var all sync.WaitGroup
	for g := range uint64(8) {
		all.Go(func() {
			for i := range uint64(500) {
				n := g<<32 | i
				if got, err := core.Ask(t.Context(), p, twinAsk{N: n}); err != nil || got.N != n || got.Double != 2*n {
					t.Errorf("answer %v, %v to %d", got, err, n)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestGuestDeadline(t *testing.T) {
	p := newTwin(open(t, house.Config{}))
	began := time.Now() // before the context begins to count
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := core.Ask(ctx, p, twinAsk{After: time.Hour})
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, core.ErrTimeout) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("the deadline passed after %v", took)
	}
	if _, err := core.Ask(t.Context(), p, twinAsk{N: 1}); err != nil {
		t.Error(err)
	}
}

func TestGuestDefaultDeadline(t *testing.T) {
	p := newTwin(open(t, house.Config{AskTimeout: 20 * time.Millisecond}))
	began := time.Now()
	if _, err := core.Ask(context.Background(), p, twinAsk{After: time.Hour}); !errors.Is(err, core.ErrTimeout) {
		t.Errorf("error %v, want ErrTimeout", err)
	}
	if took := time.Since(began); took < 20*time.Millisecond || took > 30*time.Second {
		t.Errorf("the default deadline passed after %v", took)
	}
}

// TestGuestDeadlineFarAway: a deadline beyond what a duration can say is none.
func TestGuestDeadlineFarAway(t *testing.T) {
	p := newTwin(open(t, house.Config{}))
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1<<40, 0))
	defer cancel()
	if got, err := core.Ask(ctx, p, twinAsk{N: 4}); err != nil || got.Double != 8 {
		t.Errorf("answer %v, %v", got, err)
	}
}

// TestGuestContextCancelled: while the ask is handled, and before it is sent.
func TestGuestContextCancelled(t *testing.T) {
	a := play.At(core.Spawn(open(t, house.Config{}), func() *player { return &player{} }))
	ctx, cancel := context.WithCancel(t.Context())
	began, ended := make(chan struct{}), make(chan error)
	go func() {
		_, err := core.Ask(ctx, a, func(p *player, s *scene) core.Yield {
			close(began)
			return answerIn(time.Hour, 1)(p, s)
		})
		ended <- err
	}()
	<-began
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || !errors.Is(err, core.ErrCancelled) {
		t.Errorf("error %v", err)
	}
	// From the start: nothing is sent.
	_, err := core.Ask(ctx, a, func(*player, *scene) core.Yield { panic("it was sent") })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n, err := core.Ask(t.Context(), a, answer(2)); n != 2 || err != nil {
		t.Errorf("answer %d, %v", n, err)
	}
}

// TestGuestGivesUpWhileTheCalleeWaits: the callee hears of it, at its next answer at the latest,
// and goes on no more.
func TestGuestGivesUpWhileTheCalleeWaits(t *testing.T) {
	sys := open(t, house.Config{Workers: 1})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	other := core.Spawn(sys, func() *player { return &player{} })
	b := play.At(other)
	went := 0
	for range 20 {
		other.Pause()
		ctx, cancel := context.WithCancel(t.Context())
		asked, ended := make(chan struct{}), make(chan error)
		go func() {
			_, err := core.Ask(ctx, a, func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[0], answer(1))
				close(asked)
				return s.wait(func(_ *player, s *scene) core.Yield { went++; return s.Return(1) })
			})
			ended <- err
		}()
		<-asked
		cancel()
		if err := <-ended; !errors.Is(err, core.ErrCancelled) {
			t.Fatalf("error %v", err)
		}
		other.Continue()
		for _, p := range []core.Port[script, int]{b, a} { // behind whatever the first ask leads to
			if n, err := core.Ask(t.Context(), p, answer(2)); n != 2 || err != nil {
				t.Fatalf("answer %d, %v", n, err)
			}
		}
	}
	closeSystem(t, sys)
	if went != 0 {
		t.Errorf("%d of 20 went on that nobody waited for", went)
	}
	if st := sys.Stats(); st.Cancelled < 20 {
		t.Errorf("%d stacks ended because their asker gave up, want 20 at least", st.Cancelled)
	}
}

// TestGuestAbandons: guests whose contexts end about when the answer comes. The
// calls are recycled all along; no guest ever gets another's answer, and one that
// gives up hears its own reason.
func TestGuestAbandons(t *testing.T) {
	sys := open(t, house.Config{Workers: 2})
	ports := []core.Port[twinAsk, twinAnswer]{newTwin(sys.Workers()[0]), newTwin(sys.Workers()[1])}
	const guests = 4
	rounds := 5000
	if invariant.Race {
		rounds = 2000
	}
	var all sync.WaitGroup
	var answered, gaveUp [guests]int
	for g := range uint64(guests) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(g, 1))
			for i := range uint64(rounds) {
				n := g<<32 | i
				ask := twinAsk{N: n}
				if i%4 == 0 {
					ask.After = time.Duration(rng.IntN(50)) * time.Microsecond
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+rng.IntN(60))*time.Microsecond)
				if i%7 == 0 { // ended by another goroutine, not by time
					var end context.CancelFunc
					ctx, end = context.WithCancel(ctx)
					go end()
				}
				got, err := core.Ask(ctx, ports[i%2], ask)
				cancel()
				switch {
				case err == nil && got == twinAnswer{n, 2 * n}:
					answered[g]++
				case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, core.ErrTimeout):
					gaveUp[g]++
				default:
					t.Errorf("guest %d, ask %d: answer %v, %v", g, i, got, err)
					return
				}
				if i%100 == 99 { // one that is answered, with what was recycled
					n++
					if got, err := core.Ask(t.Context(), ports[i%2], twinAsk{N: n}); err != nil || got != (twinAnswer{n, 2 * n}) {
						t.Errorf("guest %d, ask %d: answer %v, %v", g, i, got, err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	t.Logf("answered %v, gave up %v", answered, gaveUp)
}

// TestGuestAskInto: the reply's bytes are valid in the function, and nowhere else.
func TestGuestAskInto(t *testing.T) {
	sys := open(t, house.Config{Workers: 2})
	p := read.At(core.Spawn(sys, func() *library { return &library{} }))
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 500 {
				n, called := g*1000+i, 0
				err := core.AskInto(t.Context(), p, n, func(page *[]byte) {
					called++
					if want := fmt.Sprintf("page %d", n); string(*page) != want {
						t.Errorf("the reply is %q, want %q", *page, want)
					}
				})
				if err != nil || called != 1 {
					t.Errorf("error %v, called %d times", err, called)
				}
			}
		})
	}
	all.Wait()

	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	sad := errors.New("sad")
	err := core.AskInto(t.Context(), a, func(_ *player, s *scene) core.Yield { return s.Throw(sad) },
		func(*int) { t.Error("called without a reply") })
	if err != sad {
		t.Errorf("error %v", err)
	}
}

// TestGuestBegin: several asks of one guest under way at once.
func TestGuestBegin(t *testing.T) {
	p := newTwin(open(t, house.Config{Workers: 2}))
	for range 50 {
		var calls []core.Pending[twinAnswer]
		for n := range uint64(20) {
			calls = append(calls, core.Begin(p, twinAsk{N: n, After: time.Duration(n%3) * time.Microsecond}))
		}
		for n, c := range calls {
			if got, err := c.Get(); err != nil || got.Double != 2*uint64(n) {
				t.Fatalf("answer %v, %v to %d", got, err, n)
			}
		}
	}
}

func TestGuestNotice(t *testing.T) {
	sys := open(t, house.Config{})
	heard := make(chan int, 1)
	at := hint.At(core.Spawn(sys, func() *player { return &player{} }))
	if err := core.Notice(at, func(p *player, s *cue) core.Yield { heard <- p.steps; return s.Return() }); err != nil {
		t.Error(err)
	}
	if n := <-heard; n != 1 {
		t.Errorf("step %d", n)
	}
}

// TestGuestAndAStoppedActor: an ask and a notice get the error.
func TestGuestAndAStoppedActor(t *testing.T) {
	sys := open(t, house.Config{})
	at := core.Spawn(sys, func() *player { return &player{} })
	if err := at.StopWait(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := core.Ask(t.Context(), play.At(at), answer(1)); err != core.ErrStopped {
		t.Errorf("ask: %v", err)
	}
	if _, err := core.Begin(play.At(at), answer(1)).Get(); err != core.ErrStopped {
		t.Errorf("begin: %v", err)
	}
	if err := core.Notice(hint.At(at), func(*player, *cue) core.Yield { panic("heard") }); err != core.ErrStopped {
		t.Errorf("notice: %v", err)
	}
	if err := at.StopWait(t.Context()); err != nil {
		t.Errorf("the second stop: %v", err)
	}
	at.Stop()
	closeSystem(t, sys)
	if n := sys.Stats().DeadLetter; n != 0 {
		t.Errorf("%d dead letters, want none", n)
	}
}

// TestGuestAndASystemShutDown is the same when nobody runs any more.
func TestGuestAndASystemShutDown(t *testing.T) {
	sys := open(t, house.Config{})
	at := core.Spawn(sys, func() *player { return &player{} })
	closeSystem(t, sys)
	if _, err := core.Ask(t.Context(), play.At(at), answer(1)); err != core.ErrStopped {
		t.Errorf("ask: %v", err)
	}
	if _, err := core.Begin(play.At(at), answer(1)).Get(); err != core.ErrStopped {
		t.Errorf("begin: %v", err)
	}
	core.Notice(hint.At(at), func(*player, *cue) core.Yield { panic("heard") })
	at.Stop()
	if err := at.StopWait(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	born := core.Spawn(sys, func() *player { return &player{} })
	if _, err := core.Ask(t.Context(), play.At(born), answer(1)); err != core.ErrStopped {
		t.Errorf("ask of an actor born too late: %v", err)
	}
}

// TestGuestMisuse: what a guest does wrong panics in the guest.
func TestGuestMisuse(t *testing.T) {
	for name, f := range map[string]func(){
		"ask of a zero port":       func() { core.Ask(t.Context(), core.Port[int, int]{}, 1) },
		"ask of nobody":            func() { core.Ask(t.Context(), play.At(core.Address[player]{}), answer(1)) },
		"begin at nobody":          func() { core.Begin(play.At(core.Address[player]{}), answer(1)) },
		"ask of a timer":           func() { core.Ask(t.Context(), core.Timer, time.Second) },
		"notice to a zero port":    func() { core.Notice(core.NoticePort[int]{}, 1) },
		"notice to nobody":         func() { core.Notice(hint.At(core.Address[player]{}), nil) },
		"handler without a step":   func() { core.Handle[player, scene]((func(*player, *scene) core.Yield)(nil)) },
		"spawn of an actor of nil": func() { core.Spawn(open(t, house.Config{}), func() *player { return nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if _, ok := recover().(string); !ok {
					t.Error("no panic with a text")
				}
			}()
			f()
		})
	}
}

func TestAddress(t *testing.T) {
	sim := stage(t, 1, 2)
	a, p := cast(sim, 0)
	b, _ := cast(sim, 1)
	if got := fmt.Sprint(a, b, core.Address[player]{}); got != "core_test.player#1 core_test.player#2 nobody" {
		t.Errorf("addresses print as %q", got)
	}
	if again := a; a == b || a != again || a == (core.Address[player]{}) {
		t.Error("addresses don't compare")
	}
	wantAnswer(t, sim, p, func(_ *player, s *scene) core.Yield {
		if core.Self[player](s) != a {
			t.Error("Self is another")
		}
		return s.Return(1)
	}, 1)
}
