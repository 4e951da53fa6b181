package channel_test

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// ear hears of the ends of its connections, and does then what atEnd says: see do. It answers lines
// with themselves, after a while if they say so.
type ear struct {
	atEnd         []string
	ended, closed int
	requests      []string
	last          channel.Peer[reply]
}

type earTold struct {
	peer channel.Peer[reply]
	do   string
}

type (
	earStack struct {
		core.ChannelStack[request, reply]
		tick core.Future[core.Tick]
		room core.Future[core.Room]
	}
	earDo    struct{ core.AskStack[earTold, error] }
	earWhose struct {
		core.AskStack[struct{}, channel.Peer[reply]]
	}
	earWake struct {
		core.NoticeStack[core.Address[ear]]
		tick core.Future[core.Tick]
	}
	earLook struct {
		core.AskStack[struct{}, string]
	}
)

var (
	earServes = channel.Handle((*ear).serve).
			WithEnded(core.HandleNotice((*ear).hear)).
			WithClosed(core.HandleNotice((*ear).close))
	earDoes  = core.Handle((*ear).told)
	earPeer  = core.Handle((*ear).peer)
	earWakes = core.HandleNotice((*ear).wake)
	earLooks = core.Handle((*ear).look)
)

func (e *ear) serve(s *earStack) core.Yield {
	e.requests = append(e.requests, string(s.Req.line))
	e.last = s.Peer()
	switch verb, rest, _ := strings.Cut(string(s.Req.line), " "); verb {
	case "later":
		core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
		return core.Suspend(s, (*ear).late)
	case "two":
		s.Part(&s.room, reply{[]byte(rest)})
		return core.Suspend(s, (*ear).second)
	case "last":
		return s.ReturnLast(reply{s.Req.line})
	}
	return s.Return(reply{s.Req.line})
}

func (e *ear) late(s *earStack) core.Yield { return s.Return(reply{[]byte("late")}) }

func (e *ear) second(s *earStack) core.Yield {
	core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
	return core.Suspend(s, (*ear).late)
}

func (e *ear) hear(s *core.NoticeStack[channel.Ended[reply]]) core.Yield {
	e.ended++
	for _, do := range e.atEnd {
		if err := e.do(s, s.Msg.Peer, do); err != nil {
			return s.Throw(err)
		}
	}
	return s.Return()
}

func (e *ear) close(s *core.NoticeStack[channel.Closed[reply]]) core.Yield {
	e.closed++
	return s.Return()
}

// do ends or closes the connection, or sends it a text.
func (e *ear) do(s core.Running, peer channel.Peer[reply], do string) error {
	switch do {
	case "end":
		return peer.End(s)
	case "close":
		return peer.Close(s)
	}
	return peer.Notice(s, reply{[]byte(do)})
}

// told does what it is told, with the last connection by default.
func (e *ear) told(s *earDo) core.Yield {
	peer := s.Req.peer
	if peer == (channel.Peer[reply]{}) {
		peer = e.last
	}
	for do := range strings.SplitSeq(s.Req.do, ",") {
		if err := e.do(s, peer, do); err != nil {
			return s.Return(err)
		}
	}
	return s.Return(nil)
}

func (e *ear) peer(s *earWhose) core.Yield { return s.Return(e.last) }

// wake ends a pause in a while.
func (e *ear) wake(s *earWake) core.Yield {
	core.Timer.Ask(s, &s.tick, 5*time.Millisecond)
	return core.Suspend(s, (*ear).awake)
}

func (e *ear) awake(s *earWake) core.Yield {
	s.Msg.Continue()
	return s.Return()
}

// look tells what has come, with an E for each end of a side and a C for each connection that has
// closed.
func (e *ear) look(s *earLook) core.Yield {
	return s.Return(strings.Join(e.requests, ",") + strings.Repeat("E", e.ended) + strings.Repeat("C", e.closed))
}

// hearing is a simulation with an ear.
type hearing struct {
	*housetest.Sim
	t      *testing.T
	server *server
	at     core.Address[ear]
	client *housetest.Peer
}

