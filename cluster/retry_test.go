package cluster

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack"
)

// till is an actor that is paid, and notes how often for each number.
type till struct {
	paid  map[int]int
	order []int
	trace core.Trace // of the last payment
	due   int64      // the same, ns
}

type (
	payment struct {
		N     int
		Takes time.Duration
		Pad   []byte
	}
	receipt struct {
		N   int
		Pad []byte
	}
	payStep struct {
		core.AskStack[payment, receipt]
		tick core.Future[core.Tick]
	}
)

func (l *till) pay(s *payStep) core.Yield {
	l.paid[s.Req.N]++
	l.order = append(l.order, s.Req.N)
	l.trace, l.due = core.TraceOf(s), stack.Of(s).Deadline()
	core.Timer.Ask(s, &s.tick, s.Req.Takes)
	return core.Suspend(s, (*till).payed)
}

func (l *till) payed(s *payStep) core.Yield {
	switch s.Req.N {
	case -1:
		return s.Throw(errNoCredit)
	case -2:
		return s.Throw(core.ErrMailboxFull)
	case -3:
		panic("planted")
	}
	return s.Return(receipt{s.Req.N, s.Req.Pad})
}

var (
	errNoCredit = RegisterError("cluster.test.no-credit", errors.New("no credit"))

	pays = core.NewMethod[payment, receipt]("cluster.test.pay")
	_    = core.Handle((*till).pay).As(pays)
)

// shop is a world with a till there, to which here has a port.
type shop struct {
	world
	till *till
	at   core.Address[till]
	port core.Port[payment, receipt]
}

func newShop(t *testing.T, p core.Props) *shop {
	w := &shop{world: newWorldOf(t, 1, session.Timing{Patience: time.Second}, house.Config{AskTimeout: time.Minute}), till: &till{paid: map[int]int{}}}
	w.sim.Net.Faults = housetest.Faults{}
	w.here.config.Compress, w.there.config.Compress = true, true
	p.Name = "till"
	var err error
	w.at, err = core.SpawnWith(w.other, func() *till { return w.till }, p)
	require.NoError(t, err)
	w.port = AtLeastOnce(w.here, pays, Where{"there", "/user/till"})
	return w
}

// breaks has the two not reach each other for longer than their patience.
func (w *shop) breaks() {
	address := w.there.Addr()
	w.sim.Net.Unreachable = map[string]bool{address: true}
	w.sim.Net.Break(address)
	w.sim.Run(5 * time.Second)
	w.sim.Net.Unreachable = nil
}

// requireIdle requires that nothing is away any more, on either side.
func (w *shop) requireIdle(t *testing.T) {
	t.Helper()
	for _, p := range w.here.self.retries.all {
		require.Nil(t, p)
	}
	r := w.retrier()
	require.True(t, r.busy == 0 && len(r.queue) == 0 && !r.full, "%d are busy, %d are queued", r.busy, len(r.queue))
	for _, s := range w.there.self.links["here"].tracks[0].serving {
		require.Nil(t, s)
	}
	require.Zero(t, w.here.self.links["there"].tracks[0].busy)
}

// retrier is that of the port.
func (w *shop) retrier() *retrier {
	as := reflect.TypeOf(core.ReferenceTo(reflect.TypeOf(w.port)))
	to, _, _ := reflect.ValueOf(&w.port).Convert(as).Interface().(core.Reference).Referent()
	return to.Remote().(*retrier)
}

// TestAnsweredAgain: an ask has run while its session was given up: its answer, whatever it is,
// comes by the next one.
func TestAnsweredAgain(t *testing.T) {
	for name, of := range map[string]payment{
		"short": {N: 1}, "long": {N: 1, Pad: make([]byte, 200<<10)}, "refused": {N: -1}, "full": {N: -2}, "failed": {N: -3},
		"slow": {N: 1, Takes: 10 * time.Second}, // it runs when it comes again
	} {
		t.Run(name, func(t *testing.T) {
			w := newShop(t, core.Props{})
			of.Takes += time.Second
			p := core.Begin(w.port, of)
			w.sim.Run(500 * time.Millisecond)
			require.Equal(t, map[int]int{of.N: 1}, w.till.paid)
			w.breaks()
			w.sim.Run(20 * time.Second)
			require.True(t, p.Ready())
			err := p.GetInto(func(r *receipt) { require.Equal(t, receipt{of.N, of.Pad}, *r) })
			require.ErrorIs(t, err, map[int]error{1: nil, -1: errNoCredit, -2: core.ErrMailboxFull, -3: core.ErrPanic}[of.N])
			require.Equal(t, map[int]int{of.N: 1}, w.till.paid)
			w.requireIdle(t)
		})
	}
}

