package cluster

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// This file is about who waits for a link's room while others have more for it than it takes.

// mirror answers by so many bytes.
type mirror struct{}

type (
	mirrorReq struct {
		Size int
		Pad  []byte
	}
	mirrorRep struct{ Pad []byte }
)

func (*mirror) sized(s *core.AskStack[mirrorReq, mirrorRep]) core.Yield {
	return s.Return(mirrorRep{make([]byte, s.Req.Size)})
}

var (
	mirrored = core.NewMethod[mirrorReq, mirrorRep]("test.mirror.sized")
	_        = core.Handle((*mirror).sized).As(mirrored)
)

// crowd is two nodes, and what is done at each turn.
type crowd struct {
	calm
	always []func()
	ends   []func()
	turns  int
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{calm: newCalm(t)}
	for _, n := range []*Node{c.here, c.there} {
		for i := range partsMax + 4 {
			_, err := core.SpawnWith(n.system, func() *counter { return &counter{} }, core.Props{Name: fmt.Sprint("told", i), Mailbox: core.Unbounded()})
			require.NoError(t, err)
		}
		_, err := core.SpawnWith(n.system, func() *mirror { return &mirror{} }, core.Props{Name: "mirror"})
		require.NoError(t, err)
	}
	return c
}

func (c *crowd) at(from *Node, to, name string) core.AnyAddress {
	c.t.Helper()
	far, err := housetest.Ask(c.t, c.sim, from.Finder(), Where{to, "/user/" + name})
	require.NoError(c.t, err)
	return far
}

// tells has some actors of a node told more than the link takes, by the other one.
func (c *crowd) tells(from *Node, to string, actors, size int) {
	drop := padded(0, size)
	for i := range actors {
		to := tells.At(c.at(from, to, fmt.Sprint("told", i)))
		c.always = append(c.always, func() {
			var err error
			for err == nil {
				err = core.Notice(to, drop)
			}
			require.Equal(c.t, core.ErrMailboxFull, err)
		})
	}
}

// asks has so many asks away, from one node to the other.
func (c *crowd) asks(from *Node, to string, asks, size int) {
	port := mirrored.At(c.at(from, to, "mirror"))
	all := make([]core.Pending[mirrorRep], asks)
	for i := range all {
		all[i] = core.Begin(port, mirrorReq{Size: size})
	}
	c.always = append(c.always, func() {
		for i := range all {
			if all[i].Ready() {
				_, err := all[i].Get()
				require.NoError(c.t, err)
				all[i] = core.Begin(port, mirrorReq{Size: size})
			}
		}
	})
	c.ends = append(c.ends, func() {
		for i := range all {
			for !all[i].Ready() {
				c.sim.Turn()
			}
			_, err := all[i].Get()
			require.NoError(c.t, err)
		}
	})
}

func (c *crowd) turn() {
	for _, do := range c.always {
		do()
	}
	c.sim.Turn()
	c.turns++
}

func (c *crowd) end() {
	c.always = nil
	for _, do := range c.ends {
		do()
	}
}

// answers requires that asks are answered within some turns, whatever else there is.
func answers[Req, Rep any](c *crowd, about string, most int, to core.Port[Req, Rep], req Req) {
	c.t.Helper()
	var took []int
	for range 5 {
		for range 50 {
			c.turn()
		}
		began := c.turns
		ask := core.Begin(to, req)
		for ; !ask.Ready(); c.turn() {
			require.Less(c.t, c.turns-began, most, about)
		}
		_, err := ask.Get()
		require.NoError(c.t, err)
		took = append(took, c.turns-began)
	}
	slices.Sort(took)
	c.t.Logf("%s: %v turns", about, took)
}

// TestBesideAFlood: who tells some actors of a node more than the link takes doesn't keep others
// from asking another one, whatever the length of what they say.
func TestBesideAFlood(t *testing.T) {
	for _, f := range []struct{ actors, size, most int }{
		{1, 200, 1000}, {1, 20_000, 1000}, {1, 60 << 10, 1000}, {1, 1 << 20, 1000}, {1, 15 << 20, 4000}, {2, 15 << 20, 4000},
		{4, 1 << 20, 1000}, {partsMax + 4, 60 << 10, 1000}, {partsMax + 4, 66 << 10, 2000},
	} {
		c := newCrowd(t)
		e := mirrored.At(c.at(c.here, "there", "mirror"))
		c.tells(c.here, "there", f.actors, f.size)
		about := fmt.Sprintf("beside messages of %d bytes to %d actors", f.size, f.actors)
		answers(c, "a short ask "+about, f.most, e, mirrorReq{Size: 1})
		answers(c, "a long answer "+about, f.most, e, mirrorReq{Size: 100_000})
		answers(c, "a long ask "+about, f.most, e, mirrorReq{Pad: make([]byte, 100_000)})
		require.LessOrEqual(t, c.track().parcels.left, session.Window+frame.LongMax)
	}
}

