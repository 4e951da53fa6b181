package channel_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// dialClient opens a client of the world's server.
func (w *world) dialClient(set func(*clientConfig)) *asking {
	w.Helper()
	c := clientConfig{Network: w.network, Address: w.server.Addr(), Codec: newLineClient}
	if set != nil {
		set(&c)
	}
	client, err := channel.Dial(w.ctx, w.system, c)
	require.NoError(w, err)
	return client
}

// get asks as a guest and returns the text of the reply.
func get(ctx context.Context, port core.Port[request, reply], line string) (text string, err error) {
	err = core.AskInto(ctx, port, request{[]byte(line)}, func(rep *reply) { text = string(rep.text) })
	return text, err
}

func TestClient(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		client := w.dialClient(nil)
		require.EqualValues(t, p.workers, client.Stats().Conns)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 100 {
					line := fmt.Sprintf("x%d-%d", i, j)
					text, err := get(w.ctx, client.Port(), line)
					require.NoError(t, err)
					require.Equal(t, line, text)
				}
			})
		}
		all.Wait()
		_, err := get(w.ctx, client.Port(), "throw an error")
		require.Equal(t, errReply("an error"), err)
		text, err := get(w.ctx, client.Port(), "big 300000")
		require.NoError(t, err)
		require.Equal(t, big(300000), text)
		long := "x" + strings.Repeat("long", 100_000)
		text, err = get(w.ctx, client.Port(), long)
		require.NoError(t, err)
		require.Equal(t, long, text)

		late := core.Begin(client.Port(), request{[]byte("after 50 late")})
		closed := make(chan error)
		go func() { closed <- client.Close(w.ctx) }()
		require.NoError(t, late.GetInto(func(rep *reply) { require.Equal(t, "late", string(rep.text)) }))
		require.NoError(t, <-closed)
		_, err = get(w.ctx, client.Port(), "x")
		require.ErrorIs(t, err, core.ErrNoMember)
		require.Zero(t, client.Stats().Conns)
		w.await("the server's connections closed", func() bool { return w.server.Stats().Conns == 0 })
	})
}

// TestClientInSteps: actors ask in steps; a reply's bytes live as long as the stack that asked.
func TestClientInSteps(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 2}, nil)
	client := w.dialClient(nil)
	for _, on := range w.system.Workers() {
		at := callerAsk.At(core.Spawn(on, func() *caller { return &caller{client.Port()} }))
		for i := range 200 {
			line := fmt.Sprintf("x%d", i)
			require.NoError(t, core.AskInto(w.ctx, at, call{line: []byte(line)}, func(rep *reply) { require.Equal(t, line, string(rep.text)) }))
		}
	}
	forward := passerAsk.At(core.Spawn(w.system, func() *passer { return &passer{client.Port()} }))
	text, err := get(w.ctx, forward, "xyz")
	require.NoError(t, err)
	require.Equal(t, "xyz", text)
	for _, on := range w.system.Workers() {
		at := callerAsk.At(core.Spawn(on, func() *caller { return &caller{client.Port()} }))
		_, err := core.Ask(w.ctx, at, call{line: []byte("never"), limit: time.Millisecond})
		require.ErrorIs(t, err, core.ErrTimeout)
	}
	ctx, cancel := context.WithTimeout(w.ctx, time.Millisecond)
	defer cancel()
	require.ErrorIs(t, client.Close(ctx), core.ErrTimeout) // never is in flight
	require.NotZero(t, client.Stats().Lost)
}

