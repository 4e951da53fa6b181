package channel_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// hall has peers, and sends them what it is told. It serves connections, too:
//
//	join x      the hall takes the peer in, and answers x
//	tell x      sends ~x to the peer, then answers x
//	two x       answers x, then x once more, as parts, a while apart
//	twolast x   is two, and then closes
//	change x    answers x and speaks next; so does twochange x, behind the second part
//	slow x      answers x after a while
//	big N       answers N bytes
//	last x      answers x and closes
//	never x     answers after an hour
//	tellnever   is tell, and then never
//	both x      answers x, as a part, and sends x to the peer; then x once more, a while later
//	kept x      is join x after a function that is kept
//	bye         closes the peer, and answers nothing any more
type hall struct {
	other core.NoticePort[joining] // that takes peers in
	next  *channel.Protocol[hall, request, reply]
	peers []channel.Peer[reply]
}

// joining is a peer that a hall takes in.
type joining struct{ peer channel.Peer[reply] }

type (
	hallStack struct {
		core.ChannelStack[request, reply]
		room core.Future[core.Room]
		tick core.Future[core.Tick]
		job  core.Future[int]
	}
	joinStack struct{ core.NoticeStack[joining] }
	shoutTo   struct {
		core.AskStack[string, map[error]int]
	}
)

var (
	hallServe = channel.Handle((*hall).serve)
	hallJoin  = core.HandleNotice((*hall).join)
	hallShout = core.Handle((*hall).shout)
	hallPart  = core.Handle((*hall).part)
)

func (h *hall) serve(s *hallStack) core.Yield {
	verb, rest, _ := bytes.Cut(s.Req.line, space)
	switch string(verb) {
	case "join":
		if err := h.other.Notice(s, joining{s.Peer()}); err != nil {
			return s.Throw(err)
		}
	case "tell":
		if err := s.Peer().Notice(s, reply{append([]byte("~"), rest...)}); err != nil {
			return s.Throw(err)
		}
	case "change":
		channel.Upgrade(s, h.next)
	case "two", "twolast", "twochange":
		s.Part(&s.room, reply{rest})
		return core.Suspend(s, (*hall).second)
	case "slow":
		core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
		return core.Suspend(s, (*hall).done)
	case "big":
		n, _ := number(rest)
		return s.Return(reply{bytes.Repeat([]byte{'b'}, n)})
	case "kept": // goes on when the client has gone
		core.OffloadKept(s, &s.job, nil, 0, func(context.Context, int) (int, error) { return 0, nil })
		return core.Suspend(s, (*hall).kept)
	case "both": // a part, then a message
		text := s.Copy(rest)
		s.Part(&s.room, reply{rest})
		if err := s.Peer().Notice(s, reply{text}); err != nil {
			return s.Throw(err)
		}
		return core.Suspend(s, (*hall).second)
	case "never", "tellnever":
		if string(verb) == "tellnever" {
			s.Peer().Notice(s, reply{rest})
		}
		core.Timer.Ask(s, &s.tick, time.Hour)
		return core.Suspend(s, (*hall).done)
	case "last":
		return s.ReturnLast(reply{rest})
	case "bye":
		if err := s.Peer().Close(s); err != nil {
			return s.Throw(err)
		}
		core.Timer.Ask(s, &s.tick, time.Hour)
		return core.Suspend(s, (*hall).done)
	}
	return s.Return(reply{rest})
}

func (h *hall) second(s *hallStack) core.Yield {
	core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
	return core.Suspend(s, (*hall).done)
}

func (h *hall) done(s *hallStack) core.Yield {
	verb, rest, _ := bytes.Cut(s.Req.line, space)
	switch string(verb) {
	case "twolast":
		return s.ReturnLast(reply{rest})
	case "twochange":
		channel.Upgrade(s, h.next)
	}
	return s.Return(reply{rest})
}

