package channel_test

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// bridge opens connections of its own, and notes what comes by them. A line "echo x" it answers.
type bridge struct {
	far    channel.ConnectConfig[bridge, request, reply]
	peers  []channel.Peer[reply]
	lines  []string
	closed []channel.Peer[reply]
}

// bridgeCodec is lineCodec, but an empty result is written as nothing.
type bridgeCodec struct{ lineCodec }

func (c *bridgeCodec) Encode(out []byte, rep *reply, err error) []byte {
	if err == nil && len(rep.text) == 0 {
		return out
	}
	return c.lineCodec.Encode(out, rep, err)
}

type (
	bridgeOpen struct {
		core.AskStack[struct{}, int]
		conn core.Future[channel.Peer[reply]]
	}
	bridgeLine struct {
		core.ChannelStack[request, reply]
	}
	bridgeClosed struct {
		core.NoticeStack[channel.Closed[reply]]
	}
	bridgeSay struct{ core.AskStack[string, error] }
	bridgeGot struct {
		core.AskStack[struct{}, string]
	}
)

var (
	bridgeOpens  = core.Handle((*bridge).open)
	bridgeServes = channel.Handle((*bridge).line).WithClosed(bridgeHears)
	bridgeHears  = core.HandleNotice((*bridge).close)
	bridgeSays   = core.Handle((*bridge).say)
	bridgeTells  = core.Handle((*bridge).tell)
)

func (b *bridge) open(s *bridgeOpen) core.Yield {
	channel.Connect(s, &s.conn, &b.far)
	return core.Suspend(s, (*bridge).opened)
}

func (b *bridge) opened(s *bridgeOpen) core.Yield {
	peer, err := s.conn.Get()
	if err != nil {
		return s.Throw(err)
	}
	b.peers = append(b.peers, peer)
	return s.Return(len(b.peers))
}

func (b *bridge) line(s *bridgeLine) core.Yield {
	b.lines = append(b.lines, string(s.Req.line))
	if text, is := strings.CutPrefix(string(s.Req.line), "echo "); is {
		return s.Return(reply{[]byte(text)})
	}
	return s.Return(reply{})
}

func (b *bridge) close(s *bridgeClosed) core.Yield {
	b.closed = append(b.closed, s.Msg.Peer)
	return s.Return()
}

// say sends a text to the last peer; "close" closes it, "panic" panics.
func (b *bridge) say(s *bridgeSay) core.Yield {
	last := b.peers[len(b.peers)-1]
	switch s.Req {
	case "close":
		return s.Return(last.Close(s))
	case "panic":
		panic("as told")
	}
	return s.Return(last.Notice(s, reply{[]byte(s.Req)}))
}

// tell returns what has come, and how many connections have closed.
func (b *bridge) tell(s *bridgeGot) core.Yield {
	return s.Return(strings.Join(b.lines, ",") + strings.Repeat("!", len(b.closed)))
}

// crossing is a simulation with a bridge and a scripted server.
type crossing struct {
	*housetest.Sim
	t    *testing.T
	door *housetest.Door
	at   core.Address[bridge]
}

func newCrossing(t *testing.T, set func(*channel.ConnectConfig[bridge, request, reply])) *crossing {
	return newCrossingWithin(t, time.Hour, set)
}

// newCrossingWithin is newCrossing where asks end in limit.
func newCrossingWithin(t *testing.T, limit time.Duration, set func(*channel.ConnectConfig[bridge, request, reply])) *crossing {
	c := &crossing{Sim: housetest.New(t, 1, house.Config{Workers: 2, AskTimeout: limit, Logger: slog.New(slog.DiscardHandler)}), t: t}
	c.door = c.Net.Serve(doorAddress)
	var err error
	c.at, err = core.SpawnWith(c.Workers()[1], func() *bridge {
		b := &bridge{}
		b.far.Network, b.far.Address, b.far.Handler = "tcp", doorAddress, bridgeServes
		b.far.Codec = func() channel.Codec[request, reply] { return &bridgeCodec{} }
		if set != nil {
			set(&b.far)
		}
		return b
	}, core.Props{Mailbox: core.Bounded(2, core.Reject)})
	require.NoError(t, err)
	return c
}

// TestClosedIsHeard: by a notice that a full mailbox takes, too.
func TestClosedIsHeard(t *testing.T) {
	c := newCrossing(t, nil)
	for range 10 {
		_, err := c.open()
		require.NoError(t, err)
	}
	c.at.Pause()
	c.Run(time.Millisecond)
	for peer := c.door.Accept(); peer != nil; peer = c.door.Accept() {
		peer.Reset()
	}
	c.Run(time.Second)
	c.at.Continue()
	require.Equal(t, "!!!!!!!!!!", c.got())
}

func (c *crossing) open() (int, error) {
	return housetest.Ask(c.t, c.Sim, bridgeOpens.At(c.at), struct{}{})
}

func (c *crossing) say(text string) error {
	c.t.Helper()
	err, failed := housetest.Ask(c.t, c.Sim, bridgeSays.At(c.at), text)
	require.NoError(c.t, failed)
	c.Run(time.Millisecond)
	return err
}