func TestDialFails(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 2}, nil)
	_, err := channel.Dial(w.ctx, w.system, clientConfig{Network: "tcp", Address: "127.0.0.1:1", Codec: newLineClient})
	require.ErrorIs(t, err, core.ErrNotSent)
	require.True(t, isRefused(err), err)
	_, err = channel.Dial(w.ctx, w.system, clientConfig{Network: "sctp", Address: "127.0.0.1:1", Codec: newLineClient})
	require.ErrorContains(t, err, "unknown network")
	_, err = channel.Dial(w.ctx, w.system, clientConfig{Network: "tcp", Address: "127.0.0.1", Codec: newLineClient})
	require.ErrorContains(t, err, "missing port")
	_, err = channel.Dial(w.ctx, w.system, clientConfig{Network: "tcp", Address: "here:1", Codec: newLineClient,
		Resolve: func(context.Context, string) ([]netip.Addr, error) { return nil, errMark }})
	require.ErrorIs(t, err, errMark)
	_, err = channel.Dial(w.ctx, w.system, clientConfig{Network: "tcp", Address: "here:1", Codec: newLineClient,
		Resolve: func(context.Context, string) ([]netip.Addr, error) { return nil, nil }})
	require.ErrorContains(t, err, "no address")
	_, err = channel.Dial(w.ctx, w.system, clientConfig{Network: "tcp", Address: w.server.Addr(), Codec: func() channel.ClientCodec[request, reply] { panic("codec") }})
	require.ErrorIs(t, err, core.ErrPanic)

	idle, err := house.New(house.Config{Workers: 1})
	require.NoError(t, err)
	_, err = channel.Dial(w.ctx, idle, clientConfig{Network: "tcp", Address: w.server.Addr(), Codec: newLineClient})
	require.ErrorIs(t, err, core.ErrNotStarted)
	require.NoError(t, idle.Shutdown(w.ctx))
}

func TestClientConfig(t *testing.T) {
	for want, set := range map[string]func(*clientConfig){
		"ClientConfig.Codec is missing":                        func(c *clientConfig) { c.Codec = nil },
		"ClientConfig.Conns is negative":                       func(c *clientConfig) { c.Conns = -1 },
		"ClientConfig.InflightMax is negative":                 func(c *clientConfig) { c.InflightMax = -1 },
		"ClientConfig.PendingMax is negative":                  func(c *clientConfig) { c.PendingMax = -1 },
		"ClientConfig.ReadSize is above":                       func(c *clientConfig) { c.ReadSize = 1 << 20 },
		"ClientConfig.OutputMax is negative":                   func(c *clientConfig) { c.OutputMax = -1 },
		"ClientConfig.BackoffMin is above BackoffMax":          func(c *clientConfig) { c.BackoffMin = time.Hour },
		"channel: dial 127.0.0.1:1: stackhouse: request not s": func(*clientConfig) {},
	} {
		sim := housetest.New(t, 1, house.Config{})
		c := clientConfig{Network: "tcp", Address: "127.0.0.1:1", Codec: newLineClient}
		set(&c)
		_, err := channel.Dial(t.Context(), sim.System, c)
		require.ErrorContains(t, err, want)
	}
}

// play is a simulation with a scripted server, and a client of it.
type play struct {
	*housetest.Sim
	t      *testing.T
	door   *housetest.Door
	client *asking
	peers  []*housetest.Peer // accepted, in order
}

const doorAddress = "127.0.0.1:80"

func newPlay(t *testing.T, set func(*clientConfig)) *play {
	p := &play{Sim: housetest.New(t, 1, house.Config{Workers: 1, AskTimeout: time.Hour}), t: t}
	p.door = p.Net.Serve(doorAddress)
	c := clientConfig{Network: "tcp", Address: doorAddress, Codec: newLineClient}
	if set != nil {
		set(&c)
	}
	var err error
	p.client, err = channel.Dial(t.Context(), p.System, c)
	require.NoError(t, err)
	p.accept(1)
	return p
}

// accept lets time pass, and requires that n connections have come since the last call.
func (p *play) accept(n int) {
	p.t.Helper()
	p.Run(time.Millisecond)
	came := 0
	for peer := p.door.Accept(); peer != nil; peer = p.door.Accept() {
		p.peers = append(p.peers, peer)
		came++
	}
	require.Equal(p.t, n, came, "connections")
	p.Run(time.Millisecond)
}

// ask asks line, and lets time pass.
func (p *play) ask(line string) core.Pending[reply] {
	a := core.Begin(p.client.Port(), request{[]byte(line)})
	p.Run(time.Millisecond)
	return a
}

