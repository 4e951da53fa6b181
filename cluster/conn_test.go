package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestFullConnectionIsClosed: a connection that takes no more is closed all the same.
func TestFullConnectionIsClosed(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	c.sim.Run(2 * time.Second)
	one := c.here.self.links["there"].conns[0]
	one.full = true
	one.shut()
	c.sim.Run(time.Millisecond)
	require.Nil(t, one.of)
	require.NotContains(t, c.here.self.links["there"].conns, one)
}

// TestRoomByHello: the HELLO of the next connection says what was read over the one before, of
// which no ACK came, and what waits for room goes on at once.
func TestRoomByHello(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 1) // so that it is declared
	c.sim.Run(5 * time.Second)
	c.there.self.links["here"].conns[0].full = true // it says no more
	k := c.track()
	for k.tryAppend((&frame.Cancel{}).Append(nil)) {
	}
	typed, _ := core.As[counter](far)
	typed.Pause()
	c.sim.Run(500 * time.Millisecond)
	require.Equal(t, k.out.Left().End, c.there.self.links["here"].tracks[0].in.Position())
	require.NotNil(t, k.debts.first)
	c.sim.Net.Break(c.there.Addr())
	c.sim.Run(500 * time.Millisecond)
	c.conns(1)
	require.Nil(t, k.debts.first)
}

// TestDialAgainForWhoWaits: a connection that is lost while an answer is outstanding is dialled
// again at once.
func TestDialAgainForWhoWaits(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	ask := core.Begin(add.At(far), addReq{-1})
	c.sim.Run(2100 * time.Millisecond) // shortly behind a PING
	c.sim.Net.Break(c.there.Addr())
	c.sim.Run(200 * time.Millisecond)
	c.conns(1)
	require.False(t, ask.Ready())
	c.sim.Run(2 * time.Hour)
	_, err := ask.Get()
	require.NoError(t, err)
}

// TestFramesCutShort: a frame that can't be read is an error, of whatever kind it is.
func TestFramesCutShort(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	for kind := frame.KindTell; kind <= frame.KindPacked; kind++ {
		if kind != frame.KindHello && kind != frame.KindPing { // a connection has read them
			require.Error(t, k.do(frame.Raw{Kind: kind, Body: []byte{0xff}}), "kind %d", kind)
		}
	}
}

// TestByeOfAnotherCode says nothing that this node knows: the session goes on.
func TestByeOfAnotherCode(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	require.NoError(t, c.track().do(frameOf(t, (&frame.Bye{Code: byeEnds + 1}).Append(nil))))
	_, err := housetest.Ask(t, c.sim, add.At(far), addReq{1})
	require.NoError(t, err)
	require.NoError(t, c.track().do(frameOf(t, (&frame.Bye{Code: byeEnds}).Append(nil))))
	_, err = housetest.Ask(t, c.sim, add.At(far), addReq{1})
	require.ErrorIs(t, err, ErrNodeLost)
}

func frameOf(t *testing.T, f []byte) frame.Raw {
	t.Helper()
	raw, _, err := frame.Next(f)
	require.NoError(t, err)
	return raw
}

// TestNoHello: what begins as no HELLO does is refused at once.
func TestNoHello(t *testing.T) {
	c := newCalm(t)
	for _, says := range []string{"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00"} {
		_, err := newConn(c.there.self, nil).Decode([]byte(says), nil)
		require.Error(t, err)
		require.NotErrorIs(t, err, channel.ErrSkip)
	}
}

// TestNothingIsKeptOfASession: who has an address of one that is over keeps its track, but nothing
// that this has known.
func TestNothingIsKeptOfASession(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.find(c.there, "here")
	_, err := housetest.Ask(t, c.sim, add.At(far), addReq{1})
	require.NoError(t, err)
	k := c.track()
	require.True(t, len(k.standIns) > 0 && len(k.slots) > 0 && len(k.theirs) > 0 && len(k.refs) > 0)
	require.NoError(t, k.do(frameOf(t, (&frame.Bye{Code: byeEnds}).Append(nil))))
	require.Nil(t, k.standIns)
	require.Nil(t, k.slots)
	require.Nil(t, k.free)
	require.Nil(t, k.serving)
	require.Nil(t, k.refs)
	require.Nil(t, k.theirs)
	require.Nil(t, k.byMine)
	require.Nil(t, k.conn)
}

