package core_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// vault is a store whose writes must not be left alone.
type (
	vault struct{ *deposits }

	// deposits outlive instances, and note what happens.
	deposits struct {
		pool    core.OffloadPool
		other   core.Port[script, int]
		serial  bool
		written int
		log     []string
	}
	vaultStack struct {
		core.AskStack[vaultEnd, int]
		written core.Future[int]
		other   core.Future[int]
	}
	vaultLook struct{ core.AskStack[struct{}, int] }

	// vaultEnd is how the step goes on that has begun a write.
	vaultEnd func(*vault, *vaultStack) core.Yield
)

func (d *deposits) note(what string) { d.log = append(d.log, fmt.Sprint(what, " ", d.written)) }

func (v *vault) PreStart(s *core.HookStack) core.Yield { v.note("start"); return s.Return() }
func (v *vault) PostStop(s *core.HookStack) core.Yield { v.note("end"); return s.Return() }

func (v *vault) put(s *vaultStack) core.Yield {
	if !v.serial {
		s.Barrier()
	}
	core.OffloadKept(s, &s.written, v.pool, v.deposits, deposit)
	return s.Req(v, s)
}

// askAndPut has asked something else before.
func (v *vault) askAndPut(s *vaultStack) core.Yield {
	v.other.Ask(s, &s.other, answerIn(time.Hour, 1))
	return v.put(s)
}

func deposit(_ context.Context, d *deposits) (int, error) { d.written++; return d.written, nil }

func awaits(_ *vault, s *vaultStack) core.Yield { return core.Suspend(s, (*vault).answer) }