// gets requires what the server has got on its youngest connection, and has it send reply.
func (p *play) gets(want, reply string) {
	p.t.Helper()
	peer := p.peers[len(p.peers)-1]
	require.Equal(p.t, want, string(peer.Read(1<<20)))
	require.Equal(p.t, len(reply), peer.Write([]byte(reply)))
	p.Run(time.Millisecond)
}

// prove has the youngest connection bring a reply.
func (p *play) prove() {
	p.t.Helper()
	a := p.ask("prove")
	p.gets("prove\n", "x\n")
	p.is(a, "x")
}

// is requires how an ask has ended.
func (p *play) is(a core.Pending[reply], want string) {
	p.t.Helper()
	require.True(p.t, a.Ready(), "not answered")
	require.NoError(p.t, a.GetInto(func(rep *reply) { require.Equal(p.t, want, string(rep.text)) }))
}

func (p *play) fails(a core.Pending[reply], want ...error) {
	p.t.Helper()
	require.True(p.t, a.Ready(), "not answered")
	_, err := a.Get()
	for _, want := range want {
		require.ErrorIs(p.t, err, want)
	}
}

// TestClientLoses: what was written is lost with its connection, and what wasn't isn't sent.
func TestClientLoses(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.InflightMax = 2 })
	p.prove()
	p.Net.Faults.Window = 3
	lost, unsent, waits := p.ask("one"), p.ask("two"), p.ask("three")
	require.Equal(t, "one", string(p.peers[0].Read(10)))
	p.Run(time.Millisecond) // the socket takes \ntw
	p.Net.Faults.Window = 0
	p.peers[0].Reset()
	p.Run(time.Second)
	p.fails(lost, core.ErrLost)
	p.fails(unsent, core.ErrLost)
	p.accept(1)
	p.gets("three\n", "x\n")
	p.is(waits, "x")

	p.Net.Faults.Window = 3
	lost, unsent = p.ask("one"), p.ask("two")
	p.peers[1].Reset()
	p.Run(time.Second)
	p.fails(lost, core.ErrLost)
	p.fails(unsent, core.ErrNotSent)
	stats := p.client.Stats()
	require.EqualValues(t, 3, stats.Lost)
	require.EqualValues(t, 1, stats.NotSent)
}

// TestClientTombstones: a request that was given up stays in its place, and its reply is dropped.
func TestClientTombstones(t *testing.T) {
	p := newPlay(t, nil)
	at := callerAsk.At(core.Spawn(p.System, func() *caller { return &caller{p.client.Port()} }))
	late := core.Begin(at, call{line: []byte("late"), limit: time.Millisecond})
	p.Run(5 * time.Millisecond)
	p.fails(late, core.ErrTimeout)
	next := p.ask("next")
	p.gets("late\nnext\n", "a\nb\n")
	p.is(next, "b")
}

// TestClientGivenUpWhileWaiting: what was given up before it could be written isn't.
func TestClientGivenUpWhileWaiting(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.InflightMax = 1 })
	at := callerAsk.At(core.Spawn(p.System, func() *caller { return &caller{p.client.Port()} }))
	first := p.ask("first")
	late := core.Begin(at, call{line: []byte("late"), limit: time.Millisecond})
	p.Run(5 * time.Millisecond)
	p.fails(late, core.ErrTimeout)
	next := p.ask("next")
	p.gets("first\n", "a\n")
	p.is(first, "a")
	p.gets("next\n", "b\n")
	p.is(next, "b")
}

func TestClientPendingMax(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.InflightMax, c.PendingMax = 1, 2 })
	all := []core.Pending[reply]{p.ask("a"), p.ask("b"), p.ask("c")}
	p.fails(p.ask("d"), core.ErrOverloaded)
	require.EqualValues(t, 1, p.client.Stats().Overloaded)
	for i, line := range []string{"a\n", "b\n", "c\n"} {
		p.gets(line, line)
		p.is(all[i], line[:1])
	}
}