func (h *hall) kept(s *hallStack) core.Yield {
	if err := h.other.Notice(s, joining{s.Peer()}); err != nil {
		return s.Throw(err)
	}
	return h.done(s)
}

func (h *hall) join(s *joinStack) core.Yield {
	if slices.Contains(h.peers, s.Msg.peer) {
		return s.Return()
	}
	h.peers = append(h.peers, s.Msg.peer)
	return s.Return()
}

// shout tells all peers, and answers how often each error came.
func (h *hall) shout(s *shoutTo) core.Yield {
	errs := map[error]int{}
	for _, p := range h.peers {
		errs[p.Notice(s, reply{[]byte(s.Req)})]++
	}
	return s.Return(errs)
}

// part tells all peers, closes them, and answers how often each error came.
func (h *hall) part(s *shoutTo) core.Yield {
	errs := map[error]int{}
	for _, p := range h.peers {
		errs[p.Notice(s, reply{[]byte(s.Req)})]++
		errs[p.Close(s)]++
	}
	return s.Return(errs)
}

// openHall has a simulation serve a hall on the first worker. Its peers join the hall on the worker
// with the number at.
func openHall(t *testing.T, seed uint64, workers, at int, set func(*config)) (*housetest.Sim, *channel.Server[request, reply], core.Port[string, map[error]int]) {
	sim, server, far := openHallAt(t, seed, workers, at, set)
	return sim, server, hallShout.At(far)
}

// openHallAt is openHall, and returns the hall that the peers join.
func openHallAt(t *testing.T, seed uint64, workers, at int, set func(*config)) (*housetest.Sim, *channel.Server[request, reply], core.Address[hall]) {
	sim := housetest.New(t, seed, house.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	far := core.Spawn(sim.Workers()[at], func() *hall { return &hall{} })
	near := core.Spawn(sim.Workers()[0], func() *hall { return &hall{other: hallJoin.At(far)} })
	c := config{Network: "tcp", Address: "127.0.0.1:80", Codec: newLineCodec}
	if set != nil {
		set(&c)
	}
	server, err := channel.Listen(t.Context(), c, hallServe, near)
	require.NoError(t, err)
	return sim, server, far
}

// says has the client say something, and requires what it gets in a millisecond.
func says(t *testing.T, sim *housetest.Sim, p *housetest.Peer, say, want string) {
	t.Helper()
	require.Equal(t, len(say), p.Write([]byte(say)))
	sim.Run(time.Millisecond)
	require.Equal(t, want, string(p.Read(1<<20)))
}

func TestPush(t *testing.T) {
	for at := range 2 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			sim, server, shout := openHall(t, 1, 2, at, nil)
			p := sim.Net.Dial(server.Addr())
			sim.Run(time.Millisecond)
			says(t, sim, p, "join x\ntell y\nz z\n", "x\n~y\ny\nz\n")
			_, err := housetest.Ask(t, sim, shout, "hear")
			require.NoError(t, err)
			says(t, sim, p, "", "hear\n")

			// behind what is there, and before what isn't yet
			says(t, sim, p, "slow a\nb b\n", "")
			housetest.Ask(t, sim, shout, "hear")
			says(t, sim, p, "", "hear\n")
			sim.Run(20 * time.Millisecond)
			says(t, sim, p, "", "a\nb\n")

			// not between parts
			says(t, sim, p, "two c\nd d\n", "c\n")
			housetest.Ask(t, sim, shout, "hear")
			housetest.Ask(t, sim, shout, "this")
			says(t, sim, p, "", "")
			sim.Run(20 * time.Millisecond)
			says(t, sim, p, "", "c\nhear\nthis\nd\n")

			says(t, sim, p, "e e\nbye\nf f\n", "e\n")
			require.Equal(t, io.EOF, p.Err())
			p.Close()
			sim.Run(time.Millisecond)
			errs, err := housetest.Ask(t, sim, shout, "gone")
			require.NoError(t, err)
			require.Equal(t, map[error]int{core.ErrStopped: 1}, errs)
			require.Zero(t, server.Stats().Conns)
			require.NoError(t, server.Close(t.Context()))
		})
	}
}

