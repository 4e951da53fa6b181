package channel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/frame"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// host serves lines, and frames once a client has asked for them:
//
//	frames x     answers x, then speaks frames
//	failing x    asks for frames, and ends with an error
//	wait N       answers in N ms
//	x            answers x
//
// A frame "lines" has it speak lines again.
type host struct {
	frames, lines any // *channel.Protocol
	peers         []any
	log           []string
	audience      *channel.Audience[reply] // of lines that asked for frames
}

type (
	hostLine struct {
		core.ChannelStack[request, reply]
		tick core.Future[core.Tick]
	}
	hostFrame struct {
		core.ChannelStack[[]byte, []byte]
	}
	hostOpened struct {
		core.NoticeStack[channel.Opened[[]byte]]
	}
	hostClosed struct {
		core.NoticeStack[channel.Closed[reply]]
	}
	hostPush struct{ core.AskStack[string, []error] }
)

var (
	hostOpenedFrames = core.HandleNotice((*host).opened)
	hostClosedLines  = core.HandleNotice((*host).closed)
	hostLines        = channel.Handle((*host).line).WithClosed(hostClosedLines)
	hostFrames       = channel.Handle((*host).frame).WithOpened(hostOpenedFrames)
	hostPushes       = core.Handle((*host).push)
)

func (h *host) line(s *hostLine) core.Yield {
	verb, rest, _ := bytes.Cut(s.Req.line, space)
	switch string(verb) {
	case "frames":
		h.peers = append(h.peers, s.Peer())
		h.audience.Join(s, s.Peer())
		channel.Upgrade(s, h.frames.(*channel.Protocol[host, []byte, []byte]))
		return s.Return(reply{rest})
	case "failing":
		channel.Upgrade(s, h.frames.(*channel.Protocol[host, []byte, []byte]))
		return s.Throw(errors.New("no frames"))
	case "wait":
		n, _ := number(rest)
		core.Timer.Ask(s, &s.tick, time.Duration(n)*time.Millisecond)
		return core.Suspend(s, (*host).waited)
	}
	return s.Return(reply{s.Req.line})
}

func (h *host) waited(s *hostLine) core.Yield { return s.Return(reply{s.Req.line}) }

func (h *host) frame(s *hostFrame) core.Yield {
	if string(s.Req) == "lines" {
		channel.Upgrade(s, h.lines.(*channel.Protocol[host, request, reply]))
	}
	return s.Return(s.Req)
}

func (h *host) opened(s *hostOpened) core.Yield {
	h.log = append(h.log, "frames opened")
	h.peers = append(h.peers, s.Msg.Peer)
	return s.Return()
}

func (h *host) closed(s *hostClosed) core.Yield {
	h.log = append(h.log, "lines closed")
	return s.Return()
}

// push sends text to all peers, and answers what each sending came to.
func (h *host) push(s *hostPush) core.Yield {
	var all []error
	for _, p := range h.peers {
		switch p := p.(type) {
		case core.Peer[reply]:
			all = append(all, p.Notice(s, reply{[]byte(s.Req)}))
		case core.Peer[[]byte]:
			all = append(all, p.Notice(s, []byte(s.Req)))
		}
	}
	return s.Return(all)
}

func newVarints() channel.Codec[[]byte, []byte] {
	return &frame.Codec{Framing: &frame.Varint{Max: 1 << 20}}
}

func framed(s string) string { return string((&frame.Varint{Max: 1 << 20}).Append(nil, []byte(s))) }

// impatient is the codec of clients that don't wait for what they asked to speak next.
type impatient struct{ lineCodec }

func (e *impatient) Alone(req *request) bool { return bytes.HasPrefix(req.line, []byte("frames")) }