func TestClientConns(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.InflightMax, c.Conns = 1, 2 })
	one, two, three := p.ask("one"), p.ask("two"), p.ask("three")
	p.accept(1)
	p.gets("two\n", "2\n")
	p.is(two, "2")
	p.gets("three\n", "3\n")
	p.is(three, "3")
	require.False(t, one.Ready())
	require.Equal(t, "one\n", string(p.peers[0].Read(10)))
	p.peers[0].Write([]byte("1\n"))
	p.Run(time.Millisecond)
	p.is(one, "1")
	require.EqualValues(t, 2, p.client.Stats().Conns)
}

// TestClientAlone: some requests have a connection to themselves.
func TestClientAlone(t *testing.T) {
	p := newPlay(t, nil)
	a, alone, b := p.ask("a"), p.ask("client-alone"), p.ask("b")
	p.gets("a\n", "1\n")
	p.gets("client-alone\n", "2\n")
	p.gets("b\n", "3\n")
	p.is(a, "1")
	p.is(alone, "2")
	p.is(b, "3")
}

// TestClientNumbers: replies that name their requests come in any order, also to those given up.
func TestClientNumbers(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) {
		c.Codec, c.InflightMax = newNumberClient, 3
	})
	at := callerAsk.At(core.Spawn(p.System, func() *caller { return &caller{p.client.Port()} }))
	a, b := p.ask("a"), p.ask("b")
	late := core.Begin(at, call{line: []byte("late"), limit: time.Millisecond})
	p.Run(5 * time.Millisecond)
	p.fails(late, core.ErrTimeout)
	waits := p.ask("waits")
	p.gets("0 a\n1 b\n2 late\n", "1 B\n")
	p.is(b, "B")
	p.gets("1 waits\n", "2 nobody\n1 W\n0 A\n")
	p.is(waits, "W")
	p.is(a, "A")
	p.gets("", "0 again\n")
	require.Zero(t, p.client.Stats().Conns, "a reply to nothing")
}

func TestClientBackoff(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.BackoffMin, c.BackoffMax = time.Second, 4*time.Second })
	p.prove()
	p.door.Close()
	p.Run(time.Minute)
	p.peers[0].Close()
	p.Run(time.Millisecond)
	p.fails(p.ask("a"), core.ErrNotSent)
	require.EqualValues(t, 1, p.client.Stats().ConnectFailures)
	p.fails(p.ask("b"), core.ErrNotSent)
	require.EqualValues(t, 1, p.client.Stats().ConnectFailures, "it pauses")
	p.Run(time.Second)
	p.fails(p.ask("c"), core.ErrNotSent)
	require.EqualValues(t, 2, p.client.Stats().ConnectFailures)
	p.door = p.Net.Serve(doorAddress)
	p.fails(p.ask("d"), core.ErrNotSent)
	p.Run(2 * time.Second)
	last := p.ask("e")
	p.accept(1)
	p.gets("e\n", "x\n")
	p.is(last, "x")
}

// TestClientOfAServerThatHangsUp: connections that bring no reply are opened after pauses only.
func TestClientOfAServerThatHangsUp(t *testing.T) {
	p := newPlay(t, nil)
	p.peers[0].Close()
	came := 0
	for range 1000 {
		defer p.ask("x").Get()
		p.Run(9 * time.Millisecond)
		for peer := p.door.Accept(); peer != nil; peer = p.door.Accept() {
			peer.Close()
			came++
		}
	}
	require.Less(t, came, 20, "in 10 s")
	require.Greater(t, came, 3)
}

func TestClientTimeouts(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.ReplyTimeout, c.IdleTimeout = time.Minute, time.Hour })
	at := callerAsk.At(core.Spawn(p.System, func() *caller { return &caller{p.client.Port()} }))
	asked := core.Begin(at, call{line: []byte("a"), limit: 2 * time.Minute})
	p.Run(59 * time.Second)
	require.False(t, asked.Ready())
	p.Run(3 * time.Second)
	p.fails(asked, core.ErrLost)
	require.Zero(t, p.client.Stats().Conns)

	b := p.ask("b")
	p.accept(1)
	p.gets("b\n", "x\n")
	p.is(b, "x")
	p.Run(59 * time.Minute)
	require.EqualValues(t, 1, p.client.Stats().Conns)
	p.Run(2 * time.Minute)
	require.Zero(t, p.client.Stats().Conns)

	c := p.ask("c")
	p.accept(1)
	p.gets("c\n", "y\n")
	p.is(c, "y")
	require.EqualValues(t, 3, p.client.Stats().Connects)
}