// newHearing has a client of a server whose ear, at an end, does what atEnd says.
func newHearing(t *testing.T, set func(*config), atEnd ...string) *hearing {
	h := &hearing{Sim: housetest.New(t, 1, house.Config{Workers: 2, AskTimeout: time.Hour, Logger: slog.New(slog.DiscardHandler)}), t: t}
	h.at = core.Spawn(h.Workers()[0], func() *ear { return &ear{atEnd: atEnd} })
	c := config{Network: "tcp", Address: "127.0.0.1:7000", Codec: newLineCodec}
	if set != nil {
		set(&c)
	}
	var err error
	h.server, err = channel.Listen(t.Context(), c, earServes, h.at)
	require.NoError(t, err)
	h.client = h.Net.Dial(h.server.Addr())
	h.Run(time.Millisecond)
	return h
}

// say sends lines from the client.
func (h *hearing) say(lines ...string) {
	text := strings.Join(lines, "\n") + "\n"
	require.Equal(h.t, len(text), h.client.Write([]byte(text)))
	h.Run(time.Millisecond)
}

// heard is what the client gets, and whether this was all: with "." the end has come.
func (h *hearing) heard() string {
	h.Run(time.Millisecond)
	got := strings.ReplaceAll(string(h.client.Read(10_000)), "\n", ",")
	switch err := h.client.Err(); err {
	case nil:
	case io.EOF:
		got += "."
	default:
		got += err.Error()
	}
	return got
}

func (h *hearing) tell(do string) error {
	h.t.Helper()
	err, failed := housetest.Ask(h.t, h.Sim, earDoes.At(h.at), earTold{do: do})
	require.NoError(h.t, failed)
	return err
}

func (h *hearing) look() string {
	h.t.Helper()
	text, err := housetest.Ask(h.t, h.Sim, earLooks.At(h.at), struct{}{})
	require.NoError(h.t, err)
	return text
}

// over requires that nothing is left but the server, and ends that.
func (h *hearing) over() {
	h.t.Helper()
	h.client.Close()
	h.Run(time.Millisecond)
	require.Zero(h.t, h.server.Stats().Conns)
	require.Contains(h.t, h.look(), "C")
	require.NoError(h.t, h.server.Close(h.t.Context()))
	require.Zero(h.t, h.Net.Open())
}

// TestEndIsHeard: behind what came before; results of what is in flight are written, and messages,
// until the actor ends its side.
func TestEndIsHeard(t *testing.T) {
	for _, how := range []string{"end", "close"} {
		h := newHearing(t, nil, "heard")
		h.client.Write([]byte("a\nlater\nb\nno line"))
		h.client.End()
		require.Equal(t, "a,heard,", h.heard())
		require.Equal(t, "a,later,bE", h.look())
		h.Run(20 * time.Millisecond)
		require.Equal(t, "late,b,", h.heard())
		h.Run(time.Minute)
		require.NoError(t, h.tell("one"))
		require.NoError(t, h.tell("two,"+how))
		require.Equal(t, "one,two,.", h.heard(), how)
		require.Equal(t, core.ErrStopped, h.tell("three"))
		require.Equal(t, "a,later,bEC", h.look())
		h.over()
	}
}

// TestEndOfBothSides: what is in flight is answered by End, and cancelled by Close.
func TestEndOfBothSides(t *testing.T) {
	for how, want := range map[string]string{"end": "a,bye,late,b,.", "close": "a,bye,."} {
		h := newHearing(t, nil, "bye", how)
		h.client.Write([]byte("a\nlater\nb\n"))
		h.client.End()
		h.Run(20 * time.Millisecond)
		require.Equal(t, want, h.heard(), how)
		require.Equal(t, "a,later,bEC", h.look(), how)
		h.over()
	}
}