func (v *vault) answer(s *vaultStack) core.Yield {
	n, err := s.written.Get()
	v.note("written")
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

// again asks where the answer of the write was.
func (v *vault) again(s *vaultStack) core.Yield {
	v.note("written")
	v.other.Ask(s, &s.written, answerIn(time.Millisecond, 1))
	return core.Suspend(s, (*vault).answer)
}

func (v *vault) either(s *vaultStack) core.Yield {
	if s.other.Ready() {
		v.note("other")
	}
	if !s.written.Ready() {
		return core.SuspendAny(s, (*vault).either)
	}
	return v.answer(s)
}

func (v *vault) look(s *vaultLook) core.Yield { v.note("look"); return s.Return(v.written) }

var (
	vaultPut  = core.Handle((*vault).put)
	vaultBoth = core.Handle((*vault).askAndPut)
	vaultSees = core.Handle((*vault).look)
)

// vaultAsker gives up early.
type (
	vaultAsker      struct{ vault core.Port[vaultEnd, int] }
	vaultAskerStack struct {
		core.AskStack[vaultEnd, int]
		f core.Future[int]
	}
)

func (a *vaultAsker) ask(s *vaultAskerStack) core.Yield {
	a.vault.AskWithin(s, &s.f, s.Req, time.Millisecond)
	return core.Suspend(s, (*vaultAsker).got)
}

func (a *vaultAsker) got(s *vaultAskerStack) core.Yield {
	n, err := s.f.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

var vaultAsks = core.Handle((*vaultAsker).ask)

// TestOffloadKept: whatever ends the stack that has begun a write, its barrier, or the next
// call of a Serial actor, and the end of its actor, wait until that has returned.
func TestOffloadKept(t *testing.T) {
	errThrown := errors.New("thrown")
	for name, c := range map[string]struct {
		end  vaultEnd
		then func(core.Address[vault]) // behind the begin
		soon bool                      // its asker waits for a millisecond
		asks bool                      // it has asked something else before
		err  error                     // of the asker
		log  []string
	}{
		"waits": {end: awaits, log: []string{"start 0", "written 1", "look 1"}},
		"its deadline passes": {end: awaits, soon: true, err: core.ErrTimeout,
			log: []string{"start 0", "written 1", "look 1"}},
		"its deadline passes, and it has begun something else since": {soon: true, err: core.ErrTimeout,
			end: func(v *vault, s *vaultStack) core.Yield {
				core.Offload(s, &s.other, 1, func(context.Context, int) (int, error) { return 1, nil })
				return core.Suspend(s, (*vault).answer)
			},
			log: []string{"start 0", "written 1", "look 1"}},
		"its asker gives up, and another answers": {soon: true, err: core.ErrTimeout,
			end: func(v *vault, s *vaultStack) core.Yield {
				v.other.Ask(s, &s.other, answerIn(3*time.Millisecond, 1))
				return core.SuspendAny(s, (*vault).either)
			},
			log: []string{"start 0", "other 0", "other 1", "written 1", "look 1"}},
		"its asker gives up, and it asks again where the write was": {soon: true, err: core.ErrTimeout,
			end: func(_ *vault, s *vaultStack) core.Yield { return core.Suspend(s, (*vault).again) },
			log: []string{"start 0", "written 1", "written 1", "look 1"}},
		"returns": {end: func(_ *vault, s *vaultStack) core.Yield { return s.Return(1) },
			log: []string{"start 0", "look 1"}},
		"returns, and has asked before": {asks: true, end: func(_ *vault, s *vaultStack) core.Yield { return s.Return(1) },
			log: []string{"start 0", "look 1"}},
		"throws": {end: func(_ *vault, s *vaultStack) core.Yield { return s.Throw(errThrown) }, err: errThrown,
			log: []string{"start 0", "look 1"}},
		"panics": {end: func(*vault, *vaultStack) core.Yield { panic("boom") }, err: core.ErrPanic,
			log: []string{"start 0", "end 1", "start 1", "look 1"}},
		"forwards": {end: func(v *vault, s *vaultStack) core.Yield {
			return core.Handle((*vault).put).At(core.Self[vault](s)).Forward(s, awaits)
		}, err: core.ErrPanic,
			log: []string{"start 0", "end 1", "start 1", "look 1"}},
		"is stopped": {end: awaits, then: core.Address[vault].Stop, err: core.ErrStopped,
			log: []string{"start 0", "end 1"}},
		"begins anew": {end: awaits, then: func(a core.Address[vault]) { a.Restart(errThrown) }, err: core.ErrRestarted,
			log: []string{"start 0", "end 1", "start 1", "look 1"}},
		"begins anew, and is stopped": {end: awaits, err: core.ErrRestarted,
			then: func(a core.Address[vault]) { a.Restart(errThrown); a.Stop() },
			log:  []string{"start 0", "end 1"}},
		"returns, and is stopped": {end: func(_ *vault, s *vaultStack) core.Yield { return s.Return(1) },
			then: core.Address[vault].Stop,
			log:  []string{"start 0", "end 1"}},
		"drains": {end: awaits, then: core.Address[vault].Drain,
			log: []string{"start 0", "written 1", "end 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(10) {
				sim := housetest.New(t, seed, house.Config{Workers: 2, Logger: quiet,
					OffloadTime: func() time.Duration { return 10 * time.Millisecond }})
				_, other := cast(sim, 1)
				pool := newPool(t, sim, house.OffloadConfig{Name: "disk", Timeout: time.Millisecond})
				d := &deposits{pool: pool, other: other, serial: seed >= 5}
				a, err := core.SpawnWith(sim, func() *vault { return &vault{d} }, core.Props{Serial: d.serial})
				require.NoError(t, err)
				to := vaultPut.At(a)
				if c.asks {
					to = vaultBoth.At(a)
				}
				if c.soon {
					to = vaultAsks.At(core.Spawn(sim, func() *vaultAsker { return &vaultAsker{vaultPut.At(a)} }))
				}
				call := core.Begin(to, c.end)
				sim.Run(0)
				if c.then != nil {
					c.then(a)
				}
				look := core.Begin(vaultSees.At(a), struct{}{})
				sim.Run(15 * time.Millisecond) // it has run, and isn't home
				require.Equal(t, 1, d.written, "seed %d", seed)
				require.Equal(t, c.soon, call.Ready(), "seed %d: its asker hears of it when it is home", seed)
				require.NotContains(t, d.log, "look 1", "seed %d", seed)
				require.NotContains(t, d.log, "end 1", "seed %d", seed)
				sim.Run(15 * time.Millisecond)
				n, err := call.Get()
				require.ErrorIs(t, err, c.err, "seed %d", seed)
				if c.err == nil {
					require.Equal(t, 1, n, "seed %d", seed)
				}
				look.Get()
				require.Equal(t, c.log, d.log, "seed %d", seed)
			}
		})
	}
}

// TestOffloadKeptQueues: it is called when its turn has come, though its asker's deadline, which
// the actor shares, has passed by then.
func TestOffloadKeptQueues(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 2, OffloadTime: func() time.Duration { return 10 * time.Millisecond }})
	d := &deposits{pool: newPool(t, sim, house.OffloadConfig{Name: "disk", Goroutines: 1, Queue: 1})}
	_, a := cast(sim, 0)
	busy := core.Begin(a, offloadsTo(d.pool, 1, double))
	sim.Run(0)
	v := core.Spawn(sim, func() *vault { return &vault{d} })
	call := core.Begin(vaultAsks.At(core.Spawn(sim, func() *vaultAsker { return &vaultAsker{vaultPut.At(v)} })), awaits)
	sim.Run(time.Second)
	require.Equal(t, []string{"start 0", "written 1"}, d.log)
	_, err := busy.Get()
	require.NoError(t, err)
	_, err = call.Get()
	require.ErrorIs(t, err, core.ErrTimeout)
}

