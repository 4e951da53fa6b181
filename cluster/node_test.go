package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// counter is an actor that others ask over a link.
type counter struct {
	slow time.Duration // how long it handles nothing after each notice
	mu   sync.Mutex
	told []int
}

// numbers returns those of the items that it was told. Any goroutine may call it.
func (c *counter) numbers() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.told)
}

// requireInOrder requires that a counter was told of n items, from 0, each once.
func requireInOrder(t *testing.T, n int, c *counter) {
	t.Helper()
	told := c.numbers()
	require.Len(t, told, n)
	for i, got := range told {
		require.Equal(t, i, got)
	}
}

// item is a notice: its number, and bytes that must arrive as they are.
type item struct {
	N   int
	Pad []byte
}

// padded returns an item with so many bytes.
func padded(n, size int) item {
	p := make([]byte, size)
	for i := range p {
		p[i] = byte(n + i)
	}
	return item{n, p}
}

// number returns the item's number, if it has arrived as it was.
func (m *item) number() int {
	for i, b := range m.Pad {
		if b != byte(m.N+i) {
			panic("other bytes")
		}
	}
	return m.N
}

type itemStep struct {
	core.NoticeStack[item]
	tick core.Future[core.Tick]
}

type (
	addReq  struct{ N int }
	addRep  struct{ Sum int }
	addStep struct {
		core.AskStack[addReq, addRep]
		tick core.Future[core.Tick]
	}
)

func (c *counter) add(s *addStep) core.Yield {
	if s.Req.N >= 0 {
		return s.Return(addRep{2 * s.Req.N})
	}
	core.Timer.Ask(s, &s.tick, time.Duration(-s.Req.N)*time.Hour)
	return core.Suspend(s, (*counter).late)
}

func (c *counter) late(s *addStep) core.Yield { return s.Return(addRep{}) }

func (c *counter) tell(s *itemStep) core.Yield {
	c.mu.Lock()
	c.told = append(c.told, s.Msg.number())
	c.mu.Unlock()
	if c.slow == 0 {
		return s.Return()
	}
	s.Barrier()
	core.Timer.Ask(s, &s.tick, c.slow)
	return core.Suspend(s, (*counter).rested)
}

func (c *counter) rested(s *itemStep) core.Yield { return s.Return() }

func (c *counter) count(s *core.AskStack[struct{}, addRep]) core.Yield {
	return s.Return(addRep{len(c.told)})
}

var (
	add   = core.NewMethod[addReq, addRep]("test.counter.add")
	count = core.NewMethod[struct{}, addRep]("test.counter.count")
	tells = core.NewNoticeMethod[item]("test.counter.tell")
	_     = core.Handle((*counter).add).As(add)
	_     = core.Handle((*counter).count).As(count)
	_     = core.HandleNotice((*counter).tell).As(tells)
)

type lookStep struct {
	core.AskStack[func(*hub), struct{}]
}

// look has a test see what the hub has.
func (h *hub) look(s *lookStep) core.Yield {
	s.Req(h)
	return s.Return(struct{}{})
}

var hubLook = core.Handle((*hub).look)

// look calls f in a turn of the hub.
func (n *Node) look(t testing.TB, f func(*hub)) {
	t.Helper()
	_, err := core.Ask(t.Context(), hubLook.At(n.hub), f)
	require.NoError(t, err)
}

// place is a node in this process.
type place struct {
	sys  *house.System
	node *Node
}

// letters returns how many notices of the place are dead letters.
func (p *place) letters() (n uint64) {
	for _, l := range p.sys.DeadLetters() {
		n += l.Count
	}
	return n
}

func newPlace(t testing.TB, c Config) place { return newPlaceIn(t, c, house.Config{}) }

// newPlaceIn is newPlace with some settings of the system.
func newPlaceIn(t testing.TB, c Config, of house.Config) place {
	// as many asks as some tests make take long on a machine that others use, too
	of.Workers, of.AskTimeout, of.Logger = 2, 2*time.Minute, cmp.Or(of.Logger, slog.New(slog.DiscardHandler))
	sys, err := house.New(of)
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, sys.Shutdown(context.Background())) })
	c.Plaintext = c.TLS == nil
	n, err := Start(t.Context(), sys, c)
	require.NoError(t, err)
	return place{sys, n}
}

func TestAskElsewhere(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	c := &counter{}
	_, err := core.SpawnWith(there.sys, func() *counter { return c }, core.Props{Name: "counter"})
	require.NoError(t, err)
	here := newPlace(t, Config{Name: "here", Peers: map[string]string{"there": there.node.Addr()}})
	far, err := here.node.Lookup(t.Context(), "there", "/user/counter")
	require.NoError(t, err)
	rep, err := core.Ask(t.Context(), add.At(far), addReq{21})
	require.NoError(t, err)
	require.Equal(t, 42, rep.Sum)
	for i := range 1000 {
		require.NoError(t, core.Notice(tells.At(far), item{N: i}))
	}
	rep, err = core.Ask(t.Context(), count.At(far), struct{}{})
	require.NoError(t, err)
	require.Equal(t, 1000, rep.Sum)
	requireInOrder(t, 1000, c)
	_, err = here.node.Lookup(t.Context(), "there", "/user/nobody")
	require.ErrorIs(t, err, core.ErrNotFound)
	_, err = here.node.Lookup(t.Context(), "nowhere", "/user/nobody")
	require.ErrorIs(t, err, ErrNoNode)
}