func (c *crossing) got() string {
	c.t.Helper()
	c.Run(time.Millisecond)
	got, err := housetest.Ask(c.t, c.Sim, bridgeTells.At(c.at), struct{}{})
	require.NoError(c.t, err)
	return got
}

func TestConnect(t *testing.T) {
	c := newCrossing(t, nil)
	n, err := c.open()
	require.NoError(t, err)
	require.Equal(t, 1, n)
	far := c.door.Accept()
	require.NoError(t, c.say("hello"))
	require.Equal(t, "hello\n", string(far.Read(100)))
	far.Write([]byte("a\necho b\nc\n"))
	require.Equal(t, "a,echo b,c", c.got())
	require.Equal(t, "b\n", string(far.Read(100)))

	_, err = c.open()
	require.NoError(t, err)
	second := c.door.Accept()
	second.Write([]byte("d\n"))
	second.End()
	require.Equal(t, "a,echo b,c,d!", c.got(), "the other end closes")
	second.Close()
	require.Equal(t, core.ErrStopped, c.say("nobody"))

	_, err = c.open()
	require.NoError(t, err)
	third := c.door.Accept()
	require.NoError(t, c.say("last"))
	require.NoError(t, c.say("close"))
	require.Equal(t, "last\n", string(third.Read(100)))
	require.Equal(t, io.EOF, third.Err())
	third.Close()
	require.Equal(t, "a,echo b,c,d!!", c.got(), "this end closes")

	require.NoError(t, far.Err())
	require.NoError(t, c.at.StopWait(t.Context()))
	c.Run(3 * time.Second)
	require.Error(t, far.Err(), "it ends with its actor")
	require.Zero(t, c.Net.Open())
}

func TestConnectFails(t *testing.T) {
	c := newCrossing(t, func(c *channel.ConnectConfig[bridge, request, reply]) { c.ConnsMax = 1 })
	_, err := c.open()
	require.NoError(t, err)
	_, err = c.open()
	require.ErrorIs(t, err, core.ErrOverloaded)
	c.door.Accept().Reset()
	require.Equal(t, "!", c.got())
	c.Net.Unreachable = map[string]bool{doorAddress: true}
	for range 2 { // it isn't counted
		_, err = c.open()
		require.ErrorIs(t, err, syscall.ENETUNREACH)
	}
	c.Net.Unreachable = nil
	c.door.Close()
	_, err = c.open()
	require.True(t, isRefused(err), err)
	c.Net.Silent = map[string]bool{doorAddress: true}
	began := c.Now
	_, err = c.open()
	require.ErrorIs(t, err, core.ErrTimeout)
	require.InDelta(t, 5, time.Duration(c.Now-began).Seconds(), 0.1)
	require.Equal(t, "!", c.got(), "what never stood isn't told of")
	require.Zero(t, c.Net.Open())

	for want, set := range map[string]func(*channel.ConnectConfig[bridge, request, reply]){
		"Config.Codec is missing": func(c *channel.ConnectConfig[bridge, request, reply]) { c.Codec = nil },
		"Connect without ConnectConfig.Handler": func(c *channel.ConnectConfig[bridge, request, reply]) {
			c.Handler = channel.Handler[bridge, request, reply]{}
		},
		"isn't written in numbers": func(c *channel.ConnectConfig[bridge, request, reply]) { c.Address = "localhost:80" },
	} {
		_, err = newCrossing(t, set).open()
		require.ErrorContains(t, err, want)
	}
}

// TestConnectThenIdle: how long a connect may take says nothing of how long silence may.
func TestConnectThenIdle(t *testing.T) {
	c := newCrossing(t, func(c *channel.ConnectConfig[bridge, request, reply]) {
		c.IdleTimeout, c.ConnectTimeout = time.Second, time.Minute
	})
	c.Net.Faults.Delay = 10 * time.Millisecond
	_, err := c.open()
	require.NoError(t, err)
	far := c.door.Accept()
	c.Run(5 * time.Second)
	require.Error(t, far.Err())
	far.Close()

	c.Net.Silent = map[string]bool{doorAddress: true}
	began := c.Now
	_, err = c.open()
	require.ErrorIs(t, err, core.ErrTimeout)
	require.InDelta(t, 60, time.Duration(c.Now-began).Seconds(), 0.1)
	c.Run(time.Second)
	require.Zero(t, c.Net.Open())
}

// eager connects before it may, and notes the panic.
type eager struct {
	far  channel.ConnectConfig[bridge, request, reply]
	conn core.Future[channel.Peer[reply]]
	said *any
}

func (e *eager) PreStart(s *core.HookStack) core.Yield {
	defer func() { *e.said = recover() }()
	channel.Connect(s, &e.conn, &e.far)
	return core.Suspend(s, (*eager).started)
}

func (e *eager) started(s *core.HookStack) core.Yield { return s.Return() }

