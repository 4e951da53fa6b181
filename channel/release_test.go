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
	clerkAsk struct{ core.AskStack[*int, error] }
)

var (
	clerkServes = channel.Handle((*clerk).line)
	clerkSends  = core.Handle((*clerk).send)
	clerkTells  = core.Handle((*clerk).tell)
	clerkJoins  = core.Handle((*clerk).join)
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
			for range 5 {
				send(clerkSends, nil)
			}
			send(clerkSends, core.ErrMailboxFull)
			send(clerkTells, nil)
			post(core.ErrMailboxFull)
			require.EqualValues(t, 3, server.Stats().Dropped)
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