// TestPushIsBounded: a client that doesn't read costs OutputMax bytes, and a message.
func TestPushIsBounded(t *testing.T) {
	for at := range 2 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			sim, server, shout := openHall(t, 1, 2, at, func(c *config) { c.OutputMax, c.WriteTimeout = 1000, time.Minute })
			sim.Net.Faults.Window = 100
			p := sim.Net.Dial(server.Addr())
			sim.Run(time.Millisecond)
			says(t, sim, p, "join x\n", "x\n")
			text := strings.Repeat("m", 99)
			took := 0
			for range 20 {
				errs, err := housetest.Ask(t, sim, shout, text)
				require.NoError(t, err)
				took += errs[nil]
				require.Equal(t, 1, errs[nil]+errs[core.ErrMailboxFull])
			}
			require.Equal(t, 11, took, "a window, and OutputMax")
			for range 11 {
				got := ""
				for i := 0; len(got) < 100 && i < 10; i++ {
					got += string(p.Read(100 - len(got)))
					sim.Run(time.Millisecond)
				}
				require.Equal(t, text+"\n", got)
			}
			says(t, sim, p, "y y\n", "y\n")
			errs, _ := housetest.Ask(t, sim, shout, text)
			require.Equal(t, map[error]int{nil: 1}, errs, "there is room again")
			for range 20 {
				housetest.Ask(t, sim, shout, text)
			}
			sim.Run(2 * time.Minute)
			require.Zero(t, server.Stats().Conns, "WriteTimeout")
			errs, _ = housetest.Ask(t, sim, shout, text)
			require.Equal(t, map[error]int{core.ErrStopped: 1}, errs)
			require.NoError(t, server.Close(t.Context()))
		})
	}
}

// TestPushPanics: a panic of the codec costs the connection, and not who sends.
// TestMessagesDontKeepResults: where both wait for a client that reads little by little, room goes
// to both.
func TestMessagesDontKeepResults(t *testing.T) {
	sim, server, shout := openHall(t, 1, 1, 0, func(c *config) { c.OutputMax, c.WriteTimeout = 1000, time.Minute })
	sim.Net.Faults.Window = 100
	p := sim.Net.Dial(server.Addr())
	sim.Run(time.Millisecond)
	says(t, sim, p, "join x\n", "x\n")
	message, line := strings.Repeat("m", 49), "z "+strings.Repeat("z", 47)+"\n"
	const lines = 100
	asked, got := 0, ""
	for rounds := 0; strings.Count(got, line[2:]) < lines; rounds++ {
		require.Less(t, rounds, 1000, "%d of %d results", strings.Count(got, line[2:]), lines)
		for asked < lines*len(line) {
			n := p.Write([]byte(line[asked%len(line):]))
			if asked += n; n == 0 {
				break
			}
		}
		for full := 0; full == 0; {
			errs, err := housetest.Ask(t, sim, shout, message)
			require.NoError(t, err)
			full = errs[core.ErrMailboxFull]
		}
		sim.Run(time.Millisecond)
		got += string(p.Read(1 << 20))
	}
	require.Positive(t, strings.Count(got, message))
	require.NoError(t, server.Close(t.Context()))
}

func TestPushPanics(t *testing.T) {
	for at := range 2 {
		sim, server, shout := openHall(t, 1, 2, at, nil)
		p, q := sim.Net.Dial(server.Addr()), sim.Net.Dial(server.Addr())
		sim.Run(time.Millisecond)
		says(t, sim, p, "join x\n", "x\n")
		_, err := housetest.Ask(t, sim, shout, "encode-panic")
		require.NoError(t, err)
		sim.Run(time.Millisecond)
		require.Error(t, p.Err())
		says(t, sim, q, "y y\n", "y\n")
		require.EqualValues(t, 1, server.Stats().Conns)
		require.NoError(t, server.Close(t.Context()))
	}
}