// TestEndThatNobodyHeeds: the connection stands for IdleTimeout, from when something was sent last.
func TestEndThatNobodyHeeds(t *testing.T) {
	h := newHearing(t, func(c *config) { c.IdleTimeout = time.Minute })
	h.say("a")
	h.client.End()
	for range 3 {
		h.Run(50 * time.Second)
		require.NoError(t, h.tell("x"))
	}
	require.Equal(t, "a,x,x,x,", h.heard())
	h.Run(70 * time.Second)
	require.Equal(t, ".", h.heard())
	require.EqualValues(t, 1, h.server.Stats().IdleTimeouts)
	h.over()
}

// TestResetBehindTheEnd: it ends the connection, though nothing is read or written.
func TestResetBehindTheEnd(t *testing.T) {
	h := newHearing(t, nil)
	h.client.End()
	h.Run(time.Millisecond)
	require.Equal(t, "E", h.look())
	h.client.Reset()
	h.Run(time.Millisecond)
	require.Equal(t, "EC", h.look())
	h.over()
}

// TestDrainBehindTheEnd: a server that drains doesn't wait for what may still be said, whichever
// the connection finds first.
func TestDrainBehindTheEnd(t *testing.T) {
	for _, endFirst := range []bool{true, false} {
		h := newHearing(t, nil)
		h.say("later")
		if !endFirst {
			h.at.Pause()
			core.Notice(earWakes.At(core.Spawn(h.Workers()[1], func() *ear { return &ear{} })), h.at)
		}
		h.client.End()
		h.Run(time.Millisecond)
		began := h.Now
		require.NoError(t, h.server.Drain(t.Context()))
		require.Less(t, h.Now-began, int64(time.Second), endFirst)
		require.Equal(t, "late,.", h.heard())
		h.client.Close()
		require.Zero(t, h.Net.Open())
	}

	h := newHearing(t, nil) // with nothing in flight
	h.client.End()
	h.Run(time.Millisecond)
	began := h.Now
	require.NoError(t, h.server.Drain(t.Context()))
	require.Less(t, h.Now-began, int64(time.Second))
	require.Equal(t, ".", h.heard())
	h.client.Close()
}

// TestEndOfThisSide: the client reads to the end, and goes on: its requests are handled, and their
// results dropped. When it ends, too, the connection is closed, and the actor hears of that.
func TestEndOfThisSide(t *testing.T) {
	h := newHearing(t, nil)
	h.say("later", "two a", "b")
	require.NoError(t, h.tell("x,end"))
	require.Equal(t, "x,.", h.heard())
	require.Equal(t, core.ErrStopped, h.tell("y"))
	require.NoError(t, h.tell("end"))
	for range 300 { // more than may be in flight, or wait
		h.say("c", "two "+strings.Repeat("d", 1000))
		h.Run(20 * time.Millisecond)
	}
	require.EqualValues(t, 1, h.server.Stats().Conns)
	require.Equal(t, 603, 1+strings.Count(h.look(), ","))
	h.client.End()
	h.Run(time.Millisecond)
	require.NotContains(t, h.look(), "E")
	h.over()
}

// TestEndBehindAPart: the result that was begun is written to its end, and a message behind it.
func TestEndBehindAPart(t *testing.T) {
	h := newHearing(t, nil)
	h.say("two a", "b")
	require.Equal(t, "a,", h.heard())
	require.NoError(t, h.tell("x,end"))
	require.Equal(t, "", h.heard())
	h.Run(20 * time.Millisecond)
	require.Equal(t, "late,x,.", h.heard())
	h.over()
}

// TestLastBehindTheEnd: a connection whose side has ended closes behind the result that is the
// last, and behind a request that is refused; neither is written.
func TestLastBehindTheEnd(t *testing.T) {
	for _, line := range []string{"last", "!"} {
		h := newHearing(t, nil)
		h.say("a")
		require.NoError(t, h.tell("end"))
		h.say(line)
		require.Equal(t, "a,.", h.heard())
		h.Run(3 * time.Second) // it lingers
		require.Zero(t, h.server.Stats().Conns, line)
		h.over()
	}
}

