package house_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// worker does what its messages say.
type actor struct{ calls int }

type task struct {
	core.AskStack[func(*task) core.Yield, int]
	tick core.Future[core.Tick]
	f    core.Future[int]
	then func(*task) core.Yield
}

type remark struct{ core.NoticeStack[func()] }

func (a *actor) do(s *task) core.Yield     { a.calls++; return s.Req(s) }
func (a *actor) goOn(s *task) core.Yield   { a.calls++; return s.then(s) }
func (a *actor) hear(s *remark) core.Yield { a.calls++; s.Msg(); return s.Return() }

func (s *task) wait(then func(*task) core.Yield) core.Yield {
	s.then = then
	return core.Suspend(s, (*actor).goOn)
}

var (
	onDo   = core.Handle((*actor).do)
	onHear = core.HandleNotice((*actor).hear)
)

func reply(n int) func(*task) core.Yield {
	return func(s *task) core.Yield { return s.Return(n) }
}

// sleeps answers n after d.
func sleeps(d time.Duration, n int) func(*task) core.Yield {
	return func(s *task) core.Yield {
		core.Timer.Ask(s, &s.tick, d)
		return s.wait(func(s *task) core.Yield {
			if _, err := s.tick.Get(); err != nil {
				return s.Throw(err)
			}
			return s.Return(n)
		})
	}
}

// blocks holds up the worker, as no step should, until open is closed.
func blocks(entered, open chan struct{}) func(*task) core.Yield {
	return func(s *task) core.Yield {
		close(entered)
		<-open
		return s.Return(1)
	}
}

func spawn(at core.Place) (core.Address[actor], core.Port[func(*task) core.Yield, int]) {
	a := core.Spawn(at, func() *actor { return &actor{} })
	return a, onDo.At(a)
}

func newSystem(t testing.TB, c house.Config) *house.System {
	t.Helper()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	sys, err := house.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return sys
}

// started starts a system that is shut down, and found balanced, at the end.
func started(t testing.TB, c house.Config) *house.System {
	t.Helper()
	sys := newSystem(t, c)
	if err := sys.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shutdown(sys); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		balanced(t, sys)
	})
	return sys
}

func shutdown(sys *house.System) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return sys.Shutdown(ctx)
}

func balanced(t testing.TB, sys *house.System) {
	t.Helper()
	if n := sys.Outstanding(); n != 0 && !t.Failed() {
		t.Errorf("%d pooled objects are out", n)
	}
}

func descriptors(t testing.TB) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(all)
}

