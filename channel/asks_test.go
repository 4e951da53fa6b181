package channel_test

import (
	"fmt"
	"io"
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

// scribe sends texts to the peers that have joined, and counts how often it hears of their ends.
type scribe struct {
	others []core.NoticePort[joining] // scribes that get the peers, too
	peers  []channel.Peer[reply]
	ends   map[channel.Peer[reply]]int
}

// draft is what a scribe does in one step. Of the words
//
//	!x      is sent by Ask
//	/close  closes the peer
//	/end    ends this side of it
//	x       is sent by Notice
type draft struct {
	words  string
	within time.Duration // for each Ask; 0: the default
	before int           // to which peer: so many before the last one
}

type scribeStack struct {
	core.AskStack[draft, []error]
	written [32]core.Future[core.Written]
	errs    []error
}

type (
	scribeJoin struct{ core.NoticeStack[joining] }
	scribeHear struct {
		core.NoticeStack[channel.Closed[reply]]
	}
	scribeTell struct{ core.AskStack[struct{}, []int] }
)

var (
	scribeWrites = core.Handle((*scribe).write)
	scribeTells  = core.Handle((*scribe).tell)
	scribeJoins  = core.HandleNotice((*scribe).join)
	scribeHears  = core.HandleNotice((*scribe).hear)
)

func (c *scribe) join(s *scribeJoin) core.Yield {
	c.peers = append(c.peers, s.Msg.peer)
	channel.Watch(s, s.Msg.peer, scribeHears)
	for _, other := range c.others {
		other.Notice(s, s.Msg)
	}
	return s.Return()
}

func (c *scribe) hear(s *scribeHear) core.Yield {
	c.ends[s.Msg.Peer]++
	return s.Return()
}

// tell answers how often each peer has ended.
func (c *scribe) tell(s *scribeTell) core.Yield {
	counts := []int{}
	for _, p := range c.peers {
		counts = append(counts, c.ends[p])
	}
	return s.Return(counts)
}

// write does what it is told, and answers how each word has ended.
func (c *scribe) write(s *scribeStack) core.Yield {
	waits, peer := false, c.peers[len(c.peers)-1-s.Req.before]
	for i, word := range strings.Fields(s.Req.words) {
		var err error
		text, asks := strings.CutPrefix(word, "!")
		switch f := &s.written[i]; {
		case word == "/close":
			err = peer.Close(s)
		case word == "/end":
			err = peer.End(s)
		case !asks:
			err = peer.Notice(s, reply{[]byte(word)})
		case s.Req.within != 0:
			peer.AskWithin(s, f, reply{s.Copy([]byte(text))}, s.Req.within)
		default:
			peer.Ask(s, f, reply{s.Copy([]byte(text))})
		}
		s.errs, waits = append(s.errs, err), waits || asks
	}
	if !waits {
		return s.Return(s.errs)
	}
	return core.Suspend(s, (*scribe).wrote)
}

func (c *scribe) wrote(s *scribeStack) core.Yield {
	for i := range s.errs {
		if f := &s.written[i]; f.Ready() {
			_, s.errs[i] = f.Get()
		}
	}
	return s.Return(s.errs)
}

func newScribe() *scribe { return &scribe{ends: map[channel.Peer[reply]]int{}} }

// study is a simulation of a hall on the first worker, whose peers a scribe gets.
type study struct {
	*housetest.Sim
	*server
	t  *testing.T
	at core.Address[scribe]
}

// newStudy makes a study on two workers, with the scribe on one of them.
func newStudy(t *testing.T, at int, set func(*config)) *study {
	sim := housetest.New(t, 1, house.Config{Workers: 2, Logger: slog.New(slog.DiscardHandler)})
	writer := core.Spawn(sim.Workers()[at], newScribe)
	next, err := channel.NewProtocol(config{Network: "tcp", Codec: newLineCodec}, hallServe)
	require.NoError(t, err)
	near := core.Spawn(sim.Workers()[0], func() *hall { return &hall{other: scribeJoins.At(writer), next: next} })
	c := config{Network: "tcp", Address: "127.0.0.1:80", Codec: newLineCodec}
	if set != nil {
		set(&c)
	}
	server, err := channel.Listen(t.Context(), c, hallServe, near)
	require.NoError(t, err)
	return &study{sim, server, t, writer}
}

// inStudies runs f where the scribe is on the worker of the connection, and on another.
func inStudies(t *testing.T, set func(*config), f func(t *testing.T, s *study)) {
	for at := range 2 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			s := newStudy(t, at, set)
			f(t, s)
			require.NoError(t, s.Close(t.Context()))
			s.Run(10 * time.Second)
			require.NoError(t, s.Shutdown(t.Context()))
		})
	}
}

