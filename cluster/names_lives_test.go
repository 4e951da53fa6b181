package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestAddressesOfAnEndedSession are good for nothing, here and there: serials may mean other actors
// by now.
func TestAddressesOfAnEndedSession(t *testing.T) {
	c := newCalm(t)
	h, far := c.host()
	at := core.Spawn(c.sim, func() *caller { return &caller{} })
	_, err := housetest.Ask(t, c.sim, keep.At(far), contactsOf(1, at))
	require.NoError(t, err)
	l := c.there.self.links["here"]
	l.giveUp(ErrNodeLost)
	l.begin()
	c.here.self.links["there"].giveUp(ErrUnreachable)
	c.here.self.links["there"].begin()
	_, err = housetest.Ask(t, c.sim, h.last.Asked, 1)
	require.ErrorIs(t, err, ErrNodeLost)

	n := names{track: l.tracks[0]}
	v := card[core.Address[caller]]{h.last.Typed}
	codec, err := wire.For[card[core.Address[caller]]]()
	require.NoError(t, err)
	text := wire.AppendBy(codec, &n, nil, &v)
	require.NoError(t, n.err)
	require.EqualValues(t, gone, text[1])
	var r wire.Reader
	r.Reset(text)
	r.SetNames(&names{track: c.here.self.links["there"].tracks[0]})
	v.To = core.Address[caller]{}
	require.NoError(t, wire.Read(codec, &r, &v))
	require.True(t, v.To.House().Gone())
	require.NotEqual(t, at.House(), v.To.House())
	_, err = housetest.Ask(t, c.sim, callAsk.At(v.To), 1)
	require.ErrorIs(t, err, core.ErrStopped)
}

// TestManyShortLives: who is told of for a short time takes no memory for long, at either end.
func TestManyShortLives(t *testing.T) {
	for _, tracks := range []int{1, 3} {
		t.Run(fmt.Sprint(tracks), func(t *testing.T) { manyShortLives(t, newCalmOf(t, tracks, tracks)) })
	}
}

func manyShortLives(t *testing.T, c calm) {
	h, far := c.host()
	heard := 0
	for n := range 2000 {
		of := &caller{}
		at := core.Spawn(c.sim, func() *caller { return of })
		by := meet
		if n%2 == 0 {
			by = keep // and never calls it
		}
		_, err := housetest.Ask(t, c.sim, by.At(far), contactsOf(n, at))
		require.NoError(t, err)
		at.Stop()
		if n%50 == 0 {
			c.sim.Run(2 * time.Second) // so that the other end acknowledges
		}
		heard += len(of.heard)
	}
	require.Equal(t, 1000, heard)
	require.Less(t, len(c.there.self.links["here"].bySerial), 500)
	for i := range c.here.config.Tracks {
		require.Less(t, len(c.there.self.links["here"].tracks[i].standIns), 500)
		require.Less(t, len(c.here.self.links["there"].tracks[i].refs), 500)
	}
	require.Less(t, len(c.here.self.served.actors), 200)
	at := core.Spawn(c.sim, func() *caller { return &caller{} })
	sent := contactsOf(5, at)
	got, err := housetest.Ask(t, c.sim, meet.At(far), sent)
	require.NoError(t, err)
	requireSame(t, sent, got)
	require.Equal(t, 5, h.last.N)
}

// TestNamesInLostNotices: what a dead letter says of actors is what its sender has written.
func TestNamesInLostNotices(t *testing.T) {
	c := newCalm(t)
	_, far := c.host()
	at := core.Spawn(c.sim, func() *caller { return &caller{} })
	e := &ear{}
	core.Events[core.OpenedLetter](c.sim).Subscribe(earOpens.At(core.Spawn(c.sim, func() *ear { return e })))
	require.NoError(t, core.Notice(notify.At(far), hearIt.At(at.Any())))
	require.NoError(t, core.Notice(notify.At(far), hearIt.At(far)))
	require.NoError(t, core.Notice(longOf.At(far), long{hearIt.At(at.Any()), make([]byte, 100_000)}))
	l := c.here.self.links["there"]
	for l.tracks[0].wrote < 3 {
		c.sim.Turn()
	}
	l.giveUp(ErrUnreachable)
	l.begin()
	c.sim.Run(time.Second)
	require.Len(t, e.heard, 3)
	require.True(t, e.heard[2].(long).Told == hearIt.At(at.Any()))
	require.True(t, e.heard[0] == any(hearIt.At(at.Any())))
	require.True(t, e.heard[1] == any(hearIt.At(far)))
}

// ear hears of dead letters.
type ear struct{ heard []any }

func (e *ear) opens(s *core.NoticeStack[core.OpenedLetter]) core.Yield {
	e.heard = append(e.heard, s.Msg.Message)
	return s.Return()
}

var earOpens = core.HandleNotice((*ear).opens)

// TestG13SimulatedNames: connections are cut at any byte while actors come and go, each of which
// tells of itself and is told once.
func TestG13SimulatedNames(t *testing.T) {
	twice(t, seeds(60), func(t *testing.T, seed uint64) uint64 {
		w := newWorld(t, seed, session.Timing{Patience: time.Hour})
		h := &host{}
		_, err := core.SpawnWith(w.other, func() *host { return h }, core.Props{Name: "host", Mailbox: core.Unbounded()})
		require.NoError(t, err)
		far := w.find(t, "/user/host")
		var all []*caller
		var at []core.Address[caller]
		for range 20 + w.rng.IntN(100) {
			of := &caller{}
			all, at = append(all, of), append(at, core.Spawn(w.sim, func() *caller { return of }))
			if err := core.Notice(notify.At(far), hearIt.At(at[len(at)-1].Any())); err != nil {
				require.Equal(t, core.ErrMailboxFull, err)
				of.heard = []int{7}
			}
			if i := w.rng.IntN(len(all)); w.rng.IntN(4) == 0 && len(all[i].heard) > 0 {
				at[i].Stop()
			}
			w.pass(t, 24)
		}
		w.sim.Net.Faults.Resets = 0
		told := func() (n int) {
			for _, of := range all {
				n += len(of.heard)
			}
			return n
		}
		for i := 0; i < 1000 && told() < len(all); i++ {
			w.sim.Run(100 * time.Millisecond)
		}
		for i, of := range all {
			require.Equal(t, []int{7}, of.heard, "caller %d of %d", i, len(all))
		}
		return w.sim.Hash()
	})
}
