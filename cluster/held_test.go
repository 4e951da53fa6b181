package cluster

import (
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

// TestHeldAndResumed: a full mailbox there has its stand-in hold, and then its senders here get
// ErrMailboxFull. Nothing that was accepted is lost, and other actors of that node are reached as
// ever meanwhile.
func TestHeldAndResumed(t *testing.T) {
	c := newCalm(t)
	full := &counter{}
	at, err := core.SpawnWith(c.there.system, func() *counter { return full }, core.Props{Name: "full", Mailbox: core.Bounded(4, core.Reject)})
	require.NoError(t, err)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/full"})
	require.NoError(t, err)
	other := c.find(c.here, "there")
	at.Pause()
	n := 0
	fill := func() (err error) {
		for ; err == nil; n++ {
			err = core.Notice(tells.At(far), item{N: n})
		}
		n--
		return err
	}
	for range 20 { // what is in flight passes before HOLD
		require.Equal(t, core.ErrMailboxFull, fill())
		c.sim.Run(10 * time.Millisecond)
	}
	track := c.here.self.links["there"].tracks[0]
	require.Equal(t, 1, track.held)
	before := n
	require.Equal(t, core.ErrMailboxFull, fill())
	require.Equal(t, before, n, "nothing more leaves")
	for i := range 1000 {
		began := c.sim.Now
		rep, err := housetest.Ask(t, c.sim, add.At(other), addReq{i})
		require.NoError(t, err)
		require.Equal(t, 2*i, rep.Sum)
		require.Less(t, time.Duration(c.sim.Now-began), time.Millisecond)
	}
	at.Continue()
	c.sim.Run(time.Second)
	requireInOrder(t, n, full)
	require.Zero(t, track.held)
	require.Empty(t, c.there.self.overflows)
}

// TestEachIsHeld: a full mailbox has each node hold that has calls for it, whoever came first.
func TestEachIsHeld(t *testing.T) {
	c := newCalm(t)
	at, err := core.SpawnWith(c.there.system, func() *counter { return &counter{} }, core.Props{Name: "full", Mailbox: core.Bounded(4, core.Reject)})
	require.NoError(t, err)
	at.Pause()
	third := c.third()
	for _, n := range []*Node{c.here, third} {
		far, err := housetest.Ask(t, c.sim, n.Finder(), Where{"there", "/user/full"})
		require.NoError(t, err)
		for range 10 {
			require.NoError(t, core.Notice(tells.At(far), item{}))
			c.sim.Run(10 * time.Millisecond)
			if n.self.links["there"].tracks[0].held > 0 {
				break
			}
		}
		require.Equal(t, 1, n.self.links["there"].tracks[0].held, n.Name())
	}
}

// blocker does a step that takes its time.
type blocker struct{}

func (blocker) block(s *core.AskStack[time.Duration, struct{}]) core.Yield {
	time.Sleep(s.Req)
	return s.Return(struct{}{})
}

var blockerBlock = core.Handle((*blocker).block)

// TestStepOfASecond on the worker of a link: neither end takes the other for lost, nor closes the
// connection. What came meanwhile is done then.
func TestStepOfASecond(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	for i := range 100 {
		require.NoError(t, core.Notice(tells.At(p.far), item{N: i}))
	}
	var worker int
	p.there.node.look(t, func(h *hub) { worker = h.w.Index })
	blocks := core.Begin(blockerBlock.At(core.Spawn(p.there.sys.Workers()[worker], func() *blocker { return &blocker{} })), 1200*time.Millisecond)
	for i := range 100 {
		require.NoError(t, core.Notice(tells.At(p.far), item{N: 100 + i}))
	}
	began := time.Now()
	_, err := core.Ask(t.Context(), count.At(p.far), struct{}{})
	require.NoError(t, err)
	require.Greater(t, time.Since(began), 500*time.Millisecond, "the link has waited")
	_, err = blocks.Get()
	require.NoError(t, err)
	requireInOrder(t, 200, p.counter)
	for _, n := range []*Node{p.here.node, p.there.node} {
		n.look(t, func(h *hub) {
			for _, l := range h.links {
				require.EqualValues(t, 1, l.Conns())
				require.EqualValues(t, 1, l.Session())
			}
		})
	}
}

// TestNoticesToWhoHasStopped are dead letters there, as long as nobody here knows of the end.
func TestNoticesToWhoHasStopped(t *testing.T) {
	c := newCalm(t)
	at, err := core.SpawnWith(c.there.system, func() *counter { return &counter{} }, core.Props{Name: "brief"})
	require.NoError(t, err)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/brief"})
	require.NoError(t, err)
	at.Stop()
	for n := range 3 {
		require.NoError(t, core.Notice(tells.At(far), item{N: n}))
	}
	c.sim.Run(time.Second)
	require.EqualValues(t, 3, (&place{sys: c.there.system.(*house.System)}).letters())
}

// TestNoticesOfNoHandlerToWhoHasStopped are dead letters there as the actor has stopped, whatever
// it would have handled: as long as it lives, they are as it doesn't handle them.
func TestNoticesOfNoHandlerToWhoHasStopped(t *testing.T) {
	c := newCalm(t)
	at, err := core.SpawnWith(c.there.system, func() *counter { return &counter{} }, core.Props{Name: "brief"})
	require.NoError(t, err)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/brief"})
	require.NoError(t, err)
	for i, stops := range []bool{false, true} {
		why := core.LostRefused
		if stops {
			at.Stop()
			why = core.LostStopped
			for !at.House().Gone() { // and nobody knows it here
				c.sim.Turn()
			}
		}
		require.NoError(t, core.Notice(gaugeTells.At(far), 1))
		c.sim.Run(time.Second)
		all := c.there.system.(*house.System).DeadLetters()
		require.Len(t, all, i+1)
		require.True(t, slices.ContainsFunc(all, func(l house.LetterCount) bool { return l.Reason == why }), why)
	}
}

// gaugeTells is a method that a counter doesn't handle.
var gaugeTells = core.NewNoticeMethod[int]("test.gauge.tell")

// TestHoldOfTheGone: who has said that an actor has stopped may say that it is full, and nobody
// waits for room.
func TestHoldOfTheGone(t *testing.T) {
	c := newCalm(t)
	far, _ := core.As[counter](c.find(c.here, "there"))
	far.Stop()
	c.sim.Run(time.Second)
	k := c.track()
	require.True(t, k.standIns[1].gone)
	require.NoError(t, k.hold(1, true))
	require.Zero(t, k.held)
	require.NoError(t, k.gone(&frame.Gone{To: 1}), "again")
	require.Len(t, k.unused, 1)
}

// TestAsksThatWaitForRoom: no more of them are handed on than the mailbox has room for, as with
// notices.
func TestAsksThatWaitForRoom(t *testing.T) {
	c := newCalm(t)
	slow := &counter{slow: time.Millisecond}
	at, err := core.SpawnWith(c.there.system, func() *counter { return slow }, core.Props{Name: "slow", Mailbox: core.Bounded(2, core.Reject)})
	require.NoError(t, err)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/slow"})
	require.NoError(t, err)
	var asks []core.Pending[addRep]
	for i := range 20 {
		require.NoError(t, core.Notice(tells.At(far), item{N: i}))
		asks = append(asks, core.Begin(add.At(far), addReq{i}))
	}
	waited := 0
	for range 200 {
		c.sim.Run(200 * time.Microsecond)
		require.LessOrEqual(t, at.House().Queued(c.there.self.w), 2)
		if o := c.there.self.overflows[at.House()]; o != nil {
			waited = max(waited, len(o.calls)-o.first)
		}
	}
	require.Greater(t, waited, 20)
	for i, p := range asks {
		rep, err := p.Get()
		require.NoError(t, err)
		require.Equal(t, 2*i, rep.Sum)
	}
	requireInOrder(t, 20, slow)
}