// dial returns the other end of the connection that the scribe writes to.
func (s *study) dial() *housetest.Peer {
	p := s.Net.Dial(s.Addr())
	s.Run(time.Millisecond)
	says(s.t, s.Sim, p, "join x\n", "x\n")
	return p
}

// begin has the scribe do something.
func (s *study) begin(words string) core.Pending[[]error] {
	return s.beginWithin(words, 0)
}

func (s *study) beginWithin(words string, within time.Duration) core.Pending[[]error] {
	call := core.Begin(scribeWrites.At(s.at), draft{words: words, within: within})
	s.Run(time.Millisecond)
	return call
}

// ends requires that a call has ended, and how each of its words has.
func (s *study) ends(call core.Pending[[]error], want ...error) {
	s.t.Helper()
	require.True(s.t, call.Ready())
	errs, err := call.Get()
	require.NoError(s.t, err)
	require.Len(s.t, errs, len(want))
	for i := range want {
		require.ErrorIs(s.t, errs[i], want[i], "word %d", i)
	}
}

// read has the peer read n bytes, as they come.
func (s *study) read(p *housetest.Peer, n int) (got string) {
	s.t.Helper()
	for range 1000 {
		if len(got) == n {
			break
		}
		got += string(p.Read(n - len(got)))
		s.Run(time.Millisecond)
	}
	require.Len(s.t, got, n)
	return got
}

// TestAsk: in order with what is sent before and behind, and with results.
func TestAsk(t *testing.T) {
	inStudies(t, nil, func(t *testing.T, s *study) {
		p := s.dial()
		call := s.begin("a !b c !d e")
		says(t, s.Sim, p, "y y\n", "a\nb\nc\nd\ne\ny\n")
		s.ends(call, nil, nil, nil, nil, nil)

		// behind what is there, and before what isn't yet
		says(t, s.Sim, p, "slow z\nz z\n", "")
		call = s.begin("!f")
		says(t, s.Sim, p, "", "f\n")
		s.ends(call, nil)
		s.Run(20 * time.Millisecond)
		says(t, s.Sim, p, "", "z\nz\n")
	})
}

// TestAskWithinNoTime: a limit that is over before the message is sent isn't the default one.
func TestAskWithinNoTime(t *testing.T) {
	inStudies(t, func(c *config) { c.OutputMax = 1000 }, func(t *testing.T, s *study) {
		p := s.dial()
		s.Net.Faults.Window = 100
		text := strings.Repeat("m", 1999)
		full := s.begin(text)
		late := s.beginWithin("!x", -time.Second)
		s.Run(time.Millisecond)
		s.ends(late, core.ErrTimeout)
		require.Equal(t, text+"\n", s.read(p, 2000))
		says(t, s.Sim, p, "y y\n", "y\n")
		s.ends(full, nil)
	})
}

// TestAskIsAnsweredWhenAllIsTaken: and not before.
func TestAskIsAnsweredWhenAllIsTaken(t *testing.T) {
	inStudies(t, nil, func(t *testing.T, s *study) {
		p := s.dial()
		s.Net.Faults.Window = 100
		text := strings.Repeat("m", 499)
		first, second := s.begin(text+" !"+text), s.begin("!x")
		got := s.read(p, 899)
		require.False(t, first.Ready(), "a byte isn't taken")
		got += s.read(p, 1)
		s.ends(first, nil, nil)
		require.False(t, second.Ready())
		got += s.read(p, 1)
		require.False(t, second.Ready())
		got += s.read(p, 1)
		s.ends(second, nil)
		require.Equal(t, text+"\n"+text+"\nx\n", got+s.read(p, 100))
	})
}