// TestPushBehindTheLast: what a client expects to be the last is the last.
func TestPushBehindTheLast(t *testing.T) {
	sim, server, _ := openHall(t, 1, 1, 0, nil)
	p := sim.Net.Dial(server.Addr())
	sim.Run(time.Millisecond)
	says(t, sim, p, "last x\ntell y\n", "x\n")
	require.EqualValues(t, 1, server.Stats().Dropped)
	p.Close()
	require.NoError(t, server.Close(t.Context()))
}

// TestCloseBehindTheClientsEnd: who has ended its side still waits for results, until Close.
func TestCloseBehindTheClientsEnd(t *testing.T) {
	sim, server, hall := openHallAt(t, 1, 2, 1, nil)
	p := sim.Net.Dial(server.Addr())
	sim.Run(time.Millisecond)
	says(t, sim, p, "join x\nnever y\n", "x\n")
	p.End()
	sim.Run(time.Millisecond)
	errs, err := housetest.Ask(t, sim, hallPart.At(hall), "z")
	require.NoError(t, err)
	require.Equal(t, map[error]int{core.ErrStopped: 1, nil: 1}, errs)
	sim.Run(time.Millisecond)
	require.Zero(t, server.Stats().Conns)
	require.NoError(t, server.Close(t.Context()))
}

// TestCloseBehindAPart: what waits for the end of a result that is cancelled isn't sent.
func TestCloseBehindAPart(t *testing.T) {
	sim, server, hall := openHallAt(t, 1, 2, 1, nil)
	p := sim.Net.Dial(server.Addr())
	sim.Run(time.Millisecond)
	says(t, sim, p, "join x\ntwo y\n", "x\ny\n")
	errs, err := housetest.Ask(t, sim, hallPart.At(hall), "z")
	require.NoError(t, err)
	require.Equal(t, map[error]int{nil: 2}, errs)
	says(t, sim, p, "", "")
	require.Equal(t, io.EOF, p.Err())
	p.Close()
	require.NoError(t, server.Close(t.Context()))
}

// TestPeerOfOneThatHasGone: who gets the Peer of a connection that has closed is told so.
func TestPeerOfOneThatHasGone(t *testing.T) {
	sim, server, shout := openHall(t, 1, 2, 1, nil)
	p := sim.Net.Dial(server.Addr())
	sim.Run(time.Millisecond)
	p.Write([]byte("kept x\n"))
	for range 4 {
		sim.Turn()
	}
	p.Write([]byte("decode-panic\n"))
	sim.Run(time.Second)
	require.Zero(t, server.Stats().Conns)
	errs, err := housetest.Ask(t, sim, shout, "z")
	require.NoError(t, err)
	require.Equal(t, map[error]int{core.ErrStopped: 1}, errs)
	require.NoError(t, server.Close(t.Context()))
}

// TestPeersOfManyThreads: other goroutines use a Peer while its connection works.
func TestPeersOfManyThreads(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 2}, nil)
	c := w.dial()
	c.send("whose x")
	c.expect("whose x")
	var peer channel.Peer[reply]
	for _, at := range w.fronts {
		if p, err := core.Ask(w.ctx, frontPeer.At(at), struct{}{}); err == nil && p != (channel.Peer[reply]{}) {
			peer = p
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 1000 {
			peer.Post(reply{[]byte("message")})
			peer.Addr()
		}
	}()
	for range 100 {
		c.send("x")
		for line := ""; line != "x\n"; {
			var err error
			line, err = c.r.ReadString('\n')
			require.NoError(t, err)
		}
	}
	<-done
}

// TestPushBehindAPart: bytes of a step live until it ends, though a part that it has offered could
// be written.
func TestPushBehindAPart(t *testing.T) {
	sim, server, _ := openHall(t, 1, 1, 0, nil)
	p := sim.Net.Dial(server.Addr())
	sim.Run(time.Millisecond)
	require.Equal(t, 7, p.Write([]byte("both x\n")))
	sim.Run(20 * time.Millisecond)
	require.Equal(t, "x\nx\nx\n", string(p.Read(100)))
	p.Close()
	require.NoError(t, server.Close(t.Context()))
}