// TestNothingWaitsInASessionThatIsOver: what waited for room, or was written in part, isn't kept.
func TestNothingWaitsInASessionThatIsOver(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	other := c.second()
	k := c.track()
	c.cut()
	require.NoError(t, core.Notice(tells.At(far), padded(0, 10<<20)))
	ask := core.Begin(echo.At(far), make([]byte, 10<<20))
	c.sim.Run(time.Millisecond)
	for k.tryAppend((&frame.Cancel{}).Append(nil)) {
	}
	typed, _ := core.As[counter](far)
	typed.Pause()
	require.NoError(t, core.Notice(tells.At(other), item{N: 1}))
	c.sim.Run(time.Millisecond)
	k.unused, k.fed = []unused{}, []*standIn{}
	require.NotNil(t, k.debts.first)
	require.True(t, len(k.parcels.out) > 0 && k.callsWait())
	require.NoError(t, k.do(frameOf(t, (&frame.Bye{Code: byeEnds}).Append(nil))))
	require.Nil(t, k.unused)
	require.Nil(t, k.starved)
	require.Nil(t, k.fed)
	require.Zero(t, k.parcels)
	require.Zero(t, k.debts)
	require.Zero(t, k.answers)
	c.sim.Run(time.Millisecond)
	_, err := ask.Get()
	require.ErrorIs(t, err, ErrNodeLost)
}

// TestByeOfWhoStays: who is refused because of what it has said hears no BYE, which would tell that
// this life of the node is over.
func TestByeOfWhoStays(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	s := meets(t, there.node, "here", frame.Hello{Session: 1})
	_, err := s.hello()
	require.NoError(t, err)
	s.sends((&frame.Tell{To: 7, Method: 1}).Append(nil)) // nobody was declared
	s.ends()
	for {
		f, n, err := frame.Next(s.in)
		require.NoError(t, err)
		if n == 0 {
			return
		}
		require.NotEqual(t, frame.KindBye, f.Kind)
		s.in = s.in[n:]
	}
}

// TestAnotherVersion: who speaks another version of frames than over the connection before has
// forgotten what it has read: the session is over.
func TestAnotherVersion(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	for i, want := range []uint64{1, 1, 2} {
		s := meets(t, there.node, "here", frame.Hello{Session: 1, Version: uint64(1 + i/2)})
		if i < 2 {
			h, err := s.hello()
			require.NoError(t, err)
			require.EqualValues(t, 1, h.Session)
		}
		s.conn.Close()
		require.Eventually(t, func() (is bool) {
			there.node.look(t, func(h *hub) {
				is = len(h.links["here"].conns) == 0 && h.links["here"].Session() == want
			})
			return is
		}, 5*time.Second, time.Millisecond)
	}
}

// TestPiecesByHello: pieces that were read over the connection before are on their way no more, and
// the rest of a long message goes on.
func TestPiecesByHello(t *testing.T) {
	c := newCalm(t)
	of := &counter{}
	_, err := core.SpawnWith(c.there.system, func() *counter { return of }, core.Props{Name: "other"})
	require.NoError(t, err)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/other"})
	require.NoError(t, err)
	c.sim.Run(5 * time.Second)
	c.there.self.links["here"].conns[0].full = true // it says no more
	require.NoError(t, core.Notice(tells.At(far), padded(0, 10<<20)))
	c.sim.Run(500 * time.Millisecond)
	k := c.track()
	require.Positive(t, k.parcels.left)
	require.Equal(t, k.out.Left().End, c.there.self.links["here"].tracks[0].in.Position())
	c.sim.Net.Break(c.there.Addr())
	c.sim.Run(500 * time.Millisecond)
	require.Zero(t, k.parcels.left)
	requireInOrder(t, 1, of)
}