// TestAskWaitsForRoom: messages that wait keep their order, nothing overtakes them, and there are
// Config.PendingMax at most.
func TestAskWaitsForRoom(t *testing.T) {
	inStudies(t, func(c *config) { c.OutputMax, c.PendingMax = 1000, 2 }, func(t *testing.T, s *study) {
		p := s.dial()
		s.Net.Faults.Window = 100
		text := strings.Repeat("m", 1099)
		s.ends(s.begin(text), nil)
		calls := []core.Pending[[]error]{s.begin("!a"), s.begin("!b"), s.begin("!c"), s.begin("d")}
		s.ends(calls[2], core.ErrMailboxFull)
		s.ends(calls[3], core.ErrMailboxFull)
		require.False(t, calls[0].Ready() || calls[1].Ready())
		require.EqualValues(t, 2, s.Stats().Dropped)
		require.Equal(t, text+"\na\nb\n", s.read(p, 1104))
		s.ends(calls[0], nil)
		s.ends(calls[1], nil)
		s.ends(s.begin("e !f"), nil, nil)
		require.Equal(t, "e\nf\n", s.read(p, 4))
	})
}

// TestAskGivenUp: who waits for room and gives up isn't sent, and holds nobody up.
func TestAskGivenUp(t *testing.T) {
	inStudies(t, func(c *config) { c.OutputMax, c.PendingMax = 1000, 2 }, func(t *testing.T, s *study) {
		p := s.dial()
		s.Net.Faults.Window = 100
		text := strings.Repeat("m", 1099)
		s.ends(s.begin(text), nil)
		late := s.beginWithin("!a !b", 10*time.Millisecond)
		s.Run(20 * time.Millisecond)
		s.ends(late, core.ErrTimeout, core.ErrTimeout)
		call := s.begin("!c")
		require.False(t, call.Ready(), "it has a place")
		require.Equal(t, text+"\nc\n", s.read(p, 1102))
		s.ends(call, nil)

		// what was encoded leaves
		late = s.beginWithin("!"+text, 10*time.Millisecond)
		s.Run(20 * time.Millisecond)
		s.ends(late, core.ErrTimeout)
		require.Equal(t, text+"\n", s.read(p, 1100))
	})
}

// TestAsksEndWithTheConnection: each once, and it is known which may have arrived.
func TestAsksEndWithTheConnection(t *testing.T) {
	inStudies(t, func(c *config) { c.OutputMax = 1000 }, func(t *testing.T, s *study) {
		for i, end := range []func(p *housetest.Peer){
			func(p *housetest.Peer) { p.Reset() },
			func(p *housetest.Peer) { p.Write([]byte("decode-panic\n")) },
			func(p *housetest.Peer) { p.Write([]byte("x encode-panic\n")) },
			func(p *housetest.Peer) { p.Reset() },
		} {
			s.Net.Faults.Window = 0
			p := s.dial()
			taken := 100
			if i == 3 {
				taken = 120
			}
			s.Net.Faults.Window = taken
			texts := strings.Repeat("!"+strings.Repeat("m", 59)+" ", 20)
			call := s.begin(texts)
			end(p)
			s.Run(time.Second)
			// there is room for 1020 bytes more
			require.True(t, call.Ready(), "end %d", i)
			errs, err := call.Get()
			require.NoError(t, err)
			for i, err := range errs {
				switch {
				case (i+1)*60 <= taken:
					require.NoError(t, err)
				case i*60 < taken:
					require.ErrorIs(t, err, core.ErrLost)
					require.ErrorIs(t, err, core.ErrStopped)
				default:
					require.ErrorIs(t, err, core.ErrNotSent, i)
					require.ErrorIs(t, err, core.ErrStopped)
				}
			}
			s.ends(s.begin("!a b"), core.ErrNotSent, core.ErrStopped)
			require.Zero(t, s.Stats().Conns)
		}
	})
}

