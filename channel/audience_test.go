package channel_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// arena has an audience; ticket sellers, one on each worker, have the connections.
type arena struct{ audience *channel.Audience[reply] }

// seller serves connections: "in" and "out" have the arena take the peer in or let it go, "two" is
// answered in two parts, a while apart, "say x" tells x to those who have said "near", and anything
// else is answered at once.
type seller struct {
	arena core.Port[ticket, struct{}]
	near  *channel.Audience[reply]
}

type ticket struct {
	peer channel.Peer[reply]
	in   bool
}

type (
	sellStack struct {
		core.ChannelStack[request, reply]
		sold core.Future[struct{}]
		room core.Future[core.Room]
		tick core.Future[core.Tick]
	}
	ticketStack struct {
		core.AskStack[ticket, struct{}]
	}
	sayStack struct{ core.AskStack[string, int] }
)

var (
	sellerServe = channel.Handle((*seller).serve)
	arenaAdmit  = core.Handle((*arena).admit)
	arenaSay    = core.Handle((*arena).say)
)

func (v *seller) serve(s *sellStack) core.Yield {
	switch verb, rest, _ := bytes.Cut(s.Req.line, space); string(verb) {
	case "in", "out":
		v.arena.Ask(s, &s.sold, ticket{s.Peer(), verb[0] == 'i'})
		return core.Suspend(s, (*seller).sold)
	case "near":
		v.near = channel.NewAudience[reply](newLineCodec())
		if err := v.near.Join(s, s.Peer()); err != nil {
			return s.Throw(err)
		}
	case "say":
		if err := v.near.Notice(s, reply{rest}); err != nil {
			return s.Throw(err)
		}
	case "two":
		s.Part(&s.room, reply{s.Req.line})
		return core.Suspend(s, (*seller).second)
	}
	return s.Return(reply{s.Req.line})
}

func (v *seller) second(s *sellStack) core.Yield {
	core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
	return core.Suspend(s, (*seller).done)
}

func (v *seller) done(s *sellStack) core.Yield { return s.Return(reply{s.Req.line}) }

func (v *seller) sold(s *sellStack) core.Yield {
	if _, err := s.sold.Get(); err != nil {
		return s.Throw(err)
	}
	return s.Return(reply{s.Req.line})
}

func (a *arena) admit(s *ticketStack) core.Yield {
	do := a.audience.Leave
	if s.Req.in {
		do = a.audience.Join
	}
	if err := do(s, s.Req.peer); err != nil {
		return s.Throw(err)
	}
	return s.Return(struct{}{})
}

// say tells the audience, and answers how large it is.
func (a *arena) say(s *sayStack) core.Yield {
	if err := a.audience.Notice(s, reply{[]byte(s.Req)}); err != nil {
		return s.Throw(err)
	}
	return s.Return(a.audience.Len())
}