// TestOffloadKeptRefused: a pool that is full says so at once, and nothing is kept.
func TestOffloadKeptRefused(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 2, OffloadTime: func() time.Duration { return time.Millisecond }})
	d := &deposits{pool: newPool(t, sim, house.OffloadConfig{Name: "disk", Goroutines: 1, Queue: -1})}
	_, a := cast(sim, 0)
	busy := core.Begin(a, offloadsTo(d.pool, 1, double))
	sim.Run(0)
	v := core.Spawn(sim, func() *vault { return &vault{d} })
	_, err := housetest.Ask(t, sim, vaultPut.At(v), awaits)
	require.Equal(t, core.ErrOverloaded, err)
	v.Stop()
	sim.Run(time.Second)
	require.Equal(t, []string{"start 0", "written 0", "end 0"}, d.log)
	_, err = busy.Get()
	require.NoError(t, err)
}

// TestOffloadKeptRefusedIsGivenUp: who was refused is given up like others, and gives up what
// it asks.
func TestOffloadKeptRefusedIsGivenUp(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 2, OffloadTime: func() time.Duration { return time.Hour }, AskTimeout: 2 * time.Hour})
	_, other := cast(sim, 1)
	d := &deposits{pool: newPool(t, sim, house.OffloadConfig{Name: "disk", Goroutines: 1, Queue: -1}), other: other}
	_, a := cast(sim, 0)
	busy := core.Begin(a, offloadsTo(d.pool, 1, double))
	sim.Run(0)
	v := vaultPut.At(core.Spawn(sim, func() *vault { return &vault{d} }))
	var f core.Future[int]
	asker, asks := core.SpawnFunc(sim, func(s *core.AskStack[vaultEnd, int]) core.Yield {
		v.Ask(s, &f, s.Req)
		return core.Suspend(s, func(_ *core.Function[vaultEnd, int], s *core.AskStack[vaultEnd, int]) core.Yield { return s.Return(1) })
	})
	call := core.Begin(asks, func(v *vault, s *vaultStack) core.Yield {
		v.other.Ask(s, &s.other, answerIn(time.Minute, 1))
		return core.Suspend(s, (*vault).answer)
	})
	sim.Run(time.Second)
	asker.Stop()
	sim.Run(time.Second)
	_, err := call.Get()
	require.ErrorIs(t, err, core.ErrStopped)
	wantStat(t, "stacks that were given up", stats(sim).Cancelled, 2)
	sim.Run(2 * time.Hour)
	require.Equal(t, []string{"start 0"}, d.log, "it went on")
	_, _ = busy.Get()
}

// archive keeps a function for each ask, and may have a child that takes its time to end.
type archive struct{ *deposits }

type archiveStack struct {
	core.AskStack[bool, int] // whether it has a child, and no function
	f                        core.Future[int]
}

