package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// mourner watches an actor of another node.
type mourner struct{ told chan core.Terminated }

func (m *mourner) watch(s *core.AskStack[core.Address[counter], struct{}]) core.Yield {
	core.Watch(s, s.Req, mournerHears)
	return s.Return(struct{}{})
}

func (m *mourner) hears(s *core.NoticeStack[core.Terminated]) core.Yield {
	m.told <- s.Msg
	return s.Return()
}

var (
	mournerWatch = core.Handle((*mourner).watch)
	mournerHears = core.HandleNotice((*mourner).hears)
)

// pair is two nodes, a counter at one of them, and its address at the other.
type pair struct {
	here, there place
	counter     *counter
	at          core.Address[counter]
	far         core.AnyAddress
}

func newPair(t *testing.T, p core.Props, timing session.Timing) pair {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0", Timing: timing})
	return pairBy(t, there, there.node.Addr(), p, timing)
}

// newCutPair is newPair with a cutter between the nodes.
func newCutPair(t *testing.T, timing session.Timing) (pair, *cutter) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0", Timing: timing})
	between := newCutter(t, there.node.Addr(), 0, 0)
	return pairBy(t, there, between.listener.Addr().String(), core.Props{}, timing), between
}

// pairBy makes a pair of a place, which is reached by an address.
func pairBy(t *testing.T, there place, address string, p core.Props, timing session.Timing) pair {
	c := &counter{}
	p.Name = "counter"
	at, err := core.SpawnWith(there.sys.Workers()[1], func() *counter { return c }, p)
	require.NoError(t, err)
	here := newPlace(t, Config{Name: "here", Peers: map[string]string{"there": address}, Timing: timing})
	far, err := here.node.Lookup(t.Context(), "there", "/user/counter")
	require.NoError(t, err)
	return pair{here, there, c, at, far}
}

func (p *pair) watch(t *testing.T) chan core.Terminated {
	m := &mourner{make(chan core.Terminated, 10)}
	typed, ok := core.As[counter](p.far)
	require.True(t, ok)
	_, err := core.Ask(t.Context(), mournerWatch.At(core.Spawn(p.here.sys.Workers()[1], func() *mourner { return m })), typed)
	require.NoError(t, err)
	return m.told
}

func within[T any](t *testing.T, c chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing has come")
	}
	return v
}

// TestStopElsewhere: an actor of another node is stopped, who watches it hears of it once, and
// calls of it end as those of any that has stopped.
func TestStopElsewhere(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	told := p.watch(t)
	typed, _ := core.As[counter](p.far)
	require.NoError(t, typed.StopWait(t.Context()))
	require.Equal(t, core.Terminated{Actor: p.far}, within(t, told))
	_, err := core.Ask(t.Context(), add.At(p.far), addReq{1})
	require.Equal(t, core.ErrStopped, err)
	require.Equal(t, core.ErrStopped, core.Notice(tells.At(p.far), item{N: 1}))
	require.Empty(t, told)
}

// TestHubIsNoUser: that an actor ends whose end another node waited for is no dead letter, though
// its own node has ended before.
func TestHubIsNoUser(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	p.watch(t)
	_, err := core.Ask(t.Context(), add.At(p.far), addReq{1}) // behind WATCH
	require.NoError(t, err)
	require.NoError(t, p.there.node.Close(t.Context()))
	require.NoError(t, p.at.StopWait(t.Context()))
	require.NoError(t, p.there.sys.Shutdown(t.Context()))
	require.Empty(t, p.there.sys.DeadLetters())
}

// TestPauseElsewhere: its mailbox fills while it begins no calls, and nothing is lost.
func TestPauseElsewhere(t *testing.T) {
	p := newPair(t, core.Props{Mailbox: core.Bounded(4, core.Reject)}, session.Timing{})
	typed, _ := core.As[counter](p.far)
	typed.Pause()
	n := 0
	for full := 0; full < 100; {
		if err := core.Notice(tells.At(p.far), item{N: n}); err == nil {
			n++
		} else {
			require.Equal(t, core.ErrMailboxFull, err)
			full++
			time.Sleep(time.Millisecond)
		}
	}
	require.Less(t, n, session.Window/8) // bytes of each frame, at least
	typed.Continue()
	require.Eventually(t, func() bool {
		rep, err := core.Ask(t.Context(), count.At(p.far), struct{}{})
		return err == nil && rep.Sum == n
	}, 10*time.Second, 5*time.Millisecond)
	requireInOrder(t, n, p.counter)
}