// openStage has a simulation serve a seller on each worker.
func openStage(t *testing.T, seed uint64, workers int, set func(*config)) (*housetest.Sim, *channel.Server[request, reply], core.Port[string, int]) {
	sim := housetest.New(t, seed, house.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	at := core.Spawn(sim.System, func() *arena { return &arena{channel.NewAudience[reply](newLineCodec())} })
	sellers := core.Replicate(sim.System, func() *seller { return &seller{arena: arenaAdmit.At(at)} })
	c := config{Network: "tcp", Address: "127.0.0.1:80", Codec: newLineCodec, OutputMax: 1 << 30, InflightMax: 1 << 20}
	if set != nil {
		set(&c)
	}
	server, err := channel.Listen(t.Context(), c, sellerServe, sellers.All()...)
	require.NoError(t, err)
	return sim, server, arenaSay.At(at)
}

// TestAudienceBehindAResult: a message isn't lost that comes in the turn in which a result of its
// connection is complete, and not written yet.
func TestAudienceBehindAResult(t *testing.T) {
	sim, server, _ := openStage(t, 1, 1, nil)
	p := sim.Net.Dial(server.Addr())
	sim.Run(time.Millisecond)
	says(t, sim, p, "near\n", "near\n")
	says(t, sim, p, "a\nsay hello\nb\n", "a\nhello\nsay hello\nb\n")
	require.Zero(t, server.Stats().Dropped)
	require.NoError(t, server.Close(t.Context()))
}

func TestAudience(t *testing.T) {
	sim, server, say := openStage(t, 1, 2, func(c *config) { c.OutputMax = 5000 })
	var all []*housetest.Peer
	for range 6 {
		p := sim.Net.Dial(server.Addr())
		sim.Run(time.Millisecond)
		says(t, sim, p, "in\nin\n", "in\nin\n")
		all = append(all, p)
	}
	tell := func(text string) int {
		n, err := housetest.Ask(t, sim, say, text)
		require.NoError(t, err)
		sim.Run(time.Millisecond)
		return n
	}
	long := strings.Repeat("long", 1000) // a slab that they share
	require.Equal(t, 6, tell("hello"))
	require.Equal(t, 6, tell(long))
	require.Equal(t, 6, tell("again"))
	for _, p := range all {
		says(t, sim, p, "x\n", "hello\n"+long+"\nagain\nx\n")
	}
	says(t, sim, all[0], "out\nout\n", "out\nout\n")
	all[1].Close()
	sim.Run(time.Millisecond)
	require.Equal(t, 4, tell("left"))
	says(t, sim, all[0], "", "")
	for _, p := range all[2:] {
		says(t, sim, p, "", "left\n")
	}

	says(t, sim, all[2], "two\n", "two\n")
	tell("not between")
	says(t, sim, all[2], "", "")
	sim.Run(20 * time.Millisecond)
	says(t, sim, all[2], "", "two\nnot between\n")

	sim.Net.Faults.Window = 10
	for range 5 {
		tell(long)
	}
	require.NotZero(t, server.Stats().Dropped, "they don't read")
	require.NoError(t, server.Close(t.Context()))
	require.Zero(t, tell("nobody"))
}

// TestSharedBytesStay: results behind a message that all send from one slab aren't written there.
func TestSharedBytesStay(t *testing.T) {
	sim, server, say := openStage(t, 1, 1, nil)
	var all []*housetest.Peer
	for range 3 {
		p := sim.Net.Dial(server.Addr())
		sim.Run(time.Millisecond)
		says(t, sim, p, "in\n", "in\n")
		all = append(all, p)
	}
	sim.Net.Faults.Window = 100
	long := strings.Repeat("long", 1000)
	_, err := housetest.Ask(t, sim, say, long)
	require.NoError(t, err)
	for i, p := range all {
		p.Write(fmt.Appendln(nil, i))
	}
	sim.Run(time.Millisecond)
	for i, p := range all {
		got := ""
		for range 100 {
			got += string(p.Read(1000))
			sim.Run(time.Millisecond)
		}
		require.Equal(t, long+fmt.Sprintf("\n%d\n", i), got)
	}
	require.NoError(t, server.Close(t.Context()))
}

// TestAudienceSimulations: each connection hears exactly what is said between its coming in and its
// going out.
func TestAudienceSimulations(t *testing.T) {
	heard := 0
	for seed := range seeds() / 2 {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			sim, server, say := openStage(t, seed, 1+rng.IntN(3), nil)
			faults := housetest.Draw(rng)
			faults.Resets = 0
			sim.Net.Faults = faults
			type listener struct {
				peer *housetest.Peer
				got  []byte
				in   bool
				gone bool
			}
			all := make([]*listener, 1+rng.IntN(8))
			for i := range all {
				all[i] = &listener{peer: sim.Net.Dial(server.Addr())}
			}
			said := 0
			settle := func() {
				for range 200 {
					sim.Run(20 * time.Millisecond)
					for _, l := range all {
						l.got = append(l.got, l.peer.Read(1<<rng.IntN(16))...)
					}
				}
			}
			wants := make([]string, len(all))
			for range rng.IntN(15) {
				for i, l := range all { // each comes, goes, or leaves
					switch {
					case l.gone || rng.IntN(3) > 0 || !l.peer.Connected():
					case rng.IntN(10) == 0:
						l.gone = true
						l.peer.Close()
					default:
						line := "in\n"
						if l.in {
							line = "out\n"
						}
						if l.peer.Write([]byte(line)) == len(line) {
							l.in = !l.in
							wants[i] += line
						} else {
							l.gone = true
							l.peer.Close()
						}
					}
				}
				settle()
				var calls []core.Pending[int]
				for range rng.IntN(10) {
					text := fmt.Sprintf("%d%s", said, strings.Repeat("z", rng.IntN(1<<rng.IntN(13))))
					said++
					calls = append(calls, core.Begin(say, text))
					for range rng.IntN(3) {
						sim.Turn()
					}
					for i, l := range all {
						if l.in && !l.gone {
							wants[i] += text + "\n"
						}
					}
				}
				settle()
				for _, c := range calls {
					_, err := c.Get()
					require.NoError(t, err)
				}
			}
			sim.Net.Faults = housetest.Faults{}
			settle()
			for i, l := range all {
				if !l.gone {
					l.got = append(l.got, l.peer.Read(1<<30)...)
					require.Equal(t, wants[i], string(l.got), "seed %d", seed)
					heard += len(l.got)
				}
			}
			require.NoError(t, server.Close(t.Context()))
		})
	}
	require.NotZero(t, heard)
}
