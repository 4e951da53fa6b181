package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// counters spawns counters there and finds them.
func (c *calm) counters(n int) (all []*counter, far []core.AnyAddress) {
	c.t.Helper()
	for i := range n {
		of := &counter{}
		_, err := core.SpawnWith(c.there.system, func() *counter { return of }, core.Props{Name: fmt.Sprint("counter", i)})
		require.NoError(c.t, err)
		to, err := housetest.Ask(c.t, c.sim, c.here.Finder(), Where{"there", fmt.Sprint("/user/counter", i)})
		require.NoError(c.t, err)
		all, far = append(all, of), append(far, to)
	}
	return all, far
}

// trackOf returns the number of the track that an actor elsewhere is called by.
func trackOf(far core.AnyAddress) int {
	h, _ := far.Any()
	return h.Remote().(*standIn).track.number
}

// TestTracks: a link has as many tracks as the node that allows fewer. Actors are spread over all
// but the first; with one they are of that.
func TestTracks(t *testing.T) {
	for _, test := range []struct {
		here, there int
		want        []int
	}{
		{1, 1, []int{0, 0, 0}}, {5, 1, []int{0, 0, 0}}, {1, 3, []int{0, 0, 0}}, {2, 5, []int{1, 1, 1}}, {5, 3, []int{1, 2, 1}},
		{5, 5, []int{1, 2, 3, 4, 1}},
	} {
		t.Run(fmt.Sprint(test.here, " ", test.there), func(t *testing.T) {
			c := newCalmOf(t, test.here, test.there)
			all, far := c.counters(len(test.want))
			c.sim.Run(time.Second)
			c.conns(min(test.here, test.there))
			for i, to := range far {
				require.Equal(t, test.want[i], trackOf(to))
				for n := range 10 {
					require.NoError(t, core.Notice(tells.At(to), item{N: n}))
				}
			}
			c.sim.Run(time.Second)
			for _, of := range all {
				requireInOrder(t, 10, of)
			}
			c.conns(min(test.here, test.there))
			c.sim.Run(6 * time.Minute)
			c.conns(0)
			require.NoError(t, core.Notice(tells.At(far[0]), item{N: 10}))
			c.sim.Run(time.Second)
			requireInOrder(t, 11, all[0])
			c.conns(min(test.here, test.there))
		})
	}
}

// TestTrackOfWhoCantDial: there can't dial. A connection of it is lost while nobody waits for
// anything: it stands again, as the other one does, and what there has to say comes.
func TestTrackOfWhoCantDial(t *testing.T) {
	c := newCalmOf(t, 3, 3)
	_, far := c.host()
	of := &caller{}
	at := core.Spawn(c.sim, func() *caller { return of })
	_, err := housetest.Ask(t, c.sim, keep.At(far), contactsOf(1, at))
	require.NoError(t, err)
	c.sim.Run(time.Second)
	for n := range 3 {
		for _, one := range c.here.self.links["there"].conns {
			if one.index == n {
				one.shut()
			}
		}
		c.sim.Run(3 * time.Second)
		c.conns(3)
		require.NoError(t, core.Notice(notify.At(far), hearIt.At(at.Any())))
		c.sim.Run(time.Second)
		require.Len(t, of.heard, n+1)
	}
}

// TestEndOfAllTracks: a session is over as a whole. What is away by any track ends; the next
// session's tracks begin behind its gap, of which the other node hears once.
func TestEndOfAllTracks(t *testing.T) {
	c := newCalmOf(t, 4, 4)
	gaps := c.there.listens(&c)
	all, far := c.counters(6)
	for _, to := range far {
		require.NoError(t, core.Notice(tells.At(to), item{N: 0}))
	}
	c.sim.Run(time.Second)
	c.cut()
	for _, k := range c.here.self.links["there"].tracks {
		require.Nil(t, k.conn)
	}
	var asks []core.Pending[addRep]
	for i, to := range far {
		for n := range i + 1 {
			require.NoError(t, core.Notice(tells.At(to), item{N: 1 + n}))
		}
		asks = append(asks, core.Begin(add.At(to), addReq{1}))
	}
	c.sim.Run(time.Minute)
	for i, to := range far {
		_, err := asks[i].Get()
		require.ErrorIs(t, err, ErrUnreachable)
		require.ErrorIs(t, core.Notice(tells.At(to), item{}), ErrUnreachable)
	}
	require.Equal(t, 1+2+3+4+5+6, letters(c.here.system))
	c.mend()
	require.Empty(t, gaps.heard)
	c.find(c.here, "there")
	c.sim.Run(time.Second / 2) // before there is a PING, whose answer is an ACK
	begins := len((&frame.Gap{Notices: 27}).Append(nil))
	for _, m := range c.here.self.methods.all {
		begins += len(m.declare)
	}
	for _, k := range c.here.self.links["there"].tracks[2:] {
		require.EqualValues(t, begins, k.out.Left().End, "GAP and METHODs")
	}
	for i, of := range all {
		requireInOrder(t, 1, of)
		far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", fmt.Sprint("/user/counter", i)})
		require.NoError(t, err)
		require.Equal(t, 1+(i+1)%3, trackOf(far))
		require.Len(t, gaps.heard, 1)
		require.NoError(t, core.Notice(tells.At(far), item{N: 1}))
	}
	c.sim.Run(time.Second)
	for _, of := range all {
		requireInOrder(t, 2, of)
	}
	require.Equal(t, []heard{{gap: Gap{"here", 7, 27}}}, gaps.heard)
}