// TestGoodbye: who ends says so, and nobody waits for it any longer. It is the same whether the
// node ends or its system.
func TestGoodbye(t *testing.T) {
	for _, end := range []func(p *pair) error{
		func(p *pair) error { return p.there.node.Close(context.Background()) },
		func(p *pair) error { return p.there.sys.Shutdown(context.Background()) },
	} {
		p := newPair(t, core.Props{}, session.Timing{})
		told := p.watch(t)
		away := core.Begin(add.At(p.far), addReq{-1})
		_, err := core.Ask(t.Context(), add.At(p.far), addReq{1})
		require.NoError(t, err)
		began := time.Now()
		require.NoError(t, end(&p))
		_, err = away.Get()
		gone := within(t, told)
		if !errors.Is(err, core.ErrStopped) { // the actor has stopped before the node
			require.ErrorIs(t, err, ErrNodeLost)
			require.ErrorIs(t, gone.Lost, ErrNodeLost)
		}
		require.Less(t, time.Since(began), 5*time.Second, "patience is 30 s")
		require.Empty(t, told)
	}
}

// TestUnreachable: the other node is away for longer than the link's patience.
func TestUnreachable(t *testing.T) {
	p, between := newCutPair(t, session.Timing{Patience: 3e8, BackoffMin: 1e7})
	told := p.watch(t)
	away := core.Begin(add.At(p.far), addReq{-1})
	rep, err := core.Ask(t.Context(), add.At(p.far), addReq{1})
	require.NoError(t, err)
	require.Equal(t, 2, rep.Sum)
	between.close()
	_, err = away.Get()
	require.ErrorIs(t, err, ErrUnreachable)
	require.ErrorIs(t, err, core.ErrLost)
	gone := within(t, told)
	require.Equal(t, p.far, gone.Actor)
	require.ErrorIs(t, gone.Lost, ErrUnreachable)
	_, err = core.Ask(t.Context(), add.At(p.far), addReq{1})
	require.ErrorIs(t, err, ErrUnreachable)
	_, err = p.here.node.Lookup(t.Context(), "there", "/user/counter")
	require.ErrorIs(t, err, ErrUnreachable)
	require.ErrorIs(t, err, core.ErrNotSent)
	require.Empty(t, told)
}

var errOfUser = RegisterError("test.errOfUser", errors.New("out of stock"))

// TestErrorsCross: errors.Is finds what they were.
func TestErrorsCross(t *testing.T) {
	ofRuntime := byCode[1:]
	for _, err := range append(slices.Clone(ofRuntime), errOfUser, fmt.Errorf("of item 7: %w", errOfUser),
		fmt.Errorf("of item 7: %w", core.ErrBreakerOpen), errors.New("another")) {
		got := errorOf(failOf(err))
		require.Equal(t, err.Error(), got.Error())
		require.Equal(t, slices.Contains(ofRuntime, err) || err == errOfUser, got == err, "%v: who compares needn't unwrap", err)
		for _, is := range append(slices.Clone(ofRuntime), errOfUser) {
			require.Equal(t, errors.Is(err, is), errors.Is(got, is), "%v is %v", err, is)
		}
	}
}

// TestErrorsThatAreNotKnown have their text alone; of a code that isn't known the name counts.
func TestErrorsThatAreNotKnown(t *testing.T) {
	for _, test := range []struct {
		fail frame.Fail
		like error
	}{
		{frame.Fail{}, nil},
		{frame.Fail{Name: []byte("nobody's")}, nil},
		{frame.Fail{Code: uint64(len(byCode))}, nil},
		{frame.Fail{Code: 1 << 63, Name: []byte("nobody's")}, nil},
		{frame.Fail{Code: uint64(len(byCode)), Name: []byte("test.errOfUser")}, errOfUser},
		{frame.Fail{Code: uint64(len(byCode) - 1)}, core.ErrAlreadyExists},
	} {
		test.fail.Text = []byte("as it was there")
		require.Equal(t, &RemoteError{"as it was there", test.like}, errorOf(&test.fail), "%v", &test.fail)
	}
}

// TestErrorsWithoutAName, of too long a name, or of that of another one, aren't registered.
func TestErrorsWithoutAName(t *testing.T) {
	bad := errors.New("bad")
	for name, err := range map[string]error{"": bad, strings.Repeat("n", frame.NameMax+1): bad, "test.nil": nil, "test.errOfUser": bad} {
		require.Panics(t, func() { RegisterError(name, err) }, name)
	}
	require.NotErrorIs(t, errorOf(failOf(bad)), errOfUser)
	require.ErrorIs(t, errorOf(failOf(errOfLongName)), errOfLongName)
}