// TestConnectInAHook: it would wait for what waits for the hook.
func TestConnectInAHook(t *testing.T) {
	c := newCrossing(t, nil)
	var said any
	core.Spawn(c.Workers()[0], func() *eager {
		e := &eager{said: &said}
		e.far.Network, e.far.Address, e.far.Handler, e.far.Codec = "tcp", doorAddress, bridgeServes, newLineCodec
		return e
	})
	c.Run(time.Millisecond)
	require.Contains(t, said, "Connect in a hook")
}

// thief connects as if it were a bridge.
type thief struct {
	far *channel.ConnectConfig[bridge, request, reply]
}

type thiefStack struct {
	core.AskStack[struct{}, int]
	conn core.Future[channel.Peer[reply]]
}

var thiefOpens = core.Handle((*thief).open)

func (v *thief) open(s *thiefStack) core.Yield {
	channel.Connect(s, &s.conn, v.far)
	return core.Suspend(s, (*thief).opened)
}

func (v *thief) opened(s *thiefStack) core.Yield { return s.Return(0) }

// TestConnectOfAnother: a handler gets an actor of its own type, and connections stay on one
// worker.
func TestConnectOfAnother(t *testing.T) {
	var far *channel.ConnectConfig[bridge, request, reply]
	c := newCrossing(t, func(c *channel.ConnectConfig[bridge, request, reply]) { far = c })
	const want = "the ConnectConfig of another actor"
	_, err := housetest.Ask(t, c.Sim, thiefOpens.At(core.Spawn(c.Workers()[0], func() *thief { return &thief{far} })), struct{}{})
	require.ErrorContains(t, err, want)
	_, err = c.open()
	require.NoError(t, err)
	other := core.Spawn(c.Workers()[0], func() *bridge { return &bridge{far: *far} })
	_, err = housetest.Ask(t, c.Sim, bridgeOpens.At(other), struct{}{})
	require.ErrorContains(t, err, want)
}

// TestConnectTooLate: a connection is closed that stands when its asker waits no more.
func TestConnectTooLate(t *testing.T) {
	c := newCrossingWithin(t, 100*time.Millisecond, nil)
	c.Net.Faults.Delay = time.Second
	_, err := c.open()
	require.ErrorIs(t, err, core.ErrTimeout)
	c.Run(4 * time.Second)
	c.door.Accept().Close()
	c.Run(4 * time.Second)
	require.Zero(t, c.Net.Open())
	c.Net.Faults.Delay = 0
	require.Equal(t, "", c.got(), "nor is it told of")
}

// TestConnectGivenUp: a connection whose asker has gone meanwhile is closed.
func TestConnectGivenUp(t *testing.T) {
	c := newCrossing(t, nil)
	c.Net.Faults.Delay = time.Second
	asked := core.Begin(bridgeOpens.At(c.at), struct{}{})
	for range 10 {
		c.Turn()
	}
	c.at.Restart(errMark)
	c.Run(10 * time.Second)
	_, err := asked.Get()
	require.ErrorIs(t, err, core.ErrRestarted)
	require.Zero(t, c.Net.Open())
}

// TestConnectionsEndWithARestart: the new instance knows nothing of them.
func TestConnectionsEndWithARestart(t *testing.T) {
	c := newCrossing(t, nil)
	_, err := c.open()
	require.NoError(t, err)
	far := c.door.Accept()
	_, failed := housetest.Ask(t, c.Sim, bridgeSays.At(c.at), "panic")
	require.True(t, errors.Is(failed, core.ErrPanic))
	far.Write([]byte("to the old one\n"))
	require.Equal(t, "", c.got())
	require.Error(t, far.Err())
	_, err = c.open()
	require.NoError(t, err)
	c.door.Accept().Write([]byte("x\n"))
	require.Equal(t, "x", c.got())
}

// TestSilentConnectionsEndWithARestart: nothing comes that could wake them.
func TestSilentConnectionsEndWithARestart(t *testing.T) {
	c := newCrossing(t, func(c *channel.ConnectConfig[bridge, request, reply]) { c.IdleTimeout = -1 })
	_, err := c.open()
	require.NoError(t, err)
	far := c.door.Accept()
	c.at.Restart(errMark)
	c.Run(time.Millisecond)
	require.Error(t, far.Err())
	far.Close()
	require.Zero(t, c.Net.Open())
}

// TestLookup: a step looks a host up.
func TestLookup(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, nil)
	at := core.Spawn(w.system, func() *finder { return &finder{} })
	all, err := core.Ask(w.ctx, finderAsk.At(at), "localhost:80")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, address := range all {
		require.Contains(t, []string{"127.0.0.1:80", "[::1]:80"}, address)
	}
	_, err = core.Ask(w.ctx, finderAsk.At(at), "localhost")
	require.ErrorContains(t, err, "missing port")
}

type finder struct{}

type findStack struct {
	core.AskStack[string, []string]
	found core.Future[[]string]
}

var finderAsk = core.Handle((*finder).ask)

func (f *finder) ask(s *findStack) core.Yield {
	channel.Lookup(s, &s.found, "tcp", s.Req)
	return core.Suspend(s, (*finder).got)
}

func (f *finder) got(s *findStack) core.Yield {
	all, err := s.found.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(all)
}