func TestStartIsIdempotent(t *testing.T) {
	sys := started(t, house.Config{Workers: 2})
	before := runtime.NumGoroutine()
	for range 3 {
		if err := sys.Start(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// TestStartContextCancelledLater: the context that Start got limits the start
// only. Nothing happens when it ends.
func TestStartContextCancelledLater(t *testing.T) {
	sys := newSystem(t, house.Config{Workers: 2})
	ctx, cancel := context.WithCancel(t.Context())
	if err := sys.Start(ctx); err != nil {
		t.Fatal(err)
	}
	_, p := spawn(sys)
	waits := core.Begin(p, sleeps(20*time.Millisecond, 7))
	cancel()
	for i := range 100 {
		if n, err := core.Ask(t.Context(), p, reply(i)); n != i || err != nil {
			t.Fatalf("answer %d, %v", n, err)
		}
	}
	if n, err := waits.Get(); n != 7 || err != nil {
		t.Errorf("the ask under way got %d, %v", n, err)
	}
	if n := sys.Actors(); n != 1 {
		t.Errorf("%d actors, want 1", n)
	}
	if err := shutdown(sys); err != nil {
		t.Error(err)
	}
	balanced(t, sys)
}

func TestStartWithAnEndedContext(t *testing.T) {
	sys := newSystem(t, house.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sys.Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := sys.Start(t.Context()); err != nil { // nothing is lost
		t.Error(err)
	}
	if err := shutdown(sys); err != nil {
		t.Error(err)
	}
}

func TestStartAfterShutdown(t *testing.T) {
	for _, begun := range []bool{false, true} {
		sys := newSystem(t, house.Config{})
		if begun {
			if err := sys.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := shutdown(sys); err != nil {
			t.Error(err)
		}
		if err := sys.Start(t.Context()); err != house.ErrClosed {
			t.Errorf("started before %t: error %v, want ErrClosed", begun, err)
		}
		_, p := spawn(sys)
		if _, err := core.Ask(t.Context(), p, reply(1)); err != core.ErrStopped {
			t.Errorf("error %v, want ErrStopped", err)
		}
		balanced(t, sys)
	}
}

// TestMessagesBeforeStart are handled once it starts, in order.
func TestMessagesBeforeStart(t *testing.T) {
	sys := newSystem(t, house.Config{Workers: 2})
	a, p := spawn(sys)
	var order []int
	for i := range 100 {
		core.Notice(onHear.At(a), func() { order = append(order, i) })
	}
	call := core.Begin(p, func(s *task) core.Yield { return s.Return(len(order)) })
	if err := sys.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := call.Get(); n != 100 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for i, n := range order {
		if i != n {
			t.Fatalf("order %v", order)
		}
	}
	if err := shutdown(sys); err != nil {
		t.Error(err)
	}
	balanced(t, sys)
}

// TestShutdownBeforeStart: what is queued is answered with ErrStopped.
func TestShutdownBeforeStart(t *testing.T) {
	for _, manual := range []bool{false, true} {
		sys := newSystem(t, house.Config{Manual: manual})
		a, p := spawn(sys)
		var calls []core.Pending[int]
		for range 100 {
			calls = append(calls, core.Begin(p, reply(1)))
			core.Notice(onHear.At(a), func() {})
		}
		ended := make(chan error)
		go func() {
			_, err := core.Ask(t.Context(), p, reply(1))
			ended <- err
		}()
		if err := shutdown(sys); err != nil {
			t.Error(err)
		}
		for _, c := range calls {
			if _, err := c.Get(); err != core.ErrStopped && !(manual && err == nil) {
				t.Errorf("manual %t: error %v, want ErrStopped", manual, err)
			}
		}
		if err := <-ended; err != core.ErrStopped {
			t.Errorf("manual %t: the guest that waited got %v", manual, err)
		}
		balanced(t, sys)
	}
}

// TestShutdownManyTimes: in turn and at once; each call waits for the end.
func TestShutdownManyTimes(t *testing.T) {
	sys := started(t, house.Config{Workers: 2})
	var stopped atomic.Int32
	for range 50 {
		core.Spawn(sys, func() *mortal { return &mortal{&stopped} })
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := shutdown(sys); err != nil {
				t.Error(err)
			}
			if n := stopped.Load(); n != 50 {
				t.Errorf("Shutdown returned when %d of 50 actors had stopped", n)
			}
		})
	}
	all.Wait()
	if err := shutdown(sys); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sys.Shutdown(ctx); err != nil && err != context.Canceled {
		t.Error(err)
	}
	if n := sys.Actors(); n != 0 {
		t.Errorf("%d actors are left", n)
	}
}

type mortal struct{ stopped *atomic.Int32 }

func (m *mortal) PostStop(s *core.HookStack) core.Yield { m.stopped.Add(1); return s.Return() }

// TestShutdownWithQueuedMessages: each ask ends once, with its answer or with
// ErrStopped; notices are handled or dead letters.
func TestShutdownWithQueuedMessages(t *testing.T) {
	sys := started(t, house.Config{Workers: 2, MailboxMax: -1})
	var calls []core.Pending[int]
	var heard atomic.Int32
	entered, open := [2]chan struct{}{}, make(chan struct{})
	for i, w := range sys.Workers() {
		a, p := spawn(w)
		entered[i] = make(chan struct{})
		calls = append(calls, core.Begin(p, blocks(entered[i], open)))
		<-entered[i]
		for range 500 {
			calls = append(calls, core.Begin(p, reply(1)), core.Begin(p, sleeps(time.Hour, 1)))
			core.Notice(onHear.At(a), func() { heard.Add(1) })
		}
	}
	ended := make(chan error)
	go func() { ended <- shutdown(sys) }()
	close(open)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	answered, stopped := 0, 0
	for _, c := range calls {
		switch n, err := c.Get(); {
		case err == nil && n == 1:
			answered++
		case err == core.ErrStopped:
			stopped++
		default:
			t.Errorf("%d, %v", n, err)
		}
	}
	st := sys.Stats()
	if uint64(heard.Load())+st.DeadLetter != 1000 {
		t.Errorf("%d of 1000 notices were handled, %d dead letters", heard.Load(), st.DeadLetter)
	}
	t.Logf("%d answered, %d stopped, %d notices handled", answered, stopped, heard.Load())
}

// TestShutdownWithAHungHandler: Shutdown gives up when its context ends, says
// what it left behind, and says so again. What hangs can end later.
func TestShutdownWithAHungHandler(t *testing.T) {
	files := descriptors(t)
	ignore := goleak.IgnoreCurrent()
	for range 10 {
		sys := newSystem(t, house.Config{Workers: 2})
		if err := sys.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		spawn(sys.Workers()[0])
		hung, p := spawn(sys.Workers()[1])
		entered, open := make(chan struct{}), make(chan struct{})
		call := core.Begin(p, blocks(entered, open))
		<-entered
		job := make(chan struct{})
		_, q := spawn(sys.Workers()[0])
		offloaded := core.Begin(q, func(s *task) core.Yield {
			core.Offload(s, &s.f, job, func(_ context.Context, job chan struct{}) (int, error) {
				job <- struct{}{}
				<-job // deaf to its context
				return 1, nil
			})
			return s.wait(reply(1))
		})
		<-job
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := sys.Shutdown(ctx)
		cancel()
		// On a busy machine others may not have stopped either.
		for _, want := range []string{`actors didn't stop: (#\d, )*#2(, #1)?: context deadline`, "1 offloaded functions haven't returned", "worker 1 hasn't left"} {
			if err == nil || !errors.Is(err, context.DeadlineExceeded) || !regexp.MustCompile(want).MatchString(err.Error()) {
				t.Errorf("error %q doesn't say %q", err, want)
			}
		}
		if again := shutdown(sys); again != err {
			t.Errorf("the second call says %v, the first said %v", again, err)
		}
		close(open)
		close(job)
		if n, err := call.Get(); n != 1 || err != nil {
			t.Errorf("the hung handler's answer is %d, %v", n, err)
		}
		if _, err := offloaded.Get(); err != core.ErrStopped {
			t.Errorf("the offloading ask got %v", err)
		}
		if err := hung.StopWait(t.Context()); err != nil {
			t.Error(err)
		}
	}
	goleak.VerifyNone(t, ignore)
	if n := descriptors(t); n != files {
		t.Errorf("%d descriptors are open, %d were", n, files)
	}
}

// TestOnShutdown: the functions are called in reverse order, while actors still
// answer; their errors are the outcome's.
func TestOnShutdown(t *testing.T) {
	sys := newSystem(t, house.Config{Workers: 2})
	if err := sys.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, p := spawn(sys)
	var order []int
	sad, bad := errors.New("sad"), errors.New("bad")
	for i, out := range []error{nil, sad, bad} {
		sys.OnShutdown(func(ctx context.Context) error {
			order = append(order, i)
			if n, err := core.Ask(ctx, p, reply(i)); n != i || err != nil {
				t.Errorf("an actor said %d, %v while draining", n, err)
			}
			if err := sys.Start(ctx); err != house.ErrClosed {
				t.Errorf("start while draining: %v", err)
			}
			return out
		})
	}
	err := shutdown(sys)
	if !errors.Is(err, sad) || !errors.Is(err, bad) {
		t.Errorf("error %v", err)
	}
	if fmt.Sprint(order) != "[2 1 0]" {
		t.Errorf("order %v", order)
	}
	if _, err := core.Ask(t.Context(), p, reply(1)); err != core.ErrStopped {
		t.Errorf("after the shutdown: %v", err)
	}
	balanced(t, sys)
}

// TestSpawnDuringShutdown: what is born too late is stopped from birth, and what
// was born in time stops.
func TestSpawnDuringShutdown(t *testing.T) {
	for range 50 {
		sys := newSystem(t, house.Config{Workers: 2})
		if err := sys.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		begin := make(chan struct{})
		for range 2 {
			all.Go(func() {
				<-begin
				for {
					_, p := spawn(sys)
					if _, err := core.Ask(t.Context(), p, reply(1)); err != nil {
						if err != core.ErrStopped {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		close(begin)
		if err := shutdown(sys); err != nil {
			t.Error(err)
		}
		all.Wait()
		if n := sys.Actors(); n != 0 {
			t.Errorf("%d actors are left", n)
		}
		balanced(t, sys)
	}
}

// TestG19NothingLeftBehind: after everything the goroutines, descriptors and pooled
// objects are as before.
func TestG19NothingLeftBehind(t *testing.T) {
	files := descriptors(t)
	ignore := goleak.IgnoreCurrent()
	for range 20 {
		sys := newSystem(t, house.Config{Workers: 3, AskTimeout: time.Minute, Supervise: resumes})
		if err := sys.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var calls []core.Pending[int]
		for i := range 30 {
			a, p := spawn(sys)
			_, q := spawn(sys)
			calls = append(calls, core.Begin(p, sleeps(time.Duration(i)*100*time.Microsecond, 1)), core.Begin(p, func(s *task) core.Yield {
				onDo.At(a).Ask(s, &s.f, sleeps(time.Hour, 1)) // cancelled
				return s.Return(1)
			}), core.Begin(q, func(s *task) core.Yield {
				p.AskWithin(s, &s.f, sleeps(time.Hour, 1), time.Duration(i)*100*time.Microsecond)
				return s.wait(reply(1))
			}), core.Begin(q, func(s *task) core.Yield { panic("one") }))
			if i%10 == 0 {
				a.Stop()
			}
		}
		if err := shutdown(sys); err != nil {
			t.Error(err)
		}
		for _, c := range calls {
			if _, err := c.Get(); err != nil && err != core.ErrStopped && !errors.Is(err, core.ErrPanic) {
				t.Error(err)
			}
		}
		balanced(t, sys)
	}
	goleak.VerifyNone(t, ignore)
	if n := descriptors(t); n != files {
		t.Errorf("%d descriptors are open, %d were", n, files)
	}
}

// TestParkedWorkersWake: workers that never spin, and messages one at a time: a
// lost wake-up would hang the test.
func TestParkedWorkersWake(t *testing.T) {
	sys := started(t, house.Config{Workers: 2, Spin: -1})
	_, p := spawn(sys.Workers()[0])
	_, q := spawn(sys.Workers()[1])
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for i := range 2000 {
		n, err := core.Ask(ctx, p, func(s *task) core.Yield {
			q.Ask(s, &s.f, reply(i))
			return s.wait(func(s *task) core.Yield {
				n, err := s.f.Get()
				if err != nil {
					return s.Throw(err)
				}
				return s.Return(n)
			})
		})
		if n != i || err != nil {
			t.Fatalf("answer %d, %v; want %d", n, err, i)
		}
		if i%20 == 0 {
			if n, err := core.Ask(ctx, q, sleeps(time.Duration(i%7)*time.Microsecond, i)); n != i || err != nil {
				t.Fatalf("answer %d, %v; want %d", n, err, i)
			}
		}
	}
}

// TestPlacement: on a system in turn, on a worker there.
func TestPlacement(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 3})
	count := map[int]int{}
	for range 30 {
		a, _ := spawn(sim)
		count[a.House().Owner().Index]++
	}
	for i, w := range sim.Workers() {
		if count[i] != 10 || w.Index() != i {
			t.Errorf("worker %d has %d of 30 actors", w.Index(), count[i])
		}
		if a, _ := spawn(w); a.House().Owner().Index != i {
			t.Errorf("an actor for worker %d is on %d", i, a.House().Owner().Index)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, c := range map[string]house.Config{
		"Workers":      {Workers: -1},
		"Budget":       {Budget: -1},
		"AskTimeout":   {AskTimeout: -1},
		"OffloadMax":   {OffloadMax: -1},
		"OffloadQueue": {OffloadQueue: -1},
	} {
		if _, err := house.New(c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a negative %s: %v", name, err)
		}
	}
	if _, err := house.New(house.Config{Workers: 1025}); err == nil || !strings.Contains(err.Error(), "Workers is 1025, at most 1024") {
		t.Errorf("too many workers: %v", err)
	}
	const most = 1 << 19
	if _, err := house.New(house.Config{MailboxMax: most + 1}); err == nil || !strings.Contains(err.Error(), "MailboxMax") {
		t.Errorf("too large a mailbox: %v", err)
	}
	if _, err := house.New(house.Config{MailboxMax: most, Manual: true}); err != nil {
		t.Errorf("the largest mailbox: %v", err)
	}
	if sys, err := house.New(house.Config{Workers: 1024, Manual: true}); err != nil || len(sys.Workers()) != 1024 {
		t.Errorf("1024 workers: %v", err)
	}
	sys, err := house.New(house.Config{})
	if err != nil || len(sys.Workers()) < 2 {
		t.Errorf("the zero Config: %v", err)
	}
}

// TestFailuresAreLogged: with trace and count of those left out, ten a second at most.
func TestFailuresAreLogged(t *testing.T) {
	var out bytes.Buffer
	sim := housetest.New(t, 1, house.Config{Workers: 1, Supervise: resumes, Logger: slog.New(slog.NewTextHandler(&out, nil))})
	_, p := spawn(sim)
	burst := func() {
		for range 50 {
			if _, err := housetest.Ask(t, sim, p, func(*task) core.Yield { panic("at the disco") }); !errors.Is(err, core.ErrPanic) {
				t.Fatal(err)
			}
		}
	}
	sim.Run(time.Second)
	burst()
	sim.Run(time.Second)
	burst()
	text := out.String()
	if n := strings.Count(text, "an actor failed"); n != 2 {
		t.Errorf("%d lines for two bursts, want 2:\n%s", n, text)
	}
	for _, want := range []string{"at the disco", "house_test.actor#1", "(*actor).do", "skipped=0", "skipped=49"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log doesn't say %q:\n%s", want, text)
		}
	}
	// First where the user's code was.
	first := regexp.MustCompile(`trace.1="\S*house_test.TestFailuresAreLogged.func\S* \S*/system_test.go:\d+" trace.2="`)
	if !first.MatchString(text) || strings.Contains(text, `\n`) {
		t.Errorf("the trace doesn't begin with the test's step:\n%s", text)
	}
}

// TestNamedInTheLog: an actor that has a name is found by it.
func TestNamedInTheLog(t *testing.T) {
	var out bytes.Buffer
	sim := housetest.New(t, 1, house.Config{Workers: 1, Supervise: resumes, Logger: slog.New(slog.NewTextHandler(&out, nil))})
	a, err := core.SpawnWith(sim, func() *actor { return &actor{} }, core.Props{Name: "disco"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = housetest.Ask(t, sim, onDo.At(a), func(*task) core.Yield { panic("no lights") })
	var p *core.PanicError
	if !errors.As(err, &p) || p.Actor != "/user/disco (house_test.actor#1)" {
		t.Errorf("the panic was of %q", p.Actor)
	}
	if err := core.Notice(onHear.At(a), func() {}); err != nil {
		t.Error(err)
	}
	a.Stop() // ahead of that
	sim.Rest()
	for _, want := range []string{
		`error="stackhouse: actor panicked: /user/disco (house_test.actor#1) in `,
		`reason=stopped message=func() to="/user/disco (house_test.actor#1)"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log doesn't say %q:\n%s", want, out.String())
		}
	}
}

// doomed does at the ends of its life what it is told.
type doomed struct{ start, stop func() error }

func (d *doomed) PreStart(s *core.HookStack) core.Yield { return ends(s, d.start()) }
func (d *doomed) PostStop(s *core.HookStack) core.Yield { return ends(s, d.stop()) }

// resumes has actors go on that have failed.
var resumes = &core.Strategy{Decide: func(error) core.Directive { return core.Resume }}

// ends is the end of a hook.
func ends(s *core.HookStack, err error) core.Yield {
	if err != nil {
		return s.Throw(err)
	}
	return s.Return()
}

// TestFailuresOfHooksAreLogged: each with the actor and the hook.
func TestFailuresOfHooksAreLogged(t *testing.T) {
	fine := func() error { return nil }
	fails := func() error { return errors.New("no luck") }
	panics := func() error { panic("no luck") }
	for _, c := range []struct {
		d    doomed
		want string
	}{
		{doomed{fails, fine}, "house_test.doomed#1 failed in PreStart: no luck"},
		{doomed{fine, fails}, "house_test.doomed#1 failed in PostStop: no luck"},
		{doomed{panics, fine}, "house_test.doomed#1 in PreStart: no luck"},
		{doomed{fine, panics}, "house_test.doomed#1 in PostStop: no luck"},
	} {
		var out bytes.Buffer
		sim := housetest.New(t, 1, house.Config{Workers: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		a := core.Spawn(sim, func() *doomed { return &c.d })
		sim.Rest()
		a.Stop()
		sim.Rest()
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("the log doesn't say %q:\n%s", c.want, out.String())
		}
	}
}

func TestStats(t *testing.T) {
	sys := started(t, house.Config{Workers: 2})
	a, p := spawn(sys.Workers()[0])
	_, q := spawn(sys.Workers()[1])
	for i := range 10 {
		core.Ask(t.Context(), p, func(s *task) core.Yield {
			q.Ask(s, &s.f, reply(i))
			return s.wait(reply(i))
		})
	}
	core.Ask(t.Context(), p, func(*task) core.Yield { panic("one") })
	if err := a.StopWait(t.Context()); err != nil {
		t.Fatal(err)
	}
	core.Ask(t.Context(), p, reply(1))
	core.Notice(onHear.At(a), func() {})
	core.Ask(t.Context(), p, reply(1))
	if err := shutdown(sys); err != nil {
		t.Fatal(err)
	}
	st := sys.Stats()
	// 21 asks came as calls, 10 answers, 3 stops: two actors, one by its address; 2 asks and a
	// notice found it stopped.
	if st.Messages < 21+10+2 || st.Failures != 1 || st.Refused != 3 || st.DeadLetter != 0 || st.Late != 0 || st.Turns == 0 || st.Visits == 0 {
		t.Errorf("%+v", st)
	}
}
