package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

type (
	// tenant adds up what it is asked to, and its ledger keeps that while there is no tenant.
	tenant struct {
		name string
		sum  int
		book *ledgers
		tick core.Future[core.Tick]
	}
	rent struct {
		name string
		n    int
		do   func(*tenant, *rentStack) core.Yield // nil: add at once
	}
	rentStack struct {
		core.AskStack[rent, int]
		tick core.Future[core.Tick]
	}
	rentNotice struct{ core.NoticeStack[rent] }

	ledgers struct {
		mu    sync.Mutex
		sums  map[string]int
		here  map[string]int // tenants by name, now
		made  int
		close time.Duration // what PostStop takes
	}
)

func (t *tenant) rent(s *rentStack) core.Yield {
	if s.Req.do != nil {
		return s.Req.do(t, s)
	}
	t.sum += s.Req.n
	return s.Return(t.sum)
}

func (t *tenant) told(s *rentNotice) core.Yield {
	t.sum += s.Msg.n
	return s.Return()
}

func (t *tenant) PostStop(s *core.HookStack) core.Yield {
	if t.book.close == 0 {
		return t.stopped(s)
	}
	core.Timer.Ask(s, &t.tick, t.book.close)
	return core.Suspend(s, (*tenant).stopped)
}

func (t *tenant) stopped(s *core.HookStack) core.Yield {
	t.book.mu.Lock()
	defer t.book.mu.Unlock()
	t.book.sums[t.name] += t.sum
	t.book.here[t.name]--
	return s.Return()
}

var (
	tenantRent = core.Handle((*tenant).rent)
	tenantTold = core.HandleNotice((*tenant).told)
)

func (l *ledgers) open(name string) *tenant {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	if l.here[name]++; l.here[name] > 1 {
		l.here[name]-- // in vain: another one was quicker; it has no PostStop
	}
	return &tenant{name: name, sum: 0, book: l}
}

func (l *ledgers) sum(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sums[name]
}

func tenants(in core.Directory, c core.NamedConfig[tenant]) (core.Named[tenant], *ledgers) {
	l := &ledgers{sums: map[string]int{}, here: map[string]int{}}
	if c.New == nil {
		c.New = l.open
	}
	c.Kind = "tenant"
	return core.NewNamed(in, c), l
}

func nameOfRent(r *rent) string { return r.name }

// pays asks a port by name time and again, and pauses in between, for a random time.
type payer struct {
	to    core.Port[rent, int]
	rng   *rand.Rand
	pause time.Duration
	paid  map[string]int
}

type payStack struct {
	core.AskStack[int, int]
	rent core.Future[int]
	tick core.Future[core.Tick]
	left int
	now  rent
}

func (p *payer) begin(s *payStack) core.Yield {
	s.left = s.Req
	return p.pay(s)
}

func (p *payer) pay(s *payStack) core.Yield {
	if s.left == 0 {
		return s.Return(s.Req)
	}
	s.left--
	s.now = rent{name: fmt.Sprint("t", p.rng.IntN(4)), n: 1 + p.rng.IntN(9)}
	p.to.Ask(s, &s.rent, s.now)
	return core.Suspend(s, (*payer).payed)
}

func (p *payer) payed(s *payStack) core.Yield {
	if _, err := s.rent.Get(); err != nil {
		return s.Throw(err)
	}
	p.paid[s.now.name] += s.now.n
	core.Timer.Ask(s, &s.tick, time.Duration(p.rng.Int64N(int64(p.pause))))
	return core.Suspend(s, (*payer).pay)
}

var payerPay = core.Handle((*payer).begin)