// TestAskBehindAPart: what comes amid a result waits for the end of it.
func TestAskBehindAPart(t *testing.T) {
	inStudies(t, nil, func(t *testing.T, s *study) {
		p := s.dial()
		says(t, s.Sim, p, "two a\n", "a\n")
		call := s.begin("b !c d !e")
		require.False(t, call.Ready())
		s.Run(20 * time.Millisecond)
		says(t, s.Sim, p, "", "a\nb\nc\nd\ne\n")
		s.ends(call, nil, nil, nil, nil)

		// where bytes are missing before
		s.Net.Faults.Window = 3
		text := strings.Repeat("t", 9)
		for request := "two " + text + "\n"; request != ""; s.Run(time.Millisecond) {
			request = request[p.Write([]byte(request)):]
		}
		call = s.begin("!f")
		s.Run(20 * time.Millisecond)
		got := s.read(p, 18)
		require.False(t, call.Ready())
		got += s.read(p, 1)
		require.True(t, call.Ready())
		s.ends(call, nil)
		require.Equal(t, text+"\n"+text+"\nf\n", got+s.read(p, 3))

		// which is dropped with its end
		s.Net.Faults.Window = 0
		says(t, s.Sim, p, "two a\n", "a\n")
		call = s.begin("!b /close !c")
		s.ends(call, core.ErrNotSent, nil, core.ErrNotSent)
		says(t, s.Sim, p, "", "")
		require.Equal(t, io.EOF, p.Err())
		p.Close()
	})
}

// TestMessagesBehindAPartAreBounded: also when the part has ended.
func TestMessagesBehindAPartAreBounded(t *testing.T) {
	inStudies(t, func(c *config) { c.OutputMax = 1000 }, func(t *testing.T, s *study) {
		p := s.dial()
		says(t, s.Sim, p, "two a\n", "a\n")
		s.Net.Faults.Window = 1
		text := strings.Repeat("m", 499)
		s.ends(s.begin(text+" "+text), nil, nil)
		s.ends(s.begin("b"), core.ErrMailboxFull)
		call := s.begin("!c")
		s.Run(20 * time.Millisecond)
		s.ends(s.begin("d"), core.ErrMailboxFull)
		s.Net.Faults.Window = 0
		require.Equal(t, "a\n"+text+"\n"+text+"\nc\n", s.read(p, 1004))
		s.ends(call, nil)

		// what waits for room behind a part doesn't keep Close waiting
		says(t, s.Sim, p, "two a\n", "a\n")
		call = s.begin("!" + text + " !" + text + " !b /close")
		s.ends(call, core.ErrNotSent, core.ErrNotSent, core.ErrNotSent, nil)
		p.Close()
	})
}

// TestNothingBehindTheLast: nor what came while that was written in parts.
func TestNothingBehindTheLast(t *testing.T) {
	inStudies(t, nil, func(t *testing.T, s *study) {
		p := s.dial()
		says(t, s.Sim, p, "twolast a\n", "a\n")
		call := s.begin("b !c")
		s.Run(20 * time.Millisecond)
		s.ends(call, nil, core.ErrNotSent)
		says(t, s.Sim, p, "", "a\n")
		require.Equal(t, io.EOF, p.Err())
		p.Close()
	})
}

// TestMessagesBehindResults: no message goes before a result for which there is no room.
func TestMessagesBehindResults(t *testing.T) {
	inStudies(t, func(c *config) { c.OutputMax = 1000 }, func(t *testing.T, s *study) {
		p := s.dial()
		s.Net.Faults.Window = 100
		p.Write([]byte("big 1499\nbig 1499\n"))
		s.Run(time.Millisecond)
		s.ends(s.begin("a"), core.ErrMailboxFull)
		call := s.begin("!b")
		got := s.read(p, 3002)
		s.ends(call, nil)
		require.Equal(t, "b\n", got[3000:])
	})
}