var errOfLongName = RegisterError(strings.Repeat("n", frame.NameMax), errors.New("of a long name"))

// TestPanicsCross: a panic is one there, whatever was its value.
func TestPanicsCross(t *testing.T) {
	for _, value := range []error{core.ErrTimeout, core.ErrOverloaded, errOfUser} {
		got := errorOf(failOf(&core.PanicError{Value: value}))
		require.ErrorIs(t, got, core.ErrPanic)
		require.NotErrorIs(t, got, value)

		f := failOf(&core.PanicError{Value: value})
		require.Empty(t, f.Name, "who writes it would choose that")
	}
	p := &core.PanicError{Actor: "/user/shop", Step: "sell", Value: "of this node alone", Trace: []byte("the same")}
	require.Equal(t, core.ErrPanic.Error()+": /user/shop in sell", errorOf(failOf(fmt.Errorf("said by: %w", p))).Error())
}

// TestErrorsOfManyWords cross as far as a frame takes them.
func TestErrorsOfManyWords(t *testing.T) {
	text := strings.Repeat("word ", frame.TextMax)
	require.Equal(t, text[:frame.TextMax], errorOf(failOf(errors.New(text))).Error())
}

// TestWatchAlone: who only watches hears of a node that is lost.
func TestWatchAlone(t *testing.T) {
	p, between := newCutPair(t, session.Timing{Patience: 3e8, BackoffMin: 1e7})
	told := p.watch(t)
	time.Sleep(50 * time.Millisecond) // WATCH is read
	between.close()
	require.ErrorIs(t, within(t, told).Lost, ErrUnreachable)
}

// nobody is an error that can't be asked what it says.
type nobody struct{ text string }

func (n *nobody) Error() string { return n.text }

func (c *counter) throw(s *core.AskStack[int, int]) core.Yield {
	var err *nobody
	return s.Throw(err)
}

var (
	throw = core.NewMethod[int, int]("test.counter.throw")
	_     = core.Handle((*counter).throw).As(throw)
)

// TestErrorThatPanics is an answer all the same.
func TestErrorThatPanics(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	_, err := core.Ask(t.Context(), throw.At(p.far), 1)
	require.ErrorIs(t, err, core.ErrPanic)
}

// TestLongAskGivenUp while its pieces are written: CANCEL comes behind them.
func TestLongAskGivenUp(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, err := core.Ask(ctx, echo.At(p.far), make([]byte, 8_000_000))
		cancel()
		require.ErrorIs(t, err, core.ErrTimeout)
	}
	rep, err := core.Ask(t.Context(), add.At(p.far), addReq{4})
	require.NoError(t, err)
	require.Equal(t, 8, rep.Sum)
	p.here.node.look(t, func(h *hub) { require.EqualValues(t, 1, h.links["there"].Session()) })
}

type hangStep struct {
	core.AskStack[[]byte, addRep]
	tick core.Future[core.Tick]
}

// hang answers in an hour.
func (c *counter) hang(s *hangStep) core.Yield {
	core.Timer.Ask(s, &s.tick, time.Hour)
	return core.Suspend(s, (*counter).hung)
}

func (c *counter) hung(s *hangStep) core.Yield { return s.Return(addRep{}) }

var (
	hang = core.NewMethod[[]byte, addRep]("test.counter.hang")
	_    = core.Handle((*counter).hang).As(hang)
)

// TestLongAskCancelled while its pieces are written ends at the other node, too.
func TestLongAskCancelled(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	_, err := core.Ask(ctx, hang.At(p.far), make([]byte, 8_000_000))
	require.ErrorIs(t, err, core.ErrCancelled)
	require.Eventually(t, func() (is bool) {
		p.here.node.look(t, func(h *hub) { is = h.links["there"].tracks[0].busy == 0 })
		return is
	}, 10*time.Second, time.Millisecond)
}

