package channel_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// counted is a reply that counts how often it was released.
type counted struct {
	reply
	n *int
}

func (c *counted) Release() {
	if c.n != nil {
		*c.n++
	}
}

type countedCodec struct{ lineCodec }

func (c *countedCodec) Size(rep *counted, err error) int { return c.lineCodec.Size(&rep.reply, err) }
func (c *countedCodec) Encode(out []byte, rep *counted, err error) []byte {
	return c.lineCodec.Encode(out, &rep.reply, err)
}

// clerk serves connections, and notes the peer of the last one. Others have it send.
type clerk struct {
	peer     *channel.Peer[counted]
	audience *channel.Audience[counted]
}

type (
	clerkLine struct {
		core.ChannelStack[request, counted]
	}
	clerkAsk struct {
		core.AskStack[*int, error]
		written core.Future[core.Written]
	}
)

var (
	clerkServes = channel.Handle((*clerk).line)
	clerkSends  = core.Handle((*clerk).send)
	clerkTells  = core.Handle((*clerk).tell)
	clerkJoins  = core.Handle((*clerk).join)
	clerkAsks   = core.Handle((*clerk).ask)
)

func (c *clerk) line(s *clerkLine) core.Yield {
	*c.peer = s.Peer()
	return s.Return(counted{reply: reply{s.Req.line}})
}

func (c *clerk) send(s *clerkAsk) core.Yield {
	return s.Return(c.peer.Notice(s, counted{reply{[]byte("text")}, s.Req}))
}

func (c *clerk) join(s *clerkAsk) core.Yield { return s.Return(c.audience.Join(s, *c.peer)) }

func (c *clerk) tell(s *clerkAsk) core.Yield {
	return s.Return(c.audience.Notice(s, counted{reply{[]byte("text")}, s.Req}))
}

func (c *clerk) ask(s *clerkAsk) core.Yield {
	c.peer.AskWithin(s, &s.written, counted{reply{[]byte("text")}, s.Req}, time.Second)
	return core.Suspend(s, (*clerk).asked)
}

func (c *clerk) asked(s *clerkAsk) core.Yield {
	_, err := s.written.Get()
	return s.Return(err)
}

// TestAskedMessagesAreReleasedOnce: whatever becomes of the ask, and early if it was encoded.
func TestAskedMessagesAreReleasedOnce(t *testing.T) {
	for at := range 2 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			sim := housetest.New(t, 1, house.Config{Workers: 2, Logger: slog.New(slog.DiscardHandler)})
			var peer channel.Peer[counted]
			front, err := core.SpawnWith(sim.Workers()[0], func() *clerk { return &clerk{peer: &peer} }, core.Props{Mailbox: core.Bounded(1, core.Reject)})
			require.NoError(t, err)
			from := core.Spawn(sim.Workers()[at], func() *clerk { return &clerk{peer: &peer} })
			server, err := channel.Listen(t.Context(), channel.Config[request, counted]{Network: "tcp", Address: "127.0.0.1:80", OutputMax: 4, PendingMax: 1,
				Codec: func() channel.Codec[request, counted] { return &countedCodec{} }}, clerkServes, front)
			require.NoError(t, err)
			p := sim.Net.Dial(server.Addr())
			sim.Run(time.Millisecond)
			says(t, sim, p, "x\n", "x\n")
			var counts [8]int
			next := 0
			ask := func(released int) (end func(want error)) {
				t.Helper()
				n := &counts[next]
				next++
				call := core.Begin(clerkAsks.At(from), n)
				sim.Run(time.Millisecond)
				require.Equal(t, released, *n)
				return func(want error) {
					t.Helper()
					require.True(t, call.Ready())
					err, failed := call.Get()
					require.NoError(t, failed)
					require.ErrorIs(t, err, want)
				}
			}
			ask(1)(nil)
			says(t, sim, p, "", "text\n")
			sim.Net.Faults.Window = 1
			encoded, waits := ask(1), ask(0)
			ask(1)(core.ErrMailboxFull)
			sim.Run(2 * time.Second)
			encoded(core.ErrTimeout)
			waits(core.ErrTimeout)
			waits = ask(0)
			p.Reset()
			sim.Run(time.Millisecond)
			waits(core.ErrNotSent)
			ask(1)(core.ErrNotSent)
			front.Pause()
			sim.Run(time.Millisecond)
			for core.Notice(clerkFills.At(front), struct{}{}) == nil {
			}
			if at == 0 {
				ask(1)(core.ErrNotSent)
			} else {
				ask(1)(core.ErrMailboxFull)
			}
			require.NoError(t, front.StopWait(t.Context()))
			ask(1)(core.ErrStopped)
			require.Equal(t, [8]int{1, 1, 1, 1, 1, 1, 1, 1}, counts)
			require.NoError(t, server.Close(t.Context()))
		})
	}
}