func (v *archive) do(s *archiveStack) core.Yield {
	if s.Req {
		_, err := core.SpawnWith(core.Under(s), func() *lingers { return &lingers{deposits: v.deposits} }, core.Props{})
		if err != nil {
			return s.Throw(err)
		}
		return s.Return(0)
	}
	core.OffloadKept(s, &s.f, nil, v.deposits, deposit)
	return core.Suspend(s, func(_ *archive, s *archiveStack) core.Yield { return s.Return(1) })
}

func (v *archive) PostStop(s *core.HookStack) core.Yield { v.note("end"); return s.Return() }

var archiveDo = core.Handle((*archive).do)

// lingers waits in its end.
type lingers struct {
	*deposits
	tick core.Future[core.Tick]
}

func (l *lingers) PostStop(s *core.HookStack) core.Yield {
	core.Timer.Ask(s, &l.tick, 30*time.Millisecond)
	return core.Suspend(s, func(l *lingers, s *core.HookStack) core.Yield { l.note("child"); return s.Return() })
}

// TestEndWaitsForAllThatIsKept: for each function, and for children, whichever ends last.
func TestEndWaitsForAllThatIsKept(t *testing.T) {
	for name, end := range map[string]func(core.Address[archive]){
		"stop": core.Address[archive].Stop, "restart": func(a core.Address[archive]) { a.Restart(errors.New("anew")) },
	} {
		for _, c := range []struct {
			children, functions int
			log                 []string
		}{
			{0, 3, []string{"end 3"}},
			{1, 1, []string{"child 1", "end 1"}},
			{1, 3, []string{"child 2", "end 3"}},
		} {
			t.Run(fmt.Sprint(name, c.children, c.functions), func(t *testing.T) {
				took := 0
				sim := housetest.New(t, 1, house.Config{Workers: 1, Logger: quiet, OffloadTime: func() time.Duration {
					took++
					// called after 16 and 32, and home much later
					return time.Duration((took+1)/2) * 16 * time.Millisecond
				}})
				d := &deposits{}
				a := core.Spawn(sim, func() *archive { return &archive{d} })
				for range c.children {
					_, err := housetest.Ask(t, sim, archiveDo.At(a), true)
					require.NoError(t, err)
				}
				var calls []core.Pending[int]
				for range c.functions {
					calls = append(calls, core.Begin(archiveDo.At(a), false))
				}
				sim.Run(0)
				end(a)
				sim.Run(150 * time.Millisecond)
				require.Equal(t, c.log, d.log)
				for _, call := range calls {
					_, err := call.Get()
					require.Error(t, err)
				}
			})
		}
	}
}