// TestTimingIsChecked: who resets before it pings would have no connection for long.
func TestTimingIsChecked(t *testing.T) {
	for timing, ok := range map[session.Timing]bool{
		{}: true, {Silence: 4 * time.Second}: false, {Reset: time.Second}: true, {Reset: 999 * time.Millisecond}: false, {Silence: -1}: false,
	} {
		_, err := Config{Name: "a", Plaintext: true, Timing: timing}.validate()
		require.Equal(t, ok, err == nil, "%+v", timing)
	}
}

// TestMethodsThatCannotCross: the error names the method, whichever of its types it is.
func TestMethodsThatCannotCross(t *testing.T) {
	number, channel := reflect.TypeFor[int](), reflect.TypeFor[chan int]()
	var fields []reflect.StructField
	for i := range frame.SchemaMax/1000 + 1 {
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("F", strings.Repeat("f", 1000), i), Type: number})
	}
	long := reflect.StructOf(fields)
	for _, test := range []struct {
		name           string
		request, reply reflect.Type
		says           string
	}{
		{"of.a.request", channel, number, "chan"},
		{"of.a.reply", number, channel, "chan"},
		{"of.a.notice", channel, nil, "chan"},
		{strings.Repeat("n", frame.NameMax+1), number, number, "too long"},
		{strings.Repeat("n", frame.NameMax), number, number, ""},
		{"of.a.long.request", long, number, "too long"},
		{"of.a.long.reply", number, long, "too long"},
	} {
		m := method{Contract: &core.Contract{Name: test.name, Request: test.request, Reply: test.reply}, number: 1}
		err := m.compile()
		require.Equal(t, test.says == "", err == nil, "%v", err)
		if err != nil {
			require.ErrorContains(t, err, test.says)
			require.ErrorContains(t, err, "method "+test.name)
		}
		require.Equal(t, err == nil, m.declare != nil)
	}
}

// TestNodesThatPoll: workers that poll the network find what has come, and end.
func TestNodesThatPoll(t *testing.T) {
	for _, of := range []house.Config{{BusyPoll: time.Millisecond}, {BusyPoll: time.Millisecond, LockThreads: true}} {
		there := newPlaceIn(t, Config{Name: "there", Listen: "127.0.0.1:0"}, of)
		_, err := core.SpawnWith(there.sys, func() *counter { return &counter{} }, core.Props{Name: "counter"})
		require.NoError(t, err)
		here := newPlaceIn(t, Config{Name: "here", Peers: map[string]string{"there": there.node.Addr()}}, of)
		far, err := here.node.Lookup(t.Context(), "there", "/user/counter")
		require.NoError(t, err)
		for n := range 300 {
			rep, err := core.Ask(t.Context(), add.At(far), addReq{n})
			require.NoError(t, err)
			require.Equal(t, 2*n, rep.Sum)
		}
		require.NotZero(t, here.sys.Stats().Spins)
	}
}

type blobStep struct{ core.AskStack[[]byte, []byte] }

// echo returns what it gets.
func (c *counter) echo(s *blobStep) core.Yield { return s.Return(s.Req) }

var (
	echo = core.NewMethod[[]byte, []byte]("test.counter.echo")
	_    = core.Handle((*counter).echo).As(echo)
)

// TestLongMessages: they cross in pieces, both ways, in the order of their sender, and others pass
// between.
func TestLongMessages(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	for _, size := range []int{0, 1, 60_000, 64 << 10, 200_000, 5_000_000} {
		want := padded(size, size).Pad
		ask := core.Begin(echo.At(p.far), want)
		require.NoError(t, core.Notice(tells.At(p.far), padded(size, size)))
		rep, err := core.Ask(t.Context(), count.At(p.far), struct{}{})
		require.NoError(t, err)
		require.Equal(t, size, p.counter.numbers()[rep.Sum-1])
		require.NoError(t, ask.GetInto(func(got *[]byte) {
			require.Equal(t, len(want), len(*got))
			require.True(t, string(want) == string(*got))
		}))
	}
	_, err := core.Ask(t.Context(), echo.At(p.far), make([]byte, frame.LongMax))
	require.ErrorIs(t, err, ErrTooLong)
}

// TestClientCloses: what a client has told before it closes comes.
func TestClientCloses(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	at := &counter{}
	_, err := core.SpawnWith(there.sys, func() *counter { return at }, core.Props{Name: "counter", Mailbox: core.Unbounded()})
	require.NoError(t, err)
	c, err := Dial(t.Context(), Config{Name: "tool", Peers: map[string]string{"there": there.node.Addr()}, Plaintext: true})
	require.NoError(t, err)
	far, err := c.Lookup(t.Context(), "there", "/user/counter")
	require.NoError(t, err)
	const n = 15
	for i := range n {
		require.NoError(t, core.Notice(tells.At(far), padded(i, 60_000)))
	}
	require.NoError(t, c.Close(t.Context()))
	require.Eventually(t, func() bool { return len(at.numbers()) == n }, 10*time.Second, time.Millisecond)
}

// TestClientIsClosed: also if there is no time for it, its system ends.
func TestClientIsClosed(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	c, err := Dial(t.Context(), Config{Name: "tool", Peers: map[string]string{"there": there.node.Addr()}, Plaintext: true})
	require.NoError(t, err)
	at := core.Spawn(c.System(), func() *counter { return &counter{} })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, c.Close(ended), context.Canceled)
	require.Eventually(t, func() bool {
		_, err := core.Ask(t.Context(), add.At(at.Any()), addReq{1})
		return errors.Is(err, core.ErrStopped)
	}, 10*time.Second, time.Millisecond)
}