// TestFramesThatComeTooEarlyOrTooLate: a HELLO that comes before this end has said its own is
// refused, and what comes behind the end of a connection is passed over.
func TestFramesThatComeTooEarlyOrTooLate(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	l := c.here.self.links["there"]
	hello := frame.Hello{Name: []byte("there"), Incarnation: 1, Session: 1, Tracks: 1}
	_, err := newConn(c.here.self, l).Decode(hello.Append(nil), nil)
	require.ErrorIs(t, err, errHello)

	one := l.conns[0]
	one.shut()
	late := (&frame.Tell{To: 7, Method: 1}).Append(nil)
	n, err := one.Decode(late, nil)
	require.Equal(t, len(late), n)
	require.Equal(t, channel.ErrSkip, err)
	require.EqualValues(t, 1, l.Session())
}

// TestMethodsPastTheMost: the other end declares so many methods, and not one more.
func TestMethodsPastTheMost(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	k.theirs = append(k.theirs, make([]*foreign, methodsMax-1-len(k.theirs))...)
	require.NoError(t, k.learn(&frame.Method{Number: methodsMax, Name: []byte("a"), Request: []byte{1, 1}}))
	require.ErrorIs(t, k.learn(&frame.Method{Number: methodsMax + 1, Name: []byte("b"), Request: []byte{1, 1}}), errMethod)
}

// TestHelloInPieces: a connection is met by a whole HELLO, and by nothing less.
func TestHelloInPieces(t *testing.T) {
	c := newCalm(t)
	hello := (&frame.Hello{Name: []byte("there"), Incarnation: 1, Session: 1, Tracks: 1}).Append(nil)
	one := newConn(c.there.self, nil)
	for size := range hello {
		n, err := one.Decode(hello[:size], nil)
		require.NoError(t, err)
		require.Zero(t, n)
		require.False(t, one.met)
	}
	_, err := one.Decode(hello, nil)
	require.Equal(t, errSelf, err)
	require.True(t, one.met)
}

// TestHelloOfOneTooMany: if as many nodes are known as may be, and all of them are there, a HELLO
// of another one is refused.
func TestHelloOfOneTooMany(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	h := c.there.self
	h.linksMax = len(h.links)
	hello := (&frame.Hello{Name: []byte("else"), Incarnation: 1, Session: 1, Tracks: 1}).Append(nil)
	_, err := newConn(h, nil).Decode(hello, nil)
	require.ErrorIs(t, err, errLinks)
	require.NotContains(t, h.links, "else")
}

// TestHelloWithoutACertificate: who says whose node it is, and can't show it, is sent away.
func TestHelloWithoutACertificate(t *testing.T) {
	c := newCalm(t)
	c.there.config.Plaintext = false
	peer := c.sim.Net.Dial(c.there.Addr())
	c.sim.Rest()
	peer.Write((&frame.Hello{Name: []byte("else"), Incarnation: 1, Session: 1, Tracks: 1}).Append(nil))
	c.sim.Run(time.Second)
	require.Empty(t, peer.Read(1<<10))
	require.Error(t, peer.Err())
	require.NotContains(t, c.there.self.links, "else")
}

// TestGreetingTakesItsTime: a connection that was dialled waits for its HELLO as long as Timing
// says, and not only as long as one that was accepted.
func TestGreetingTakesItsTime(t *testing.T) {
	c := newCalm(t)
	sys := c.there.system.(*house.System)
	c.sim.Pause(sys)
	find := core.Begin(c.here.Finder(), Where{"there", "/user/counter"})
	c.sim.Run(helloTime / 2)
	l := c.here.self.links["there"]
	require.Equal(t, session.Greeting, l.State(0))
	one := l.conns[0]
	c.sim.Run(helloTime/2 + 500*time.Millisecond)
	require.Equal(t, session.Greeting, l.State(0))
	require.Same(t, one, l.conns[0])
	c.sim.Resume(sys)
	c.sim.Run(time.Second)
	require.Same(t, one, l.conns[0])
	_, err := find.Get()
	require.NoError(t, err)
}