func TestPeersCompare(t *testing.T) {
	require.Equal(t, channel.Peer[reply]{}, channel.Peer[reply]{})
	require.Panics(t, func() { channel.Peer[reply]{}.Post(reply{}) })
}

// TestPushSimulations: clients whose connections get messages from all sides get results in the
// order of requests, messages of each sender in its order, and neither in the middle of the other.
func TestPushSimulations(t *testing.T) {
	pushed := 0
	for seed := range seeds() / 2 {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			workers := 1 + rng.IntN(3)
			sim, server, shout := openHall(t, seed, workers, rng.IntN(workers), func(c *config) {
				c.OutputMax, c.InflightMax = rng.IntN(1<<rng.IntN(12)), rng.IntN(10)
			})
			faults := housetest.Draw(rng)
			faults.Resets = 0
			sim.Net.Faults = faults
			type member struct {
				peer *housetest.Peer
				got  []byte
				want []string // results
			}
			var all []*member
			for range 1 + rng.IntN(4) {
				all = append(all, &member{peer: sim.Net.Dial(server.Addr())})
			}
			read := func() {
				for _, m := range all {
					m.got = append(m.got, m.peer.Read(1<<rng.IntN(12))...)
				}
			}
			var calls []core.Pending[map[error]int]
			for i := range rng.IntN(300) {
				switch rng.IntN(3) {
				case 0:
					calls = append(calls, core.Begin(shout, fmt.Sprintf("#%d", i)))
				case 1:
					m := all[rng.IntN(len(all))]
					verb := []string{"join", "two", "slow", "x"}[rng.IntN(4)]
					if line := fmt.Sprintf("%s %d\n", verb, i); m.peer.Write([]byte(line)) == len(line) {
						m.want = append(m.want, fmt.Sprint(i))
						if verb == "two" {
							m.want = append(m.want, fmt.Sprint(i))
						}
					} else {
						m.peer.Close() // a part of a line was sent
						all = remove(all, m)
						if len(all) == 0 {
							all = append(all, &member{peer: sim.Net.Dial(server.Addr())})
						}
					}
				}
				for range rng.IntN(5) {
					sim.Turn()
				}
				if rng.IntN(10) == 0 {
					sim.Run(time.Duration(rng.IntN(1 << rng.IntN(25))))
				}
				read()
			}
			sim.Net.Faults = housetest.Faults{}
			for range 100 {
				sim.Run(100 * time.Millisecond)
				read()
			}
			for range 20 {
				sim.Run(time.Second)
				for _, m := range all {
					m.got = append(m.got, m.peer.Read(1<<20)...)
				}
			}
			for _, c := range calls {
				_, err := c.Get()
				require.NoError(t, err)
			}
			for _, m := range all {
				var results []string
				last, inTwo := -1, ""
				for line := range strings.Lines(string(m.got)) {
					line = strings.TrimSuffix(line, "\n")
					if text, is := strings.CutPrefix(line, "#"); is {
						n, _ := number([]byte(text))
						require.Greater(t, n, last, "seed %d: messages in another order", seed)
						last = n
						pushed++
						require.Empty(t, inTwo, "seed %d: a message between parts", seed)
						continue
					}
					results = append(results, line)
					if inTwo == line {
						inTwo = ""
					} else if i := len(results); i < len(m.want) && m.want[i] == line {
						inTwo = line
					}
				}
				require.Equal(t, m.want, results, "seed %d", seed)
			}
			require.NoError(t, server.Close(t.Context()))
		})
	}
	require.NotZero(t, pushed)
}

func remove[T comparable](all []T, x T) (left []T) {
	for _, y := range all {
		if y != x {
			left = append(left, y)
		}
	}
	return left
}