// Actors passivate all the time while others ask them by their names: no ask is lost, none is
// handled twice, and there are never two of a name.
func TestByNameWhilePassivating(t *testing.T) {
	const idle = 3 * time.Millisecond
	made := 0
	eachSeedOf(t, 40, 3, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		all, book := tenants(sim, core.NamedConfig[tenant]{Props: core.Props{Passivate: core.Passivation{Idle: idle}}})
		book.close = time.Duration(sim.Seed%3) * time.Millisecond
		to := core.ByName(tenantRent, all, nameOfRent)
		var payers []*payer
		var calls []core.Pending[int]
		for i := range 3 {
			p := &payer{to: to, rng: rand.New(rand.NewPCG(sim.Seed, uint64(i))), pause: 3 * idle, paid: map[string]int{}}
			payers = append(payers, p)
			calls = append(calls, core.Begin(payerPay.At(core.Spawn(sim, func() *payer { return p })), 200))
		}
		for range 1000 {
			sim.Run(idle)
		}
		for _, c := range calls {
			endedAs(t, nil, c)
		}
		require.Zero(t, all.Len(), "seed %d", sim.Seed)
		for i := range 4 {
			name, want := fmt.Sprint("t", i), 0
			for _, p := range payers {
				want += p.paid[name]
			}
			require.Equal(t, want, book.sum(name), "seed %d", sim.Seed)
			require.Zero(t, book.here[name], "seed %d", sim.Seed)
		}
		made += book.made
	})
	require.Greater(t, made, 40*4*5, "they passivate")
}

// A stopping actor's name is free when its PostStop has ended; an ask that comes meanwhile goes to
// the next actor, a guest's too, and one that has begun doesn't.
func TestByNameBehindAStop(t *testing.T) {
	eachSeedOf(t, 10, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		all, book := tenants(sim, core.NamedConfig[tenant]{})
		book.close = 50 * time.Millisecond
		to := core.ByName(tenantRent, all, func(r *rent) []byte { return []byte(r.name) })
		begun := 0
		long := core.Begin(to, rent{name: "a", do: func(_ *tenant, s *rentStack) core.Yield {
			begun++
			core.Timer.Ask(s, &s.tick, time.Hour)
			return core.Suspend(s, func(_ *tenant, s *rentStack) core.Yield { return s.Return(0) })
		}})
		sim.Run(time.Millisecond)
		first, ok := all.Find("a")
		require.True(t, ok)
		first.Stop()
		sim.Run(time.Millisecond)
		late := core.Begin(to, rent{name: "a", n: 7})
		sim.Run(20 * time.Millisecond)
		require.False(t, late.Ready())
		endedAs(t, core.ErrStopped, long)
		sim.Run(40 * time.Millisecond)
		n, err := late.Get()
		require.NoError(t, err)
		require.Equal(t, 7, n)
		require.Equal(t, 1, begun)
		second, _ := all.Find("a")
		require.NotEqual(t, first, second)
		book.close = 0
	})
}

// An error that looks as if the actor had stopped, and is its own, is passed on.
func TestByNameThrows(t *testing.T) {
	sim := stage(t, 1, 2)
	all, _ := tenants(sim, core.NamedConfig[tenant]{})
	begun := 0
	_, err := housetest.Ask(t, sim, core.ByName(tenantRent, all, nameOfRent), rent{name: "a", do: func(_ *tenant, s *rentStack) core.Yield {
		begun++
		core.Self[tenant](s).Stop()
		return s.Throw(core.ErrStopped)
	}})
	require.ErrorIs(t, err, core.ErrStopped)
	require.Equal(t, 1, begun)
}

// Whoever waits until an actor has gone does so until the deadline.
func TestByNameInTime(t *testing.T) {
	sim := drawn(t, 1, house.Config{Workers: 2, AskTimeout: 30 * time.Millisecond}, noSteps)
	all, book := tenants(sim, core.NamedConfig[tenant]{})
	book.close = time.Second
	to := core.ByName(tenantRent, all, nameOfRent)
	_, err := housetest.Ask(t, sim, to, rent{name: "a"})
	require.NoError(t, err)
	a, _ := all.Find("a")
	a.Stop()
	_, err = housetest.Ask(t, sim, to, rent{name: "a"})
	require.ErrorIs(t, err, core.ErrTimeout)
	sim.Run(2 * time.Second)
	require.Zero(t, all.Len())
}