// TestByeOfWhoIsKnown: only who has said HELLO, and has heard one, says BYE.
func TestByeOfWhoIsKnown(t *testing.T) {
	c := newCalm(t)
	for _, test := range []struct {
		met, said bool
		err       error
		bye       bool
	}{{true, true, core.ErrStopped, true}, {false, true, core.ErrStopped, false}, {true, false, core.ErrStopped, false}, {true, true, errHello, false}} {
		one := newConn(c.here.self, nil)
		one.met, one.said = test.met, test.said
		require.Equal(t, test.bye, len(one.Refuse(nil, test.err)) > 0, "%+v", test)
	}
}

// TestAcksThatCannotBe: what was never sent can't have been read.
func TestAcksThatCannotBe(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	c.sim.Run(2 * time.Second)
	k := c.track()
	left := k.out.Left()
	for _, position := range []uint64{left.End + 1, left.Acknowledged - 1, 1 << 60} {
		require.Error(t, k.do(frameOf(t, (&frame.Ack{Position: position}).Append(nil))), "%d", position)
	}
	require.NoError(t, k.do(frameOf(t, (&frame.Ack{Position: left.End}).Append(nil))))
}

// TestReplyToNoSlot: a REPLY that doesn't say to which ask answers none.
func TestReplyToNoSlot(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	ask := core.Begin(add.At(far), addReq{-1})
	c.sim.Run(time.Second)
	require.True(t, c.track().slots[0].busy)
	require.Error(t, c.track().do(frame.Raw{Kind: frame.KindReply}))
	require.True(t, c.track().slots[0].busy)
	c.sim.Run(2 * time.Hour)
	_, err := ask.Get()
	require.NoError(t, err)
}

// TestNewsOfStrangers: an actor that was never declared can't be watched, nor told anything.
func TestNewsOfStrangers(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	for _, f := range [][]byte{
		(&frame.Watch{To: 99}).Append(nil), (&frame.Unwatch{To: 99}).Append(nil), (&frame.Command{To: 99}).Append(nil),
	} {
		require.Equal(t, errRef, k.do(frameOf(t, f)))
	}
}

// TestMethodsOutOfOrder: methods are declared by the numbers in their order, and each once.
func TestMethodsOutOfOrder(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	next := uint64(len(k.theirs) + 1)
	require.Positive(t, next-1)
	require.Equal(t, errMethod, k.learn(&frame.Method{Number: next + 1, Name: []byte("a"), Request: []byte{1, 1}}))
	var again frame.Method
	require.NoError(t, again.Read(frameOf(t, k.methods.all[0].declare)))
	again.Number = next
	require.Equal(t, errMethod, k.learn(&again))
}

// TestFrameThatComesSlowly: a connection is heard with each byte, however long the frame takes.
func TestFrameThatComesSlowly(t *testing.T) {
	c := newCalm(t)
	p := c.sim.Net.Dial(c.there.Addr())
	hello := (&frame.Hello{Name: []byte("slow"), Incarnation: 1, Session: 1, Tracks: 1, Version: frame.Version}).Append(nil)
	require.Equal(t, len(hello), p.Write(hello))
	c.sim.Run(time.Second)
	l := c.there.self.links["slow"]
	require.Len(t, l.conns, 1)
	declare := c.here.self.methods.all[0].declare
	for i := range 10 { // twice Reset and more
		part := declare[len(declare)*i/10 : len(declare)*(i+1)/10]
		require.Equal(t, len(part), p.Write(part))
		c.sim.Run(time.Second)
	}
	require.Len(t, l.conns, 1)
	require.Len(t, l.tracks[0].theirs, 1)
	p.Close()
	c.sim.Run(time.Second)
	require.Empty(t, l.conns)
}