// TestClientWriteTimeout: a server that takes nothing loses its connection.
func TestClientWriteTimeout(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.WriteTimeout, c.ReplyTimeout = 10*time.Second, -1 })
	p.Net.Faults.Window = 3
	at := callerAsk.At(core.Spawn(p.System, func() *caller { return &caller{p.client.Port()} }))
	asked := core.Begin(at, call{line: []byte("abcdefg"), limit: time.Hour})
	p.Run(9 * time.Second)
	require.False(t, asked.Ready())
	p.Run(5 * time.Second)
	p.fails(asked, core.ErrLost)
}

func TestClientConnectTimeout(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1, AskTimeout: time.Hour})
	sim.Net.Serve(doorAddress)
	sim.Net.Faults.Delay = 1000 * time.Hour
	began := sim.Now
	_, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: doorAddress, Codec: newLineClient})
	require.ErrorIs(t, err, core.ErrNotSent)
	require.ErrorContains(t, err, "not accepted the connection in time")
	require.InDelta(t, 5, time.Duration(sim.Now-began).Seconds(), 0.1)
	require.Zero(t, sim.Net.Open())
}

// TestClientAddresses: a host's next address is tried when one fails, and beside one that is slow.
func TestClientAddresses(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	door := sim.Net.Serve("10.0.0.3:80")
	sim.Net.Silent = map[string]bool{"10.0.0.2:80": true}
	began := sim.Now
	client, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: "server:80", Codec: newLineClient,
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			if host != "server" {
				return nil, errors.New("another host")
			}
			return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")}, nil
		}})
	require.NoError(t, err)
	require.InDelta(t, 0.25, time.Duration(sim.Now-began).Seconds(), 0.05)
	require.NotNil(t, door.Accept())
	sim.Run(time.Millisecond)
	require.Equal(t, 1, sim.Net.Open(), "the other attempts are given up")
	require.EqualValues(t, 1, client.Stats().Conns)
}

// TestClientCodec: a panic of the codec, or what it can't decode, costs the connection.
func TestClientCodec(t *testing.T) {
	p := newPlay(t, nil)
	for i, c := range []struct {
		line, gets, reply string
		want              []error
	}{
		{"a", "a\n", "#\n", []error{core.ErrLost, errMark}},
		{"b", "b\n", "!\n", []error{core.ErrLost, core.ErrPanic}},
		{"client-panic", "", "", []error{core.ErrNotSent, core.ErrPanic}},
	} {
		a := p.ask(c.line)
		p.gets(c.gets, c.reply)
		p.fails(a, c.want...)
		require.Zero(t, p.client.Stats().Conns)
		p.Run(time.Second)
		again := p.ask(fmt.Sprint("again", i))
		p.accept(1)
		p.gets(fmt.Sprintf("again%d\n", i), "~nothing\nx\n")
		p.is(again, "x")
	}
	p.gets("", "unasked\n")
	require.Zero(t, p.client.Stats().Conns)
	last := p.ask("last")
	p.accept(1)
	p.gets("last\n", "x\n")
	p.is(last, "x")
}

// TestClientStopsWithItsSystem: asks end when the system does.
func TestClientStopsWithItsSystem(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	sim.Net.Serve(doorAddress)
	client, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: doorAddress, Codec: newLineClient, InflightMax: 1})
	require.NoError(t, err)
	sent := core.Begin(client.Port(), request{[]byte("sent")})
	waits := core.Begin(client.Port(), request{[]byte("waits")})
	sim.Run(time.Millisecond)
	require.NoError(t, sim.Shutdown(t.Context()))
	_, err = sent.Get()
	require.ErrorIs(t, err, core.ErrLost)
	require.ErrorIs(t, err, core.ErrStopped)
	_, err = waits.Get()
	require.ErrorIs(t, err, core.ErrNotSent)
	require.ErrorIs(t, err, core.ErrStopped)
	require.Zero(t, sim.Net.Open())
}