// TestManyLongAsks: as many as there are actors don't make a later one meet a slot that can't be.
func TestManyLongAsks(t *testing.T) {
	c := newCrowd(t)
	var ports []core.Port[mirrorReq, mirrorRep]
	for i := range 3 * partsMax {
		name := fmt.Sprint("mirror", i)
		_, err := core.SpawnWith(c.there.system, func() *mirror { return &mirror{} }, core.Props{Name: name})
		require.NoError(t, err)
		ports = append(ports, mirrored.At(c.at(c.here, "there", name)))
	}
	other := mirrored.At(c.at(c.here, "there", "mirror"))
	var all []core.Pending[mirrorRep]
	for _, p := range ports {
		all = append(all, core.Begin(p, mirrorReq{Size: 1, Pad: make([]byte, 100_000)}))
	}
	all = append(all, core.Begin(other, mirrorReq{Size: 1}))
	for i := range all {
		for n := 0; !all[i].Ready(); n++ {
			require.Less(t, n, 5000)
			c.sim.Turn()
		}
		_, err := all[i].Get()
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, c.here.self.links["there"].Session())
}

// TestManyLongAnswers: more than may be written in pieces at a time come all the same, also those
// to asks that may be tried again. One that waits for that may be given up: it comes once.
func TestManyLongAnswers(t *testing.T) {
	c := newCrowd(t)
	for _, port := range []core.Port[mirrorReq, mirrorRep]{
		mirrored.At(c.at(c.here, "there", "mirror")), AtLeastOnce(c.here, mirrored, Where{"there", "/user/mirror"}),
	} {
		all := make([]core.Pending[mirrorRep], 3*partsMax)
		for i := range all {
			all[i] = core.Begin(port, mirrorReq{Size: 100_000 + i})
		}
		behind := false
		for i := range all {
			for n := 0; !all[i].Ready(); n++ {
				require.Less(t, n, 5000)
				c.sim.Turn()
				p := &c.there.self.links["here"].tracks[0].parcels
				require.LessOrEqual(t, len(p.out), partsMax)
				if len(p.behind) > 0 {
					behind = true
					require.NoError(t, c.there.self.links["here"].tracks[0].cancel(p.behind[0].slot))
					require.False(t, p.behind[0].owed, "it waits already")
				}
			}
			rep, err := all[i].Get()
			require.NoError(t, err)
			require.Len(t, rep.Pad, 100_000+i)
		}
		require.True(t, behind)
	}
	require.EqualValues(t, 1, c.here.self.links["there"].Session())
}

// TestAnswersBesideAFlood: who tells the other node more than the link takes answers it all the
// same.
func TestAnswersBesideAFlood(t *testing.T) {
	for _, f := range []struct{ actors, size int }{{2, 200}, {2, 20_000}, {2, 1 << 20}, {partsMax + 4, 200_000}} {
		c := newCrowd(t)
		e := mirrored.At(c.at(c.here, "there", "mirror"))
		c.find(c.here, "there")
		c.tells(c.there, "here", f.actors, f.size)
		about := fmt.Sprintf("beside messages of %d bytes from there", f.size)
		answers(c, "a short answer "+about, 1000, e, mirrorReq{Size: 1})
		answers(c, "a long answer "+about, 1000, e, mirrorReq{Size: 100_000})
	}
}

// widow watches a mirror.
type widow struct{ told bool }

func (w *widow) watch(s *core.AskStack[core.Address[mirror], struct{}]) core.Yield {
	core.Watch(s, s.Req, widowHears)
	return s.Return(struct{}{})
}

func (w *widow) hears(s *core.NoticeStack[core.Terminated]) core.Yield {
	w.told = true
	return s.Return()
}

var (
	widowWatch = core.Handle((*widow).watch)
	widowHears = core.HandleNotice((*widow).hears)
)