// TestRetriesKeepTheirOrder where nothing overtakes them: whatever slots they had.
func TestRetriesKeepTheirOrder(t *testing.T) {
	w := newShop(t, core.Props{})
	var all []core.Pending[receipt]
	for n := range 8 { // so the last slot is the next
		all = append(all, core.Begin(w.port, payment{N: n, Takes: time.Duration(n+1) * time.Millisecond}))
	}
	w.sim.Run(time.Second)
	w.till.order = nil
	var want []int
	for n := range 8 {
		all = append(all, core.Begin(w.port, payment{N: n}))
		want = append(want, n)
	}
	for w.here.self.links["there"].tracks[0].busy < 8 {
		w.sim.Turn()
	}
	w.breaks()
	require.Empty(t, w.till.order)
	w.sim.Run(20 * time.Second)
	require.Equal(t, want, w.till.order)
	for i := range all {
		_, err := all[i].Get()
		require.NoError(t, err)
	}
}

// bear spawns an actor and returns its address.
func (l *till) bear(s *core.AskStack[struct{}, core.AnyAddress]) core.Yield {
	return s.Return(core.Spawn(core.Self[till](s).Beside(), func() *counter { return &counter{} }).Any())
}

var (
	bears = core.NewMethod[struct{}, core.AnyAddress]("cluster.test.bear")
	_     = core.Handle((*till).bear).As(bears)
)

// TestKeyedAddresses: a reply tells of an actor that is new to the session. What comes behind it
// doesn't wait for the other end's next frame.
func TestKeyedAddresses(t *testing.T) {
	w := newShop(t, core.Props{})
	port := AtLeastOnce(w.here, bears, Where{"there", "/user/till"})
	for i := range 10 {
		began := w.sim.Now
		at, err := housetest.Ask(t, w.sim, port, struct{}{})
		require.NoError(t, err)
		rep, err := housetest.Ask(t, w.sim, add.At(at), addReq{i})
		require.NoError(t, err)
		require.Equal(t, 2*i, rep.Sum)
		require.Less(t, w.sim.Now-began, int64(100*time.Millisecond))
	}
}

// TestForgottenReply: the answer isn't known any more when the ask comes again.
func TestForgottenReply(t *testing.T) {
	w := newShop(t, core.Props{})
	p := core.Begin(w.port, payment{N: 1, Takes: time.Second})
	w.sim.Run(500 * time.Millisecond)
	w.sim.Net.Unreachable = map[string]bool{w.there.Addr(): true}
	w.sim.Net.Break(w.there.Addr())
	w.sim.Run(5 * time.Second)
	require.True(t, w.there.self.replies.forget())
	w.sim.Net.Unreachable = nil
	w.sim.Run(20 * time.Second)
	_, err := p.Get()
	require.Equal(t, core.ErrLost, err)
	require.Equal(t, map[int]int{1: 1}, w.till.paid)
}

// TestKeyedRefusals: what is refused hasn't run, and isn't kept.
func TestKeyedRefusals(t *testing.T) {
	w := newShop(t, core.Props{Mailbox: core.Bounded(1, core.Reject)})
	ask := func(to Where) error {
		_, err := housetest.Ask(t, w.sim, AtLeastOnce(w.here, pays, to), payment{})
		return err
	}
	require.Equal(t, ErrNoNode, ask(Where{"nowhere", "/user/till"}))
	require.Equal(t, core.ErrNotFound, ask(Where{"there", "/user/nobody"}))
	require.Equal(t, core.ErrNotFound, ask(Where{"there", "no path"}))
	_, err := core.SpawnWith(w.other, func() *counter { return &counter{} }, core.Props{Name: "counter"})
	require.NoError(t, err)
	require.Equal(t, core.ErrNoHandler, ask(Where{"there", "/user/counter"}))
	require.Zero(t, w.there.self.replies.keys)
	require.Empty(t, w.till.paid)

	to := w.at
	to.Pause()
	w.sim.Run(time.Second)
	first := core.Begin(w.port, payment{N: 1})
	w.sim.Run(time.Second)
	_, err = housetest.Ask(t, w.sim, w.port, payment{N: 2})
	require.Equal(t, core.ErrMailboxFull, err)
	to.Continue()
	w.sim.Run(time.Second)
	_, err = first.Get()
	require.NoError(t, err)
	require.Equal(t, map[int]int{1: 1}, w.till.paid)
	require.Equal(t, 1, w.there.self.replies.keys)
	w.requireIdle(t)
}