// What can't be made is the asker's error, and there is nobody more.
func TestNamedRefuses(t *testing.T) {
	sim := stage(t, 1, 2)
	all, _ := tenants(sim, core.NamedConfig[tenant]{Max: 2})
	to := core.ByName(tenantRent, all, nameOfRent)
	for _, name := range []string{"", "a/b", "a b", "\xff", strings.Repeat("x", 249)} {
		_, err := housetest.Ask(t, sim, to, rent{name: name})
		require.ErrorContains(t, err, "name", name)
	}
	require.Zero(t, all.Len())

	for _, name := range []string{"a", "b", strings.Repeat("x", 248)} {
		_, err := housetest.Ask(t, sim, to, rent{name: name})
		if len(name) > 1 {
			require.ErrorIs(t, err, core.ErrOverloaded)
		} else {
			require.NoError(t, err)
		}
	}
	require.Equal(t, 2, all.Len())
	_, err := housetest.Ask(t, sim, to, rent{name: "a"})
	require.NoError(t, err, "who is there is found")
	a, err := all.Get("a")
	require.NoError(t, err)
	a.Stop()
	sim.Rest()
	require.Equal(t, 1, all.Len())
	_, err = housetest.Ask(t, sim, to, rent{name: strings.Repeat("x", 248)})
	require.NoError(t, err)

	core.SpawnWith(sim, func() *player { return &player{} }, core.Props{Name: "tenant.p"})
	_, err = housetest.Ask(t, sim, to, rent{name: "p"})
	require.ErrorIs(t, err, core.ErrAlreadyExists)
	_, found := all.Find("p")
	require.False(t, found)
	_, err = all.Get("p")
	require.ErrorIs(t, err, core.ErrAlreadyExists)
}

func TestNamedWhoseNewPanics(t *testing.T) {
	sim := stage(t, 1, 2)
	all, _ := tenants(sim, core.NamedConfig[tenant]{New: func(name string) *tenant { panic("no " + name) }})
	_, err := housetest.Ask(t, sim, core.ByName(tenantRent, all, nameOfRent), rent{name: "a"})
	var broken *core.PanicError
	require.True(t, errors.As(err, &broken))
	require.ErrorIs(t, err, core.ErrPanic)
	require.Equal(t, "no a", broken.Value)
	require.Equal(t, "tenant.a", broken.Actor)
	require.NotEmpty(t, broken.Trace)
	require.Zero(t, all.Len())
}

// A system that has shut down has nobody.
func TestNamedBehindAShutdown(t *testing.T) {
	sim := stage(t, 1, 2)
	all, _ := tenants(sim, core.NamedConfig[tenant]{})
	to := core.ByName(tenantRent, all, nameOfRent)
	_, err := housetest.Ask(t, sim, to, rent{name: "a"})
	require.NoError(t, err)
	require.NoError(t, sim.Shutdown(t.Context()))
	require.Zero(t, all.Len())
	for _, name := range []string{"a", "b"} {
		_, err = housetest.Ask(t, sim, to, rent{name: name})
		require.ErrorIs(t, err, core.ErrStopped)
	}
	require.ErrorIs(t, core.Notice(core.NoticeByName(tenantTold, all, nameOfRent), rent{name: "a"}), core.ErrStopped)
	require.Zero(t, all.Len())
}

func TestNoticeByName(t *testing.T) {
	eachSeedOf(t, 5, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		all, book := tenants(sim, core.NamedConfig[tenant]{Max: 2})
		tell := core.NoticeByName(tenantTold, all, nameOfRent)
		teller := core.Spawn(sim, func() *player { return &player{} })
		l := core.Events[core.DeadLetter](sim).Listen(8)
		defer l.Close()
		step := func(r rent, want error) {
			t.Helper()
			_, err := housetest.Ask(t, sim, play.At(teller), func(_ *player, s *scene) core.Yield {
				if err := tell.Notice(s, r); err != nil {
					return s.Throw(err)
				}
				return s.Return(0)
			})
			require.ErrorIs(t, err, want)
		}
		step(rent{name: "a", n: 1}, nil)
		require.NoError(t, core.Notice(tell, rent{name: "a", n: 2}))
		require.NoError(t, core.Notice(tell, rent{name: "b", n: 4}))
		require.ErrorIs(t, core.Notice(tell, rent{name: "c", n: 4}), core.ErrOverloaded)
		step(rent{name: "c"}, core.ErrOverloaded)
		sim.Run(time.Millisecond)
		a, _ := all.Find("a")
		b, _ := all.Find("b")
		a.Stop()
		b.Drain()
		sim.Run(time.Millisecond)
		require.Equal(t, 3, book.sum("a"))
		require.Equal(t, 4, book.sum("b"))
		require.Zero(t, all.Len())
		require.Empty(t, l.C())

		book.close = time.Second
		step(rent{name: "a", n: 1}, nil)
		sim.Run(time.Millisecond)
		a, _ = all.Find("a")
		a.Stop()
		sim.Run(time.Millisecond)
		step(rent{name: "a", n: 1}, core.ErrStopped)
		require.ErrorIs(t, core.Notice(tell, rent{name: "a"}), core.ErrStopped)
		require.Empty(t, l.C(), "who was told so knows")
		sim.Run(2 * time.Second)
	})
}

