package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// The tests of this file have actors hold their calls in mailboxes of every kind.

var mailboxes = map[string]core.Mailbox{
	"fifo":     core.Bounded(100, core.Reject),
	"oldest":   core.Bounded(100, core.DropOldest),
	"priority": core.ByPriority(100),
	"fair":     core.FairBySender(100),
	"ordered":  core.Ordered(100, func() core.Order { return &fifo{} }),
}

// A drain lets end what came before it, and nothing else, in whatever order calls are taken. It
// is not refused by a full mailbox.
func TestDrainOfEachMailbox(t *testing.T) {
	for name, mailbox := range mailboxes {
		t.Run(name, func(t *testing.T) {
			eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
				d := &diary{}
				a := haunt(t, sim, d, "g", core.Props{Mailbox: mailbox})
				sim.Rest()
				a.Pause()
				sim.Rest()
				p := ghostDo.At(a)
				var begun, late []core.Pending[int]
				for range 100 {
					begun = append(begun, core.Begin(p, sleeps(time.Second, "a")))
				}
				sim.Rest()
				a.Drain()
				sim.Rest()
				full := core.Begin(p, says("never"))
				a.Continue()
				for range 10 {
					late = append(late, core.Begin(p, says("never")))
				}
				sim.Rest()
				// all that it waits for has begun, so there is room again
				behind := core.Begin(p, says("never"))
				sim.Run(3 * time.Second)
				endedAs(t, core.ErrStopped, behind)
				// what comes behind the drain takes the places of what it waits for
				if name == "oldest" {
					endedAs(t, core.ErrMailboxFull, begun[:11]...)
					endedAs(t, nil, begun[11:]...)
					endedAs(t, core.ErrStopped, append(late, full)...)
				} else {
					endedAs(t, core.ErrMailboxFull, append(late, full)...)
					endedAs(t, nil, begun...)
				}
				require.NotContains(t, d.took(), "never")
				require.Zero(t, sim.Actors())
			})
		})
	}
}

// Calls that are held wait in their mailbox: they count, the oldest is dropped first, and they
// are taken in its order.
func TestHeldCallsCount(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	oldest := haunt(t, sim, d, "g", core.Props{Mailbox: core.Bounded(2, core.DropOldest)})
	sim.Rest()
	oldest.Pause()
	sim.Rest()
	p := ghostDo.At(oldest)
	var calls []core.Pending[int]
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		calls = append(calls, core.Begin(p, says(name)))
		sim.Rest()
	}
	endedAs(t, core.ErrMailboxFull, calls[:3]...)
	oldest.Continue()
	sim.Rest()
	endedAs(t, nil, calls[3:]...)
	require.Equal(t, "g1:start g1:d g1:e", d.took())

	serial := haunt(t, sim, d, "s", core.Props{Serial: true, Mailbox: core.ByPriority(3)})
	sim.Rest()
	p = ghostDo.At(serial)
	calls = nil
	for range 3 {
		calls = append(calls, core.Begin(p, sleeps(time.Second, "a")))
		sim.Rest()
	}
	calls = append(calls, core.Begin(p, says("b"))) // the first has begun
	sim.Rest()
	endedAs(t, core.ErrMailboxFull, core.Begin(p, says("never")))
	sim.Run(5 * time.Second)
	endedAs(t, nil, calls...)
	require.Equal(t, "s1:start s1:a s1:a s1:a s1:b", d.took())
}

// A call whose batch would take what follows it, and that has expired, leaves the others in their
// order.
func TestBatchBehindTheDead(t *testing.T) {
	for name, mailbox := range mailboxes {
		t.Run(name, func(t *testing.T) {
			sim := stage(t, 1, 1)
			c := &cook{}
			a, err := core.SpawnWith(sim, func() *cook { return c }, core.Props{Mailbox: mailbox})
			require.NoError(t, err)
			a.Pause()
			_, p := cast(sim, 0)
			call := core.Begin(p, func(_ *player, s *scene) core.Yield {
				cookAll.At(a).AskWithin(s, &s.f[0], 1, time.Second)
				cookAll.At(a).Ask(s, &s.f[1], 2)
				cookAll.At(a).Ask(s, &s.f[2], 3)
				cookOne.At(a).Ask(s, &s.f[3], 4)
				return s.wait(answer(0))
			})
			sim.Run(2 * time.Second)
			a.Continue()
			sim.Rest()
			endedAs(t, nil, call)
			require.Equal(t, []int{2, 3, 4}, c.did)
		})
	}
}

// cook notes what it is asked for, one by one or together.
type cook struct{ did []int }

func (c *cook) all(s *core.BatchAskStack[int, int]) core.Yield {
	for _, n := range s.All() {
		c.did = append(c.did, *n)
	}
	return s.ReturnAll(0)
}

func (c *cook) one(s *core.AskStack[int, int]) core.Yield {
	c.did = append(c.did, s.Req)
	return s.Return(0)
}

var (
	cookAll = core.HandleBatch((*cook).all, 8)
	cookOne = core.Handle((*cook).one)
)
