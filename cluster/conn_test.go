package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
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