// TestEndWaitsForTheClient: what it reads slowly comes before the end.
func TestEndWaitsForTheClient(t *testing.T) {
	for _, behind := range [][]string{nil, {"b"}, {"", "b", "!"}} { // of the last one is refused
		h := newHearing(t, nil)
		h.Net.Faults.Window = 10
		h.say("a")
		text := strings.Repeat("x", 1000)
		require.NoError(t, h.tell(text+",end"))
		if behind != nil {
			h.say(behind...)
		}
		var got []byte
		for h.client.Err() == nil {
			got = append(got, h.client.Read(7)...)
			h.Run(time.Millisecond)
		}
		require.Equal(t, "a\n"+text+"\n", string(got), "nothing comes behind the end")
		h.over()
	}
}

// TestEndThroughStages: what they keep comes before the end, and their last words; requests still
// pass.
func TestEndThroughStages(t *testing.T) {
	for seed := range uint64(50) {
		h := newHearing(t, func(c *config) { c.Stages = whimsOf(seed, 20) })
		h.say("a")
		h.Run(time.Minute)
		require.Equal(t, "a", h.look(), "seed %d", seed)
		require.NoError(t, h.tell("x,y,end"))
		h.Run(time.Minute)
		require.Equal(t, "a,x,y,.", h.heard(), "seed %d", seed)
		h.say("b")
		h.Run(time.Minute)
		require.Equal(t, "a,b", h.look(), "seed %d", seed)
		h.over()
	}
	h := newHearing(t, func(c *config) { c.Stages = func() []stage.Stage { return []stage.Stage{&cipher{}} } })
	h.client.Write(ciphered("a\n"))
	h.Run(time.Millisecond)
	require.NoError(t, h.tell("end"))
	require.Equal(t, string(ciphered("a\n"))+"bye.", h.heard())
	h.client.Write(ciphered("b\n"))
	h.client.End()
	h.Run(time.Millisecond)
	require.Equal(t, "a,bC", h.look())
	h.over()
}

// TestEndFromAnotherWorker: behind what the same actor has sent before.
func TestEndFromAnotherWorker(t *testing.T) {
	h := newHearing(t, nil)
	h.say("a")
	far := core.Spawn(h.Workers()[1], func() *ear { return &ear{} })
	h.Run(time.Millisecond)
	peer, err := housetest.Ask(t, h.Sim, earPeer.At(h.at), struct{}{})
	require.NoError(t, err)
	for _, want := range []error{nil, core.ErrStopped} {
		err, failed := housetest.Ask(t, h.Sim, earDoes.At(far), earTold{peer, "x,y,end"})
		require.NoError(t, failed)
		require.Equal(t, want, err)
		h.Run(time.Millisecond)
	}
	require.Equal(t, "a,x,y,.", h.heard())
	h.over()
}

// TestEndsOverSockets: each side ends alone, over each kind of socket.
func TestEndsOverSockets(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		at := core.Spawn(w.system.Workers()[0], func() *ear { return &ear{atEnd: []string{"heard"}} })
		server, err := channel.Listen(w.ctx, config{Network: p.network, Address: address(t, p.network), Codec: newLineCodec}, earServes, at)
		require.NoError(t, err)
		tell := func(do string) {
			err, failed := core.Ask(w.ctx, earDoes.At(at), earTold{do: do})
			require.NoError(t, failed)
			require.NoError(t, err)
		}
		hears := dialTo(t, p.network, server.Addr())
		hears.send("a", "later")
		hears.halfClose()
		hears.expect("a", "heard", "late")
		tell("b")
		hears.expect("b")
		tell("c,end")
		hears.expect("c")
		hears.expectEnd()
		says := dialTo(t, p.network, server.Addr())
		says.send("a")
		says.expect("a")
		tell("b,end")
		says.expect("b")
		_, err = says.r.ReadByte()
		require.Equal(t, io.EOF, err)
		says.send("x", "y")
		w.await("requests of who hears nothing", func() bool {
			text, err := core.Ask(w.ctx, earLooks.At(at), struct{}{})
			require.NoError(t, err)
			return strings.HasSuffix(text, "x,yEC")
		})
		says.Close()
		w.await("the end", func() bool { return server.Stats().Conns == 0 })
		require.NoError(t, server.Close(w.ctx))
	})
}