// TestKeyedAsksThatCannotBe: whatever a node says in a keyed ask, it is refused, and runs nothing.
func TestKeyedAsksThatCannotBe(t *testing.T) {
	w := newShop(t, core.Props{})
	_, err := housetest.Ask(t, w.sim, w.port, payment{N: 1})
	require.NoError(t, err)
	told := &counter{}
	_, err = core.SpawnWith(w.other, func() *counter { return told }, core.Props{Name: "counter"})
	require.NoError(t, err)
	hub := keyedMethod.At(w.here.self.links["there"].control().hub().any())
	for _, test := range []struct {
		ask  keyedAsk
		want error
	}{
		{keyedAsk{Method: "nobody's"}, core.ErrNoHandler},
		{keyedAsk{Method: "test.counter.tell"}, core.ErrNoHandler}, // of notices
		{keyedAsk{Method: "test.counter.add"}, core.ErrNoHandler},  // of other actors
		{keyedAsk{Method: "test.counter.tell", Path: "/user/counter"}, core.ErrNoHandler},
		{keyedAsk{Method: "cluster.test.pay", Life: 2}, core.ErrLost},
	} {
		if test.ask.Key = 9; test.ask.Path == "" {
			test.ask.Path = "/user/till"
		}
		_, err := housetest.Ask(t, w.sim, hub, test.ask)
		require.Equal(t, test.want, err, "%+v", test.ask)
	}
	require.Equal(t, 1, w.there.self.replies.keys)
	require.Equal(t, map[int]int{1: 1}, w.till.paid)
	require.Empty(t, told.told)
	w.requireIdle(t)
}

// TestKeyTwiceInASession: of two that wait for one key the later one is refused. It runs once.
func TestKeyTwiceInASession(t *testing.T) {
	w := newShop(t, core.Props{})
	_, err := housetest.Ask(t, w.sim, w.port, payment{N: 1})
	require.NoError(t, err)
	k := w.here.self.links["there"].control()
	text := wire.Append(k.methods.byName["cluster.test.pay"].request, nil, &payment{N: 2, Takes: time.Second})
	ask := keyedAsk{Key: 9, Path: "/user/till", Method: "cluster.test.pay", Request: text}
	first, second := core.Begin(keyedMethod.At(k.hub().any()), ask), core.Begin(keyedMethod.At(k.hub().any()), ask)
	w.sim.Run(5 * time.Second)
	_, err = first.Get()
	require.NoError(t, err)
	_, err = second.Get()
	require.Equal(t, core.ErrLost, err)
	require.Equal(t, map[int]int{1: 1, 2: 1}, w.till.paid)
	w.requireIdle(t)
}

// TestKeyedGivenUp: who asks waits no more, as its time is over, or as it has ended. Nothing is
// left of that, and the ask runs to its end.
func TestKeyedGivenUp(t *testing.T) {
	w := newShop(t, core.Props{})
	a := core.Spawn(w.sim, func() *payer { return &payer{to: w.port} })
	for i, p := range []paying{{2 * time.Second, 100 * time.Millisecond}, {time.Hour, time.Hour}} {
		require.NoError(t, core.Notice(payerPays.At(a), p))
		w.sim.Run(500 * time.Millisecond)
		if p.within == time.Hour {
			a.Stop()
		}
		w.sim.Run(5 * time.Second)
		require.Equal(t, map[int]int{0: i + 1}, w.till.paid)
		require.Equal(t, i+1, w.there.self.replies.keys)
		w.requireIdle(t)
	}
}

// payer is an actor that pays.
type payer struct {
	to  core.Port[payment, receipt]
	pad int
}

type paying struct{ takes, within time.Duration }

type payerStep struct {
	core.NoticeStack[paying]
	got core.Future[receipt]
}

