package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack/command"
)

// This file is about what stand-ins and slots remember.

// TestShortBehindLong: what an actor is told behind a long message waits until all of that is
// written, and goes then. Whose last message was a short one isn't taken for one who writes long
// ones.
func TestShortBehindLong(t *testing.T) {
	for _, size := range []int{session.Window * 3 / 4, 3 << 20} {
		c := newCalm(t)
		all, far := c.counters(1)
		c.tell(far[0], 0, 1)
		k := c.track()
		r := k.standIns[1]
		require.False(t, r.long)
		require.NoError(t, core.Notice(tells.At(far[0]), padded(1, size)))
		for !r.sending {
			c.sim.Turn()
		}
		require.True(t, r.long)
		for n := 2; n < 10; n++ {
			require.NoError(t, core.Notice(tells.At(far[0]), item{N: n}))
		}
		for len(all[0].told) < 10 {
			c.sim.Turn()
			balanced(t, c.here)
		}
		requireInOrder(t, 10, all[0])
		require.False(t, r.long)
	}
}

// TestCommandsOfAKind wait once, behind those that they don't undo.
func TestCommandsOfAKind(t *testing.T) {
	c := newCalm(t)
	far, _ := core.As[counter](c.find(c.here, "there"))
	c.tell(far.Any(), 0, 1)
	c.sim.Run(5 * time.Second)
	c.cut()
	k := c.track()
	for k.tryAppend((&frame.Cancel{}).Append(nil)) {
	}
	for _, say := range []struct {
		what command.Verb
		want []command.Verb
	}{
		{command.Pause, []command.Verb{command.Pause}},
		{command.Restart, []command.Verb{command.Pause, command.Restart}},
		{command.Restart, []command.Verb{command.Pause, command.Restart}},
		{command.Continue, []command.Verb{command.Restart, command.Continue}},
		{command.Restart, []command.Verb{command.Continue, command.Restart}},
	} {
		k.standIns[1].Command(nil, say.what)
		require.Equal(t, say.want, k.standIns[1].commands)
	}
}

// TestCommandsOfTheStopped: what an actor is told that has stopped isn't written, as another one
// may have its number.
func TestCommandsOfTheStopped(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 1)
	k := c.track()
	end := k.out.Left().End
	k.standIns[1].Command(nil, command.Resume) // of which other nodes say nothing
	require.Equal(t, end, k.out.Left().End)
	for range 2 {
		require.NoError(t, k.gone(&frame.Gone{To: 1}))
		require.Len(t, k.unused, 1)
	}
	k.standIns[1].Command(nil, command.Stop)
	require.Equal(t, end, k.out.Left().End)
}

// TestOfWhatWasNotDeclared: frames about actors and asks that there aren't are errors. The other
// node's hub never stops.
func TestOfWhatWasNotDeclared(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	k := c.track()
	for _, n := range []uint64{uint64(len(k.standIns)), 1 << 40} {
		require.Equal(t, errRef, k.hold(n, true))
		require.Equal(t, errRef, k.hold(n, false))
		require.Equal(t, errRef, k.gone(&frame.Gone{To: n}))
	}
	for _, n := range []uint64{0, uint64(len(k.slots)), 1 << 40} { // 0 is free
		require.Equal(t, errSlot, k.reply(&frame.Reply{Slot: n}))
		require.Equal(t, errSlot, k.fail(&frame.Fail{Slot: n}))
	}
	require.NoError(t, k.gone(&frame.Gone{}))
	require.False(t, k.hub().gone)
	require.True(t, far == c.find(c.here, "there"))
}

// TestHeldTwice: HOLD of an actor that is held says nothing new, nor does RESUME of one that isn't.
func TestHeldTwice(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 1)
	k := c.track()
	c.sim.Run(5 * time.Second) // all is acknowledged
	for _, is := range []bool{true, false} {
		for range 2 {
			require.NoError(t, k.hold(1, is))
			require.Equal(t, btoi(is), k.held)
			require.Equal(t, is, k.wanted)
		}
	}
}

// TestSlotsAreTakenAgain: asks one after another have one slot, and what they answer is read as
// what was asked.
func TestSlotsAreTakenAgain(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	for n := range 5 {
		rep, err := housetest.Ask(t, c.sim, add.At(far), addReq{n})
		require.NoError(t, err)
		require.Equal(t, 2*n, rep.Sum)
	}
	require.Len(t, c.track().slots, 1)
}

// TestRepliesThatCannotBeRead: the other node has another type for them. The asker hears of it.
func TestRepliesThatCannotBeRead(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	k := c.track()
	by := &k.byMine[k.methods.byName["test.counter.add"].number-1]
	f := **by
	f.reply, f.noReply = nil, errNoCredit
	*by = &f
	_, err := housetest.Ask(t, c.sim, add.At(far), addReq{1})
	require.ErrorIs(t, err, errNoCredit)
}

// TestActorOfASessionThatIsOver: an actor that a message tells of as its session ends is out of
// reach from the start.
func TestActorOfASessionThatIsOver(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	k.link.giveUp(ErrUnreachable)
	require.True(t, k.newStandIn(5, hubKind).house.Gone())
	k.settle()
}