// TestTerminatedBehindAnswers: who watches an actor hears of its end behind all its answers, though
// these are more than the link takes; but for those that are sent in pieces.
func TestTerminatedBehindAnswers(t *testing.T) {
	for _, size := range []int{10_000, 60 << 10} {
		c := newCrowd(t)
		far := c.at(c.here, "there", "mirror")
		at, _ := core.As[mirror](far)
		w := &widow{}
		_, err := housetest.Ask(t, c.sim, widowWatch.At(core.Spawn(c.sim, func() *widow { return w })), at)
		require.NoError(t, err)
		all := make([]core.Pending[mirrorRep], 3*session.Window/size)
		for i := range all {
			all[i] = core.Begin(mirrored.At(far), mirrorReq{Size: size})
		}
		for !all[0].Ready() {
			c.sim.Turn()
		}
		at.Stop()
		for !w.told {
			c.sim.Turn()
		}
		answered := 0
		for i := range all {
			require.True(t, all[i].Ready(), "answer %d of %d", i, len(all))
			if _, err := all[i].Get(); err != nil {
				require.Equal(t, core.ErrStopped, err)
				continue
			}
			answered++
		}
		require.Greater(t, answered*size, session.Window)
	}
}

// TestBesideAnswers: a node that answers the other one by more than the link takes can ask it all
// the same.
func TestBesideAnswers(t *testing.T) {
	for _, size := range []int{20_000, 60 << 10, 1 << 20} {
		c := newCrowd(t)
		e, other := mirrored.At(c.at(c.here, "there", "mirror")), c.find(c.here, "there")
		c.asks(c.there, "here", 40, size)
		about := fmt.Sprintf("beside answers of %d bytes", size)
		answers(c, "a short ask "+about, 1000, add.At(other), addReq{1})
		answers(c, "a long ask "+about, 1000, e, mirrorReq{Pad: make([]byte, 100_000)})
		answers(c, "a lookup "+about, 1000, c.here.Finder(), Where{"there", "/user/counter"})
		c.end()
	}
}

// TestHoldBesideAnswers: a node whose actor is full is heard at once, though it has more to answer
// than the link takes.
func TestHoldBesideAnswers(t *testing.T) {
	c := newCrowd(t)
	full, err := core.SpawnWith(c.there.system, func() *counter { return &counter{} }, core.Props{Name: "full", Mailbox: core.Bounded(4, core.Reject)})
	require.NoError(t, err)
	full.Pause()
	far := tells.At(c.at(c.here, "there", "full"))
	c.asks(c.here, "there", 1000, 60<<10)
	for range 200 {
		c.turn()
	}
	for range 1000 {
		for core.Notice(far, item{}) == nil {
		}
		c.turn()
	}
	o := c.there.self.overflows[full.House()]
	require.Less(t, len(o.calls), 20_000)
	require.Equal(t, 1, c.track().held)
	full.Continue()
	c.end()
	c.sim.Run(time.Second)
	require.Zero(t, (&place{sys: c.there.system.(*house.System)}).letters())
}

// TestLongAskThatWaits for its first piece hasn't left, whatever was written behind it.
func TestLongAskThatWaits(t *testing.T) {
	c := newCrowd(t)
	_, err := core.SpawnWith(c.there.system, func() *mirror { return &mirror{} }, core.Props{Name: "second"})
	require.NoError(t, err)
	first, second := mirrored.At(c.at(c.here, "there", "mirror")), mirrored.At(c.at(c.here, "there", "second"))
	other := c.find(c.here, "there")
	c.tell(other, 0, 1)
	c.sim.Run(2 * time.Second) // all is acknowledged
	c.cut()
	all := []core.Pending[mirrorRep]{
		core.Begin(first, mirrorReq{Pad: make([]byte, 8<<20)}), // of which there is a half window
		core.Begin(second, mirrorReq{Pad: make([]byte, 1<<20)}),
	}
	c.sim.Run(time.Millisecond)
	before := c.track().out.Left().End
	c.tell(other, 1, 100)
	end := c.track().out.Left().End
	require.Greater(t, end, before)
	c.track().loseAsks(ErrUnreachable, end)
	c.sim.Run(time.Millisecond)
	for i, like := range []error{core.ErrLost, core.ErrNotSent} {
		_, err := all[i].Get()
		require.ErrorIs(t, err, like)
	}
}