// TestG15NewLife: the other node ends and begins anew. What was of the life before is lost, and
// never reaches the new one.
func TestG15NewLife(t *testing.T) {
	p, between := newCutPair(t, session.Timing{BackoffMin: 1e7, BackoffMax: 1e7})
	told := p.watch(t)
	away := core.Begin(add.At(p.far), addReq{-1})
	rep, err := core.Ask(t.Context(), add.At(p.far), addReq{1})
	require.NoError(t, err)
	require.Equal(t, 2, rep.Sum)
	address, way := p.there.node.Addr(), between.listener.Addr().String()
	between.close() // so no goodbye passes
	require.NoError(t, p.there.node.Close(t.Context()))
	for i := range 10 {
		require.NoError(t, core.Notice(tells.At(p.far), item{N: i}))
	}
	again, err := Start(t.Context(), p.there.sys, Config{Name: "there", Listen: address, Plaintext: true})
	require.NoError(t, err)
	between.open(t, way)
	_, err = away.Get()
	require.ErrorIs(t, err, ErrNodeLost)
	require.ErrorIs(t, err, core.ErrLost)
	require.ErrorIs(t, within(t, told).Lost, ErrNodeLost)
	require.ErrorIs(t, core.Notice(tells.At(p.far), item{}), ErrNodeLost)

	far, err := p.here.node.Lookup(t.Context(), "there", "/user/counter")
	require.NoError(t, err)
	require.NotEqual(t, p.far, far)
	rep, err = core.Ask(t.Context(), count.At(far), struct{}{})
	require.NoError(t, err)
	require.Zero(t, rep.Sum, "a notice of the life before")
	require.Empty(t, told)
	require.EqualValues(t, 10, p.here.letters())
	require.NoError(t, again.Close(t.Context()))
}

// TestTwoDial: both nodes have the other's address, and begin at the same time. They have one link.
func TestTwoDial(t *testing.T) {
	for range 20 {
		a := newPlace(t, Config{Name: "a", Listen: "127.0.0.1:0"})
		b := newPlace(t, Config{Name: "b", Listen: "127.0.0.1:0", Peers: map[string]string{"a": a.node.Addr()}})
		a.node.look(t, func(h *hub) {
			h.links["b"] = newLink(h, "b", b.node.Addr())
			h.links["b"].begin()
		})
		var all sync.WaitGroup
		for _, side := range [][2]place{{a, b}, {b, a}} {
			_, err := core.SpawnWith(side[0].sys, func() *counter { return &counter{} }, core.Props{Name: "counter"})
			require.NoError(t, err)
			all.Go(func() {
				far, err := side[0].node.Lookup(t.Context(), side[1].node.Name(), "/user/counter")
				for err != nil && errors.Is(err, core.ErrNotFound) {
					far, err = side[0].node.Lookup(t.Context(), side[1].node.Name(), "/user/counter")
				}
				if err != nil {
					t.Error(err)
					return
				}
				for n := range 100 {
					if rep, err := core.Ask(t.Context(), add.At(far), addReq{n}); err != nil || rep.Sum != 2*n {
						t.Error(rep, err)
					}
				}
			})
		}
		all.Wait()
		for _, p := range []place{a, b} {
			p.node.look(t, func(h *hub) {
				for _, l := range h.links {
					require.LessOrEqual(t, len(l.conns), 2)
					require.Equal(t, session.Up, l.State(0))
				}
			})
		}
	}
}

// TestCloseFlushes: what has left a node that closes has come, and is no dead letter.
func TestCloseFlushes(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	for i := range 100 {
		require.NoError(t, core.Notice(tells.At(p.far), item{N: i}))
	}
	_, err := core.Ask(t.Context(), count.At(p.far), struct{}{})
	require.NoError(t, err)
	require.NoError(t, p.here.node.Close(t.Context()))
	requireInOrder(t, 100, p.counter)
	require.Zero(t, p.here.letters())
	require.NoError(t, p.here.node.Close(t.Context()), "again")
}

// named counts names of errors: each is registered once.
var named atomic.Int64

// TestErrorOfTwoNames crosses by the first of them, wherever the map has them.
func TestErrorOfTwoNames(t *testing.T) {
	for range 10 {
		name := fmt.Sprint("test.twice.", named.Add(1))
		b := RegisterError(name+".b", errors.New("b"))
		a := RegisterError(name+".a", errors.New("a"))
		require.Equal(t, name+".a", string(describe(errors.Join(b, a)).Name))
	}
}

// TestRestartElsewhere: an actor of another node begins anew.
func TestRestartElsewhere(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 3)
	typed, _ := core.As[counter](far)
	typed.Restart(errors.New("anew"))
	rep, err := housetest.Ask(t, c.sim, count.At(far), struct{}{})
	require.NoError(t, err)
	require.Zero(t, rep.Sum)
}

func (m *mourner) unwatch(s *core.AskStack[core.Address[counter], struct{}]) core.Yield {
	core.Unwatch(s, s.Req, mournerHears)
	return s.Return(struct{}{})
}

var mournerUnwatch = core.Handle((*mourner).unwatch)