// TestUpgradeOfImpatientClients: what comes right behind the request is of the next protocol.
func TestUpgradeOfImpatientClients(t *testing.T) {
	sim, server, _, _ := newHost(t, 1, func(c *config) {
		c.Codec = func() channel.Codec[request, reply] { return &impatient{} }
	})
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	text := "wait 5\nframes yes\n" + framed("one") + framed(strings.Repeat("long", 10_000))
	want := "wait 5\nyes\n" + framed("one") + framed(strings.Repeat("long", 10_000))
	got := ""
	for rest := text; len(got) < len(want); {
		rest = rest[s.peer.Write([]byte(rest)):]
		got += s.hear(time.Millisecond)
	}
	require.Equal(t, want, got)
	require.NoError(t, server.Close(context.Background()))
}

// newHost opens a server of a host in a simulation.
func newHost(t testing.TB, seed uint64, set func(*config)) (*housetest.Sim, *server, *host, core.Address[host]) {
	sim := housetest.New(t, seed, house.Config{Workers: 1})
	frames, err := channel.NewProtocol(channel.Config[[]byte, []byte]{Network: "tcp", Address: "unused", Codec: newVarints}, hostFrames)
	require.NoError(t, err)
	lines, err := channel.NewProtocol(config{Network: "tcp", Codec: newLineCodec}, hostLines)
	require.NoError(t, err)
	h := &host{frames: frames, lines: lines, audience: channel.NewAudience[reply](newLineCodec())}
	at := core.Spawn(sim.Workers()[0], func() *host { return h })
	c := config{Network: "tcp", Address: "127.0.0.1:80", Codec: newLineCodec}
	if set != nil {
		set(&c)
	}
	server, err := channel.Listen(context.Background(), c, hostLines, at)
	require.NoError(t, err)
	return sim, server, h, at
}

func TestUpgrade(t *testing.T) {
	sim, server, h, at := newHost(t, 1, nil)
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	require.Equal(t, "a\n", s.say("a\n", time.Millisecond))
	require.Equal(t, "-no frames\nb\n", s.say("failing x\nb\n", time.Millisecond), "a request that fails upgrades nothing")
	require.Equal(t, "yes\n", s.say("frames yes\nwait 100000\nlost\n", time.Millisecond), "what is behind it is dropped")
	require.Equal(t, framed("one")+framed("two"), s.say(framed("one")+framed("two"), time.Millisecond))
	require.Equal(t, []string{"lines closed", "frames opened"}, h.log)

	errs, err := housetest.Ask(t, sim, hostPushes.At(at), "pushed")
	require.NoError(t, err)
	require.Equal(t, []error{core.ErrStopped, nil}, errs, "the old peer has gone, the new one takes messages")
	require.Equal(t, core.ErrStopped, h.peers[0].(core.Peer[reply]).Post(reply{}), "as other threads know")
	require.Zero(t, h.audience.Len())
	require.Equal(t, framed("pushed"), s.hear(time.Millisecond))

	require.Equal(t, framed("lines")+"c\n", s.say(framed("lines"), 0)+s.say("c\n", time.Millisecond))
	require.Equal(t, "again\n", s.say("frames again\n", time.Millisecond))
	require.Equal(t, framed(strings.Repeat("long", 50_000)), s.long(framed(strings.Repeat("long", 50_000))))
	stats := h.frames.(*channel.Protocol[host, []byte, []byte]).Stats()
	require.EqualValues(t, 2, stats.Accepted)
	require.EqualValues(t, 1, server.Stats().Conns)
	s.peer.End()
	s.sim.Run(time.Second)
	require.ErrorIs(t, s.peer.Err(), io.EOF)
	require.Zero(t, server.Stats().Conns)
	require.Zero(t, sim.Net.Open()-1, "the listener alone is open")
	require.NoError(t, server.Close(context.Background()))
}

// long sends text bit by bit, and returns as many bytes as come back.
func (s *stagedServer) long(text string) string {
	var got strings.Builder
	for rest := text; got.Len() < len(text); {
		rest = rest[s.peer.Write([]byte(rest)):]
		s.sim.Run(time.Millisecond)
		got.Write(s.peer.Read(1 << 20))
	}
	return got.String()
}