// Many goroutines ask at once, of a system that runs: each name has one actor at a time, and no
// ask is lost, nor handled twice. Where a worker gets no CPU for an idle time the second actor may
// be stopping too: as nobody stops them otherwise, that ask has never begun.
func TestByNameOfGuests(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 2, Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	all, book := tenants(sys, core.NamedConfig[tenant]{Props: core.Props{Passivate: core.Passivation{Idle: time.Millisecond}}})
	to := core.ByName(tenantRent, all, nameOfRent)
	var guests sync.WaitGroup
	const each = 500
	for g := range 8 {
		guests.Go(func() {
			for i := range each {
				err := core.ErrStopped
				for errors.Is(err, core.ErrStopped) {
					_, err = core.Ask(t.Context(), to, rent{name: fmt.Sprint((g + i) % 3), n: 1})
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	guests.Wait()
	require.NoError(t, sys.Shutdown(t.Context()))
	require.Equal(t, 8*each, book.sum("0")+book.sum("1")+book.sum("2"))
	require.Zero(t, all.Len())
}

func TestNamedMisuse(t *testing.T) {
	sim := stage(t, 1, 1)
	fine := func(string) *tenant { return &tenant{} }
	for want, f := range map[string]func(){
		`"" is no kind`:    func() { core.NewNamed(sim, core.NamedConfig[tenant]{New: fine}) },
		`"a.b" is no kind`: func() { core.NewNamed(sim, core.NamedConfig[tenant]{Kind: "a.b", New: fine}) },
		"without a New":    func() { core.NewNamed(sim, core.NamedConfig[tenant]{Kind: "a"}) },
		"and their Props none": func() {
			core.NewNamed(sim, core.NamedConfig[tenant]{Kind: "a", New: fine, Props: core.Props{Name: "x"}})
		},
		"of the kind \"b\" already": func() {
			core.NewNamed(sim, core.NamedConfig[tenant]{Kind: "b", New: fine})
			core.NewNamed(sim, core.NamedConfig[tenant]{Kind: "b", New: fine})
		},
		"less than no actors":   func() { core.NewNamed(sim, core.NamedConfig[tenant]{Kind: "a", New: fine, Max: -1}) },
		"zero Named":            func() { core.Named[tenant]{}.Len() },
		"of a zero Handler":     func() { core.ByName(core.Handler[tenant, rent, int]{}, core.Named[tenant]{}, nameOfRent) },
		"of a zero NoticeHandl": func() { core.NoticeByName(core.NoticeHandler[tenant, rent]{}, core.Named[tenant]{}, nameOfRent) },
	} {
		t.Run(want, func(t *testing.T) {
			defer func() { require.Contains(t, fmt.Sprint(recover()), want) }()
			f()
		})
	}
}

// Whoever makes an actor of the name while it is being made gives its place to that one.
func TestNamedMadeMeanwhile(t *testing.T) {
	sim := stage(t, 1, 2)
	other := &ledgers{sums: map[string]int{}, here: map[string]int{}}
	var first core.Address[tenant]
	all, _ := tenants(sim, core.NamedConfig[tenant]{Max: 2, New: func(name string) *tenant {
		own := func() *tenant { return &tenant{name: name, book: other} }
		first, _ = core.SpawnWith(sim, own, core.Props{Name: "tenant." + name})
		return &tenant{name: name}
	}})
	a, err := all.Get("a")
	require.NoError(t, err)
	require.Equal(t, first, a)
	require.Zero(t, all.Len(), "it was spawned by others")
}

// Several look for the last name that there is room for at once: they all get the one actor. The
// second does so while the first makes it, the third when the second has.
func TestNamedAtMaxIsExact(t *testing.T) {
	for _, max := range []int{1, 2} {
		sim := stage(t, 1, 2)
		var all core.Named[tenant]
		var second core.Address[tenant]
		made := 0
		all, _ = tenants(sim, core.NamedConfig[tenant]{Max: max, New: func(name string) *tenant {
			if made++; made == max {
				var err error
				second, err = all.Get("a")
				require.NoError(t, err)
			}
			return &tenant{name: name}
		}})
		if max == 2 {
			_, err := all.Get("b")
			require.NoError(t, err)
		}
		first, err := all.Get("a")
		require.NoError(t, err)
		require.Equal(t, second, first)
		require.Equal(t, max, all.Len())
		third, err := all.Get("a")
		require.NoError(t, err)
		require.Equal(t, second, third)
		_, err = all.Get("c")
		require.ErrorIs(t, err, core.ErrOverloaded)
	}
}

// Two goroutines at once look for the only name that there is room for, time and again.
func TestNamedAtMaxByGuests(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 2, Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	defer sys.Shutdown(context.Background())
	all, _ := tenants(sys, core.NamedConfig[tenant]{Max: 1})
	for range 2000 {
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if _, err := all.Get("a"); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		a, _ := all.Find("a")
		require.NoError(t, a.StopWait(t.Context()))
	}
}

// A name of bytes is the actor's own: whoever said it may write to them.
func TestNameOfBytes(t *testing.T) {
	sim := stage(t, 1, 2)
	all, _ := tenants(sim, core.NamedConfig[tenant]{})
	buf := []byte("ann")
	to := core.ByName(tenantRent, all, func(*rent) []byte { return buf })
	_, err := housetest.Ask(t, sim, to, rent{n: 1})
	require.NoError(t, err)
	copy(buf, "bob")
	_, found := all.Find("bob")
	require.False(t, found)
	ann, found := all.Find("ann")
	require.True(t, found)
	require.Equal(t, "/user/tenant.ann", ann.Path().Local())
	named := ""
	_, err = housetest.Ask(t, sim, tenantRent.At(ann), rent{do: func(a *tenant, s *rentStack) core.Yield {
		named = a.name
		return s.Return(0)
	}})
	require.NoError(t, err)
	require.Equal(t, "ann", named)
}

// speaker answers with bytes of its stack.
type speaker struct{ name string }

func (p *speaker) say(s *core.AskStack[string, []byte]) core.Yield {
	return s.Return(s.Copy([]byte(p.name + " says " + s.Req)))
}

// hearkener asks two by their names, and reads when both have answered.
type hearkener struct {
	to core.Port[string, []byte]
}

type hearkenStack struct {
	core.AskStack[int, string]
	a, b core.Future[[]byte]
}

func (l *hearkener) listen(s *hearkenStack) core.Yield {
	l.to.Ask(s, &s.a, "a")
	l.to.Ask(s, &s.b, "b")
	return core.Suspend(s, (*hearkener).heard)
}

func (l *hearkener) heard(s *hearkenStack) core.Yield {
	a, err := s.a.Get()
	if err != nil {
		return s.Throw(err)
	}
	b, err := s.b.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(string(a) + ", " + string(b))
}

var (
	speakerSay      = core.Handle((*speaker).say)
	hearkenerListen = core.Handle((*hearkener).listen)
)

// The bytes of an answer live as long as the future that it came in, also behind another one.
func TestByNameAnswersBytes(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		all := core.NewNamed(sim, core.NamedConfig[speaker]{Kind: "speaker", New: func(name string) *speaker { return &speaker{name} }})
		to := core.ByName(speakerSay, all, func(s *string) string { return *s })
		l := hearkenerListen.At(core.Spawn(sim, func() *hearkener { return &hearkener{to} }))
		for range 3 {
			said, err := housetest.Ask(t, sim, l, 0)
			require.NoError(t, err)
			require.Equal(t, "a says a, b says b", said)
		}
	})
}