// TestUnwatchElsewhere: who waits no more for the end of an actor of another node hears of none,
// and neither node keeps anything of it.
func TestUnwatchElsewhere(t *testing.T) {
	c := newCalm(t)
	far, _ := core.As[counter](c.find(c.here, "there"))
	m := &mourner{make(chan core.Terminated, 10)}
	at := core.Spawn(c.sim, func() *mourner { return m })
	for range 2 {
		_, err := housetest.Ask(t, c.sim, mournerWatch.At(at), far)
		require.NoError(t, err)
		c.sim.Run(time.Second)
		require.Equal(t, 1, c.track().awaited)
		require.Len(t, c.there.self.watched, 1)
		_, err = housetest.Ask(t, c.sim, mournerUnwatch.At(at), far)
		require.NoError(t, err)
		c.sim.Run(time.Second)
		require.Zero(t, c.track().awaited)
		require.False(t, c.track().wanted)
		require.Empty(t, c.there.self.watched)
		require.False(t, c.there.self.links["here"].tracks[0].wanted)
	}
	far.Stop()
	c.sim.Run(time.Second)
	require.Empty(t, m.told)
}

func (c *counter) shy(s *core.AskStack[int, int]) core.Yield { return s.Return(s.Req) }

func (c *counter) hint(s *core.NoticeStack[int]) core.Yield { return s.Return() }

var (
	counterShy  = core.Handle((*counter).shy)
	counterHint = core.HandleNotice((*counter).hint)
)

// TestHandlersOfNoMethod: other nodes don't know them, so asks by them fail, and notices are dead
// letters.
func TestHandlersOfNoMethod(t *testing.T) {
	c := newCalm(t)
	far, _ := core.As[counter](c.find(c.here, "there"))
	_, err := housetest.Ask(t, c.sim, counterShy.At(far), 1)
	require.Equal(t, core.ErrNoHandler, err)
	require.NoError(t, core.Notice(counterHint.At(far), 1))
	c.sim.Run(time.Second)
	require.Equal(t, 1, letters(c.here.system))
	require.Equal(t, core.LostRefused, c.here.system.(interface{ DeadLetters() []house.LetterCount }).DeadLetters()[0].Reason)
	require.Zero(t, letters(c.there.system))
}

// TestLongAskOfWhoStops: whoever asks has stopped before all pieces of the ask were written. It
// ends at the other node, too, once they were.
func TestLongAskOfWhoStops(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	a := core.Spawn(c.sim, func() *impatient { return &impatient{to: hang.At(far)} })
	require.NoError(t, core.Notice(impatientAsks.At(a), 2_000_000))
	for k := c.track(); len(k.parcels.out) == 0 || k.parcels.out[0].at == 0; {
		c.sim.Turn()
	}
	a.Stop()
	for !a.House().Gone() {
		c.sim.Turn()
	}
	require.NotEmpty(t, c.track().parcels.out)
	c.sim.Run(5 * time.Second)
	require.Zero(t, c.track().busy)
	c.there.self.served.requireFree(t)
}

// impatient is an actor that asks.
type impatient struct {
	to core.Port[[]byte, addRep]
}

type impatientStep struct {
	core.NoticeStack[int]
	got core.Future[addRep]
}

func (a *impatient) asks(s *impatientStep) core.Yield {
	a.to.Ask(s, &s.got, make([]byte, s.Msg))
	return core.Suspend(s, (*impatient).asked)
}

func (a *impatient) asked(s *impatientStep) core.Yield { return s.Return() }

var impatientAsks = core.HandleNotice((*impatient).asks)

// TestErrorByVersion: an error that has a code and a name crosses by its name, and by its code to a
// node of the version before.
func TestErrorByVersion(t *testing.T) {
	c := newCalm(t)
	_, err := core.SpawnWith(c.there.system, func() *ledger { return &ledger{} }, core.Props{Name: "ledger"})
	require.NoError(t, err)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/ledger"})
	require.NoError(t, err)
	k := c.there.self.links["here"].tracks[0]
	for k.speaks = 2; k.speaks > 0; k.speaks-- {
		_, err = housetest.Ask(t, c.sim, add.At(far), addReq{-1})
		require.EqualError(t, err, errNegative.Error())
		require.ErrorIs(t, err, core.ErrNotFound)
		require.Equal(t, k.speaks == 2, errors.Is(err, errNegative))
	}
	k.speaks = 2
}

// TestErrorOfTwoCodes crosses by the first of them.
func TestErrorOfTwoCodes(t *testing.T) {
	got := errorOf(failOf(errors.Join(core.ErrTimeout, core.ErrStopped)))
	require.ErrorIs(t, got, core.ErrStopped)
	require.NotErrorIs(t, got, core.ErrTimeout)
}