// TestUpgradeTwice: the first of two requests that ask for it has it, and the second is dropped.
func TestUpgradeTwice(t *testing.T) {
	sim, server, h, _ := newHost(t, 1, nil)
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	require.Equal(t, "a\n", s.say("frames a\nframes b\n", time.Millisecond))
	require.Equal(t, framed("one"), s.say(framed("one"), time.Millisecond))
	require.Equal(t, []string{"lines closed", "frames opened"}, h.log)
	require.NoError(t, server.Close(context.Background()))
}

// frontierCodec is lineCodec of clients that don't wait for the result of frames.
type frontierCodec struct{ lineCodec }

func (c *frontierCodec) Alone(req *request) bool {
	return bytes.HasPrefix(req.line, []byte("frames "))
}

// TestUpgradeOfARequestThatIsAlone: what stands behind it isn't decoded before it has its result.
func TestUpgradeOfARequestThatIsAlone(t *testing.T) {
	sim, server, _, _ := newHost(t, 1, func(c *config) { c.Codec = func() channel.Codec[request, reply] { return &frontierCodec{} } })
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	require.Equal(t, "wait 10\nyes\n"+framed("a\nb"), s.say("wait 10\nframes yes\n"+framed("a\nb"), time.Second))
	require.NoError(t, server.Close(context.Background()))
}

// TestUpgradeOfStages: the stages stay where they are.
func TestUpgradeOfStages(t *testing.T) {
	sim, server, _, _ := newHost(t, 1, func(c *config) {
		c.Stages = func() []stage.Stage { return append(ciphers(), stage.Idle(time.Minute)) }
	})
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	say := func(text string) string { return string(ciphered(s.say(string(ciphered(text)), time.Millisecond))) }
	require.Equal(t, "yes\n", say("frames yes\n"))
	require.Equal(t, framed("one"), say(framed("one")))
	s.sim.Run(50 * time.Second)
	require.Equal(t, framed("two"), say(framed("two")))
	require.NoError(t, s.peer.Err())
	s.sim.Run(time.Minute + 2*time.Second)
	s.peer.Read(100)
	require.ErrorIs(t, s.peer.Err(), io.EOF, "the alarm of a stage goes off behind the upgrade")
	require.NoError(t, server.Close(context.Background()))
}

// TestUpgradeWhileDraining: what was asked before the drain is answered, and no more.
func TestUpgradeWhileDraining(t *testing.T) {
	sim, server, _, _ := newHost(t, 1, nil)
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	require.Equal(t, 11, s.peer.Write([]byte("frames yes\n")))
	require.NoError(t, server.Drain(context.Background()))
	require.Zero(t, server.Stats().Conns, "the drain has waited")
	require.Equal(t, "yes\n", s.hear(time.Second))
	require.ErrorIs(t, s.peer.Err(), io.EOF)
}

func TestUpgradeMisused(t *testing.T) {
	_, err := channel.NewProtocol(config{}, serve)
	require.ErrorContains(t, err, "Codec is missing")
	_, err = channel.NewProtocol(config{Codec: newLineCodec, Stages: ciphers}, serve)
	require.ErrorContains(t, err, "stages already")
	sim, server, h, _ := newHost(t, 1, nil)
	others, err := channel.NewProtocol(config{Codec: newLineCodec}, serve)
	require.NoError(t, err)
	h.frames = others
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	require.Contains(t, s.say("frames x\n", time.Millisecond), "panic")
	require.NoError(t, server.Close(context.Background()))
}

// TestUpgradeSimulations: clients that change between lines and frames, over networks in which much
// goes wrong. Those that aren't broken get all their results, in the form that they asked for.
func TestUpgradeSimulations(t *testing.T) {
	upgraded := 0
	for seed := range seeds() {
		hash := simulateUpgrades(t, seed, &upgraded)
		require.Equal(t, hash, simulateUpgrades(t, seed, new(int)), "seed %d does something else", seed)
	}
	require.Greater(t, upgraded, int(seeds()))
}