func (p *payer) pays(s *payerStep) core.Yield {
	p.to.AskWithin(s, &s.got, payment{Takes: s.Msg.takes, Pad: make([]byte, p.pad)}, s.Msg.within)
	return core.Suspend(s, (*payer).payed)
}

func (p *payer) payed(s *payerStep) core.Yield { return s.Return() }

var payerPays = core.HandleNotice((*payer).pays)

// TestKeyedDeadline: the call there doesn't wait for longer than its asker does.
func TestKeyedDeadline(t *testing.T) {
	w := newShop(t, core.Props{})
	w.sim.Run(time.Minute) // so that times since the start are others than from now on
	by := core.Spawn(w.sim, func() *payer { return &payer{to: w.port} })
	began := w.sim.Now
	require.NoError(t, core.Notice(payerPays.At(by), paying{time.Millisecond, 10 * time.Second}))
	w.sim.Run(time.Second)
	require.NotZero(t, w.till.due)
	require.LessOrEqual(t, time.Duration(w.till.due-int64(began)), 10*time.Second+time.Millisecond)
}

// TestKeyedContext: what an ask brings along crosses with it.
func TestKeyedContext(t *testing.T) {
	w := newShop(t, core.Props{})
	trace, err := core.ParseTrace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	require.NoError(t, err)
	_, err = core.Ask(core.WithTrace(t.Context(), trace), w.port, payment{N: 1})
	require.NoError(t, err)
	require.Equal(t, trace, w.till.trace)
}

// TestRetriesEndWithTheNode: what is away when the node ends, or is asked then, ends.
func TestRetriesEndWithTheNode(t *testing.T) {
	w := newShop(t, core.Props{})
	p := core.Begin(w.port, payment{N: 1, Takes: time.Hour})
	w.sim.Run(time.Second)
	require.NoError(t, w.here.Close(context.Background()))
	w.sim.Run(time.Second)
	require.True(t, p.Ready())
	_, err := p.Get()
	require.ErrorIs(t, err, ErrUnreachable)
	require.ErrorIs(t, err, core.ErrLost)
	_, err = housetest.Ask(t, w.sim, w.port, payment{N: 2})
	require.ErrorIs(t, err, core.ErrNotSent)
	require.Equal(t, map[int]int{1: 1}, w.till.paid)
}

// TestManyRetries: more asks than the link has room for, and then more than may be away at once,
// while nobody can be reached. Those that are away wait; further ones are refused as by any full
// mailbox.
func TestManyRetries(t *testing.T) {
	w := newShop(t, core.Props{Mailbox: core.Unbounded()})
	w.sim.Net.Unreachable = map[string]bool{w.there.Addr(): true}
	var all []core.Pending[receipt]
	for n := range 2 * retriesMax {
		all = append(all, core.Begin(w.port, payment{N: n, Pad: make([]byte, 100)}))
		if n%500 == 0 {
			w.sim.Run(time.Millisecond)
			require.LessOrEqual(t, len(w.here.self.retries.all), retriesMax)
		}
	}
	w.sim.Run(5 * time.Second)
	w.sim.Net.Unreachable = nil
	w.sim.Run(30 * time.Second)
	paid := 0
	for n, p := range all {
		require.True(t, p.Ready())
		if _, err := p.Get(); err == nil {
			paid++
		} else {
			require.Equal(t, core.ErrMailboxFull, err)
			require.Greater(t, n, retriesMax, "it was away")
		}
	}
	require.GreaterOrEqual(t, paid, retriesMax)
	require.Len(t, w.till.paid, paid)
	w.requireIdle(t)
}

// TestRetriesOfManyPorts: what a hub tells itself in one turn isn't bounded as a mailbox is.
func TestRetriesOfManyPorts(t *testing.T) {
	w := newShop(t, core.Props{})
	var all []core.Pending[receipt]
	for range 3 {
		port := AtLeastOnce(w.here, pays, Where{"there", "/user/till"})
		for range 600 { // fewer than house.Config.MailboxMax is by default
			all = append(all, core.Begin(port, payment{N: len(all)}))
		}
	}
	w.sim.Run(20 * time.Second)
	for i := range all {
		require.True(t, all[i].Ready())
		rep, err := all[i].Get()
		require.NoError(t, err)
		require.Equal(t, i, rep.N)
	}
	require.Len(t, w.till.paid, len(all))
}