// TestCloseInOrder: behind all that the same step has sent, and that waits for room.
func TestCloseInOrder(t *testing.T) {
	inStudies(t, func(c *config) { c.OutputMax = 1000 }, func(t *testing.T, s *study) {
		p := s.dial()
		says(t, s.Sim, p, "never a\n", "")
		s.ends(s.begin("a /close"), nil, nil)
		s.ends(s.begin("b"), core.ErrStopped)
		says(t, s.Sim, p, "", "a\n")
		require.Equal(t, io.EOF, p.Err())
		p.Close()

		p = s.dial()
		s.Net.Faults.Window = 100
		text := strings.Repeat("m", 1099)
		call := s.begin(text + " !b !c /close !d")
		require.Equal(t, text+"\nb\nc\n", s.read(p, 1104))
		s.ends(call, nil, nil, nil, nil, core.ErrNotSent)
		require.Equal(t, io.EOF, p.Err())
		p.Close()
		s.Run(time.Millisecond)
		require.Zero(t, s.Stats().Conns)
	})
}

// TestAskThatPanics: a panic of the codec costs the connection, and not who sends.
func TestAskThatPanics(t *testing.T) {
	inStudies(t, func(c *config) { c.OutputMax = 1000 }, func(t *testing.T, s *study) {
		p := s.dial()
		s.ends(s.begin("!encode-panic"), core.ErrNotSent)
		require.Error(t, p.Err())

		p = s.dial()
		s.Net.Faults.Window = 100
		call := s.begin("!" + strings.Repeat("m", 1099) + " !encode-panic !a")
		require.False(t, call.Ready())
		p.Read(50)
		s.Run(time.Second)
		s.ends(call, core.ErrLost, core.ErrNotSent, core.ErrNotSent)
		s.Net.Faults.Window = 0
		says(t, s.Sim, s.dial(), "y y\n", "y\n")
	})
}

// TestClientsEndBehindAsks: who has ended its side still gets what waits for room.
func TestClientsEndBehindAsks(t *testing.T) {
	for request, answer := range map[string]string{"": "", "!\n": refusal(errMark)} {
		inStudies(t, func(c *config) { c.OutputMax = 1000 }, func(t *testing.T, s *study) {
			p := s.dial()
			s.Net.Faults.Window = 100
			text := strings.Repeat("m", 1099)
			call := s.begin("!" + text + " !b")
			p.Write([]byte(request))
			p.End()
			s.Run(time.Millisecond)
			require.Equal(t, text+"\nb\n", s.read(p, 1102))
			s.ends(call, nil, nil)
			require.Equal(t, answer, s.read(p, len(answer)))
			require.Equal(t, io.EOF, p.Err())
			p.Close()
		})
	}
}

// TestRequestsBesideMessages: requests are read and handled, whatever messages wait for the client.
func TestRequestsBesideMessages(t *testing.T) {
	inStudies(t, func(c *config) { c.OutputMax = 1000 }, func(t *testing.T, s *study) {
		p := s.dial()
		s.Net.Faults.Window = 100
		text := strings.Repeat("m", 1099)
		call := s.begin("!" + text + " !" + text)
		p.Write([]byte("join y\njoin z\nbye\n"))
		s.Run(time.Millisecond)
		counts, err := housetest.Ask(t, s.Sim, scribeTells.At(s.at), struct{}{})
		require.NoError(t, err)
		require.Len(t, counts, 3)
		require.Equal(t, text+"\ny\nz\n"+text+"\n", s.read(p, 2204))
		s.ends(call, nil, nil)
		require.Equal(t, io.EOF, p.Err())
		p.Close()
	})
}

// TestLastBeforeAStep: a request whose step has found that a result was the last ends, too.
func TestLastBeforeAStep(t *testing.T) {
	sim, server, _ := openHall(t, 1, 1, 0, nil)
	p := sim.Net.Dial(server.Addr())
	sim.Run(time.Millisecond)
	says(t, sim, p, "last x\ntellnever y\n", "x\n")
	require.Equal(t, io.EOF, p.Err())
	p.Close()
	sim.Run(time.Millisecond)
	require.Zero(t, server.Stats().Conns)
	require.NoError(t, server.Close(t.Context()))
}