// TestFlushOfAllTracks: who closes a node waits until what has left has come, by any track.
func TestFlushOfAllTracks(t *testing.T) {
	c := newCalmOf(t, 3, 3)
	_, far := c.counters(2)
	c.sim.Run(time.Second)
	for i, to := range far {
		c.sim.Net.Faults.Delay = 5 * time.Millisecond
		c.tell(to, 0, 1)
		k := c.here.self.links["there"].tracks[1+i]
		require.True(t, k.isUnread())
		began := c.sim.Now
		_, err := housetest.Ask(t, c.sim, hubFlush.At(c.here.hub), struct{}{})
		require.NoError(t, err)
		require.False(t, k.isUnread())
		require.Less(t, c.sim.Now-began, int64(200*time.Millisecond))
	}
}

// TestTracksStayClosed: connections are closed as unused, of which the other end hears at different
// times. None is dialled again.
func TestTracksStayClosed(t *testing.T) {
	for _, tracks := range []int{1, 3, 5} {
		c := newCalmOf(t, tracks, tracks)
		c.sim.Net.Faults.Delay = 200 * time.Millisecond
		c.find(c.here, "there")
		c.sim.Run(time.Minute)
		c.conns(tracks)
		began := c.here.self.links["there"].Conns()
		c.sim.Run(time.Hour)
		c.conns(0)
		require.Equal(t, began, c.here.self.links["there"].Conns())
	}
	c := newCalmOf(t, 3, 3)
	c.counters(3)
	c.sim.Net.Faults.Delay = 40 * time.Millisecond
	c.sim.Run(time.Second)
	c.sim.Run(5*time.Minute - time.Second - 104*time.Millisecond)
	for _, one := range c.here.self.links["there"].conns { // shortly before it would be closed
		if one.index == 2 {
			one.shut()
		}
	}
	c.sim.Run(8 * time.Minute)
	c.conns(0)
}

// TestCloseBehindTheFirstNotice: what was told waits for its track, which isn't up yet. It comes.
func TestCloseBehindTheFirstNotice(t *testing.T) {
	for _, tracks := range []int{1, 2, 5} {
		for delay := range 8 {
			c := newCalmOf(t, tracks, tracks)
			of := &counter{}
			_, err := core.SpawnWith(c.there.system, func() *counter { return of }, core.Props{Name: "other"})
			require.NoError(t, err)
			c.sim.Net.Faults.Delay = time.Duration(delay) * 5 * time.Millisecond
			far, err := c.here.Lookup(t.Context(), "there", "/user/other")
			require.NoError(t, err)
			require.NoError(t, core.Notice(tells.At(far), item{N: 0}))
			require.NoError(t, c.here.Close(t.Context()))
			c.sim.Run(time.Second)
			requireInOrder(t, 1, of)
			require.Zero(t, letters(c.here.system))
		}
	}
}

// TestAddressByAnotherTrack: the address of an actor is one, whichever track it crosses by.
func TestAddressByAnotherTrack(t *testing.T) {
	c := newCalmOf(t, 4, 4)
	h, far := c.host()
	_, others := c.counters(3)
	for i, other := range append(others, far) {
		got, err := housetest.Ask(t, c.sim, keep.At(far), contacts{Any: other, N: i})
		require.NoError(t, err)
		require.True(t, got.Any == other)
		at, _ := h.last.Any.Any()
		require.Nil(t, at.Remote(), "it is one of there")
	}
}

// TestBrokenTrack: a frame that can't be, by any track, is the end of the session.
func TestBrokenTrack(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0", Tracks: 3})
	for track := range uint64(3) {
		name := fmt.Sprint("else", track)
		s := meets(t, there.node, name, frame.Hello{Session: 1, Tracks: 3, Track: track})
		_, err := s.hello()
		require.NoError(t, err)
		s.sends((&frame.Tell{To: 7, Method: 1}).Append(nil)) // nobody was declared
		require.Eventually(t, func() (is bool) {
			there.node.look(t, func(h *hub) { is = h.links[name].Session() == 2 })
			return is
		}, 10*time.Second, time.Millisecond)
	}
}