// TestShutdownEndsKeptFunctions: a shutdown whose context ends names what has kept it waiting,
// and ends the context of that.
func TestShutdownEndsKeptFunctions(t *testing.T) {
	type asks struct {
		core.AskStack[*gate, int]
		f core.Future[int]
	}
	holds := core.Handle(func(_ *player, s *asks) core.Yield {
		core.OffloadKept(s, &s.f, nil, s.Req, hold)
		return core.Suspend(s, func(_ *player, s *asks) core.Yield { return s.Return(1) })
	})
	sys, err := house.New(house.Config{Workers: 1, Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	g := newGate()
	call := core.Begin(holds.At(core.Spawn(sys, func() *player { return &player{} })), g)
	<-g.entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = sys.Shutdown(ctx)
	require.ErrorIs(t, err, house.ErrAbandoned)
	require.ErrorContains(t, err, "actors didn't stop: #1")
	_, err = call.Get()
	require.ErrorIs(t, err, core.ErrStopped)
}

// TestShutdownBlamesOnlyWhoDoesNotListen: the contexts of all pools end before the functions of
// one are waited for.
func TestShutdownBlamesOnlyWhoDoesNotListen(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 1, Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	entered, open := make(chan struct{}), make(chan struct{})
	works := map[string]func(context.Context, int) (int, error){
		"a deaf": func(context.Context, int) (int, error) { entered <- struct{}{}; <-open; return 0, nil },
		"b good": func(ctx context.Context, _ int) (int, error) { entered <- struct{}{}; <-ctx.Done(); return 0, nil },
		"c deaf": func(context.Context, int) (int, error) { entered <- struct{}{}; <-open; return 0, nil },
		"d good": func(ctx context.Context, _ int) (int, error) { entered <- struct{}{}; <-ctx.Done(); return 0, nil },
	}
	for name, work := range works {
		pool := newPool(t, sys, house.OffloadConfig{Name: name})
		f := new(core.Future[int])
		_, keeps := core.SpawnNoticeFunc(sys, func(s *core.NoticeStack[int]) core.Yield {
			core.OffloadKept(s, f, pool, 0, work)
			return s.Return()
		})
		require.NoError(t, core.Notice(keeps, 0))
	}
	for range works {
		<-entered
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = sys.Shutdown(ctx)
	require.ErrorIs(t, err, house.ErrAbandoned)
	require.ErrorContains(t, err, `"a deaf"`)
	require.ErrorContains(t, err, `"c deaf"`)
	require.NotContains(t, err.Error(), "good")
	close(open)
}

// safe keeps a function in its start hook.
type safe struct {
	*deposits
	f core.Future[int]
}

func (o *safe) PreStart(s *core.HookStack) core.Yield {
	core.OffloadKept(s, &o.f, nil, o.deposits, deposit)
	return core.Suspend(s, func(o *safe, s *core.HookStack) core.Yield { o.note("start"); return s.Return() })
}

func (o *safe) PostStop(s *core.HookStack) core.Yield { o.note("end"); return s.Return() }

// TestStopWhileStartKeepsAFunction: the end hook runs once, when that has returned, and the start
// isn't resumed.
func TestStopWhileStartKeepsAFunction(t *testing.T) {
	for seed := range uint64(5) {
		sim := housetest.New(t, seed, house.Config{Workers: 2, OffloadTime: func() time.Duration { return 10 * time.Millisecond }})
		d := &deposits{}
		a := core.Spawn(sim, func() *safe { return &safe{deposits: d} })
		sim.Run(0)
		a.Stop()
		sim.Run(15 * time.Millisecond)
		require.Empty(t, d.log, "seed %d", seed)
		sim.Run(15 * time.Millisecond)
		require.Equal(t, []string{"end 1"}, d.log, "seed %d", seed)
	}
}

// again asks anew, in the same future, what was too late.
type (
	asksAgain      struct{ first, second core.Port[vaultEnd, int] }
	asksAgainStack struct {
		core.AskStack[struct{}, int]
		f core.Future[int]
	}
)

func (a *asksAgain) ask(s *asksAgainStack) core.Yield {
	a.first.AskWithin(s, &s.f, awaits, time.Millisecond)
	return core.Suspend(s, (*asksAgain).again)
}

func (a *asksAgain) again(s *asksAgainStack) core.Yield {
	if _, err := s.f.Get(); err != core.ErrTimeout {
		return s.Throw(fmt.Errorf("it got %w", err))
	}
	a.second.Ask(s, &s.f, awaits)
	return core.Suspend(s, (*asksAgain).done)
}

func (a *asksAgain) done(s *asksAgainStack) core.Yield {
	n, err := s.f.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

// TestLateAnswerAfterAnotherAsk: the answer to an ask that has timed out isn't taken for that
// of the next in the same future.
func TestLateAnswerAfterAnotherAsk(t *testing.T) {
	for seed := range uint64(8) {
		at := 0
		sim := housetest.New(t, seed, house.Config{Workers: 2, OffloadTime: func() time.Duration {
			at++
			// the late answer comes while the other is waited for
			return time.Duration(at) * 10 * time.Millisecond
		}})
		vaults := [2]core.Port[vaultEnd, int]{}
		for i := range vaults {
			pool := newPool(t, sim, house.OffloadConfig{Name: fmt.Sprint("disk", i)})
			d := &deposits{pool: pool, written: 10 * i} // the answer is one more
			vaults[i] = vaultPut.At(core.Spawn(sim.Workers()[int(seed)>>i&1], func() *vault { return &vault{d} }))
		}
		asks := core.Handle((*asksAgain).ask).At(core.Spawn(sim.Workers()[seed>>2&1], func() *asksAgain { return &asksAgain{vaults[0], vaults[1]} }))
		call := core.Begin(asks, struct{}{})
		sim.Run(time.Second)
		n, err := call.Get()
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, 11, n, "seed %d", seed)
		wantStat(t, "late answers", stats(sim).Late, 1)
	}
}