var clerkFills = core.HandleNotice(func(_ *clerk, s *core.NoticeStack[struct{}]) core.Yield { return s.Return() })

// TestMessagesAreReleasedOnce: whoever is told, and whatever becomes of that.
func TestMessagesAreReleasedOnce(t *testing.T) {
	for at := range 2 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			sim := housetest.New(t, 1, house.Config{Workers: 2, Logger: slog.New(slog.DiscardHandler)})
			var peer channel.Peer[counted]
			front, err := core.SpawnWith(sim.Workers()[0], func() *clerk { return &clerk{peer: &peer} }, core.Props{Mailbox: core.Bounded(2, core.Reject)})
			require.NoError(t, err)
			audience := channel.NewAudience[counted](&countedCodec{})
			from := core.Spawn(sim.Workers()[at], func() *clerk { return &clerk{&peer, audience} })
			server, err := channel.Listen(t.Context(), channel.Config[request, counted]{Network: "tcp", Address: "127.0.0.1:80", OutputMax: 20,
				Codec: func() channel.Codec[request, counted] { return &countedCodec{} }}, clerkServes, front)
			require.NoError(t, err)
			p := sim.Net.Dial(server.Addr())
			sim.Run(time.Millisecond)
			says(t, sim, p, "x\n", "x\n")
			send := func(by core.Handler[clerk, *int, error], want error) {
				t.Helper()
				n := 0
				got, err := housetest.Ask(t, sim, by.At(from), &n)
				require.NoError(t, err)
				require.Equal(t, want, got)
				sim.Run(time.Millisecond)
				require.Equal(t, 1, n)
			}
			post := func(want error) {
				t.Helper()
				n := 0
				require.Equal(t, want, peer.Post(counted{reply{[]byte("text")}, &n}))
				sim.Run(time.Millisecond)
				require.Equal(t, 1, n)
			}
			_, err = housetest.Ask(t, sim, clerkJoins.At(from), nil)
			require.NoError(t, err)
			send(clerkSends, nil)
			send(clerkTells, nil)
			post(nil)
			says(t, sim, p, "", "text\ntext\ntext\n")

			front.Pause() // and its mailbox gets full
			sim.Run(time.Millisecond)
			full := 0
			var counts [6]int
			for i := range counts {
				by := []core.Handler[clerk, *int, error]{clerkSends, clerkTells}[i%2]
				if got, err := housetest.Ask(t, sim, by.At(from), &counts[i]); got == core.ErrMailboxFull {
					full++
				} else {
					require.NoError(t, err)
					require.NoError(t, got)
				}
			}
			front.Continue()
			sim.Run(time.Millisecond)
			require.Equal(t, [6]int{1, 1, 1, 1, 1, 1}, counts)
			require.Equal(t, 4*at, full)
			says(t, sim, p, "", strings.Repeat("text\n", 6-full))

			sim.Net.Faults.Window = 1
			var long [2]int
			for i := range long { // the second finds the connection full only when it arrives
				require.NoError(t, peer.Post(counted{reply{[]byte(strings.Repeat("long", 9))}, &long[i]}))
			}
			sim.Run(time.Millisecond)
			require.Equal(t, [2]int{1, 1}, long)
			require.EqualValues(t, 1, server.Stats().Dropped)
			for _, b := range strings.Repeat("long", 9) + "\n" {
				says(t, sim, p, "", string(b))
			}

			sim.Net.Faults.Window = 1
			for range 5 {
				send(clerkSends, nil)
			}
			send(clerkSends, core.ErrMailboxFull)
			send(clerkTells, nil)
			post(core.ErrMailboxFull)
			require.EqualValues(t, 4, server.Stats().Dropped)
			p.Reset()
			sim.Run(time.Millisecond)
			send(clerkSends, core.ErrStopped)
			send(clerkTells, nil)
			post(core.ErrStopped)
			require.Equal(t, 1, channel.Branches(audience))
			require.NoError(t, front.StopWait(t.Context()))
			send(clerkSends, core.ErrStopped)
			send(clerkTells, nil)
			post(core.ErrStopped)
			require.Zero(t, channel.Branches(audience), "its actor has stopped")
			require.NoError(t, server.Close(t.Context()))
		})
	}
}