func simulateUpgrades(t *testing.T, seed uint64, upgraded *int) uint64 {
	rng := rand.New(rand.NewPCG(seed, 5))
	sim, server, h, _ := newHost(t, seed, func(c *config) {
		c.InflightMax, c.ReadSize, c.OutputMax = limit(rng, 16), limit(rng, 1<<rng.IntN(12)), limit(rng, 1<<rng.IntN(12))
	})
	sim.Net.Faults = housetest.Draw(rng)
	type client struct {
		peer         *housetest.Peer
		sends, wants []byte
		frames       bool
		asks         int
	}
	var all []*client
	for range 1 + rng.IntN(5) {
		all = append(all, &client{peer: sim.Net.Dial("127.0.0.1:80"), asks: rng.IntN(20)})
	}
	act := func(c *client, healed bool) {
		b := c.peer.Read(1 << 20)
		require.True(t, bytes.HasPrefix(c.wants, b), "seed %d: %q comes in place of %.100q", seed, b, c.wants)
		if c.wants = c.wants[len(b):]; len(c.wants) == 0 && c.asks > 0 {
			c.asks--
			switch text := fmt.Sprint("x", rng.IntN(1000)); {
			case c.frames && rng.IntN(3) == 0:
				c.sends, c.wants, c.frames = []byte(framed("lines")), []byte(framed("lines")), false
			case !c.frames && rng.IntN(3) == 0:
				c.sends, c.wants, c.frames = []byte("frames "+text+"\n"), []byte(text+"\n"), true
			case c.frames:
				c.sends, c.wants = []byte(framed(text)), []byte(framed(text))
			default:
				c.sends, c.wants = []byte(text+"\n"), []byte(text+"\n")
			}
		}
		n := len(c.sends)
		if !healed && n > 0 {
			n = rng.IntN(n + 1)
		}
		c.sends = c.sends[c.peer.Write(c.sends[:n]):]
	}
	for range rng.IntN(1000) {
		act(all[rng.IntN(len(all))], false)
		for range rng.IntN(3) {
			sim.Turn()
		}
		if rng.IntN(20) == 0 {
			sim.Run(time.Duration(rng.IntN(1 << rng.IntN(24))))
		}
	}
	broken := sim.Net.Faults.Resets > 0
	sim.Net.Faults = housetest.Faults{}
	for range 100 {
		for _, c := range all {
			act(c, true)
		}
		sim.Run(time.Second)
	}
	for _, c := range all {
		require.True(t, broken || c.asks == 0 && len(c.wants) == 0, "seed %d: a client waits for %q, %v", seed, c.wants, c.peer.Err())
		c.peer.Close()
	}
	*upgraded += int(h.frames.(*channel.Protocol[host, []byte, []byte]).Stats().Accepted)
	require.NoError(t, server.Drain(context.Background()))
	require.Zero(t, server.Stats().Conns, "seed %d", seed)
	require.Zero(t, sim.Net.Open(), "seed %d: descriptors are open", seed)
	return sim.Hash()
}

// TestDrainWhileAConnectionChanges: what it becomes is drained, too.
func TestDrainWhileAConnectionChanges(t *testing.T) {
	sim, server, _, _ := newHost(t, 1, nil)
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	sim.Net.Faults.Window = 100
	text := strings.Repeat("y", 1000)
	for rest := []byte("frames " + text + "\n"); len(rest) > 0; {
		rest = rest[s.peer.Write(rest):]
		sim.Run(time.Millisecond)
	}
	got := ""
	reads := core.Spawn(sim.Workers()[0], func() *replier {
		return &replier{func() {
			sim.Net.Faults.Window = 0
			got += string(s.peer.Read(100))
		}}
	})
	require.NoError(t, core.Notice(replierBegin.At(reads), struct{}{}))
	began := sim.Now
	require.NoError(t, server.Drain(t.Context()))
	require.Less(t, sim.Now-began, int64(10*time.Second))
	require.Equal(t, text+"\n", got+string(s.peer.Read(2000)))
}
