package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// This file is about runs of notices, which are one frame each.

// cut has no connection stand between the two, until mend.
func (c *calm) cut() {
	c.sim.Net.Unreachable = map[string]bool{c.there.Addr(): true}
	c.sim.Net.Break(c.there.Addr())
	c.sim.Run(10 * time.Millisecond)
}

func (c *calm) mend() {
	c.sim.Net.Unreachable = nil
	c.sim.Run(5 * time.Second)
}

func (c *calm) track() *track { return c.here.self.links["there"].tracks[0] }

// tell sends notices to an actor, from a number to another one, and lets them become bytes.
func (c *calm) tell(to core.AnyAddress, from, until int) {
	c.t.Helper()
	for i := from; i < until; i++ {
		require.NoError(c.t, core.Notice(tells.At(to), item{N: i}))
	}
	c.sim.Run(10 * time.Microsecond)
}

// kept returns the frames of a track that aren't acknowledged, and how many notices are in them.
func (c *calm) kept() (all []string, notices int) {
	k := c.track()
	for at := k.out.Left().Acknowledged; at < k.out.Left().End; {
		f, n, err := frame.Next(k.out.Kept(at))
		require.NoError(c.t, err)
		at += uint64(n)
		switch f.Kind {
		case frame.KindTell:
			var m frame.Tell
			require.NoError(c.t, m.Read(f))
			notices++
			all = append(all, fmt.Sprint("TELL ", m.To))
		case frame.KindTells:
			var m frame.Tells
			require.NoError(c.t, m.Read(f))
			n := 0
			for _, ok := m.Take(); ok; _, ok = m.Take() {
				n++
			}
			notices += n
			all = append(all, fmt.Sprint("TELLS ", m.To, " ", n))
		default:
			all = append(all, f.Kind.String())
		}
	}
	return all, notices
}

// letters returns how many notices of a system are dead letters.
func letters(of System) (n int) {
	for _, l := range of.(interface{ DeadLetters() []house.LetterCount }).DeadLetters() {
		n += int(l.Count)
	}
	return n
}

// second finds another counter there.
func (c *calm) second() core.AnyAddress {
	_, err := core.SpawnWith(c.there.system, func() *counter { return &counter{} }, core.Props{Name: "second"})
	require.NoError(c.t, err)
	far, err := housetest.Ask(c.t, c.sim, c.here.Finder(), Where{"there", "/user/second"})
	require.NoError(c.t, err)
	_, err = housetest.Ask(c.t, c.sim, count.At(far), struct{}{}) // so that it is declared
	require.NoError(c.t, err)
	return far
}

// TestRunsKeepOrder: a run ends where anything else is written to the stream, whomever it is for.
func TestRunsKeepOrder(t *testing.T) {
	c := newCalm(t)
	first, second := c.find(c.here, "there"), c.second()
	c.tell(first, 0, 1) // so that it is declared
	c.sim.Run(5 * time.Second)
	c.cut()
	before, _ := c.kept()
	c.tell(first, 1, 4)
	ask := core.Begin(count.At(first), struct{}{})
	c.tell(first, 4, 6)
	c.tell(second, 0, 2)
	c.tell(first, 6, 7)
	c.tell(second, 2, 5)
	typed, _ := core.As[counter](first)
	typed.Pause()
	c.tell(first, 7, 9)
	typed.Continue()
	c.tell(first, 9, 10)
	got, _ := c.kept()
	require.Equal(t, []string{"TELLS 1 3", "ASK", "TELLS 1 2", "TELLS 2 2", "TELL 1", "TELLS 2 3", "COMMAND", "TELLS 1 2", "COMMAND", "TELL 1"}, got[len(before):])
	c.mend()
	rep, err := ask.Get()
	require.NoError(t, err)
	require.Equal(t, 4, rep.Sum, "it has seen what was sent before it")
	for to, n := range map[core.AnyAddress]int{first: 10, second: 5} {
		rep, err := housetest.Ask(t, c.sim, count.At(to), struct{}{})
		require.NoError(t, err)
		require.Equal(t, n, rep.Sum)
	}
	require.Zero(t, letters(c.here.system))
}

// TestDrainBehindRun: the actor ends behind the whole of the run.
func TestDrainBehindRun(t *testing.T) {
	c := newCalm(t)
	drained := &counter{}
	elsewhere := c.there.system.(*house.System).Workers()[0] // the hub is on the other worker
	_, err := core.SpawnWith(elsewhere, func() *counter { return drained }, core.Props{Name: "drained"})
	require.NoError(t, err)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/drained"})
	require.NoError(t, err)
	c.tell(far, 0, 1)
	c.sim.Run(5 * time.Second)
	c.cut()
	c.tell(far, 1, 5)
	typed, _ := core.As[counter](far)
	typed.Drain()
	c.sim.Run(10 * time.Microsecond)
	c.mend()
	requireInOrder(t, 5, drained)
	require.Zero(t, letters(c.here.system)+letters(c.there.system))
}

// TestRunsLost: with the session, each notice of a run that the other end hasn't acknowledged is a
// dead letter here, and the other end hears of each that hasn't come: some have come, and their run
// wasn't acknowledged; some were in a frame that was under way; and the last run was still open.
func TestRunsLost(t *testing.T) {
	c := newCalm(t)
	g := &gauge{}
	at, err := core.SpawnWith(c.there.system.(*house.System).Workers()[0], func() *gauge { return g }, core.Props{Name: "gauge"})
	require.NoError(t, err)
	c.there.Gaps.Subscribe(gaugeGap.At(at))
	find := func() core.AnyAddress {
		far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/gauge"})
		require.NoError(t, err)
		return far
	}
	far := find()
	c.tell(far, 0, 2)
	c.sim.Run(5 * time.Second) // these are acknowledged
	c.tell(far, 2, 102)
	for i := 0; i < 1000 && len(g.heard) < 102; i++ {
		c.sim.Run(time.Microsecond)
	}
	require.Len(t, g.heard, 102)
	c.tell(far, 102, 1102)
	c.cut()
	c.tell(far, 1102, 1202)
	frames, kept := c.kept()
	require.Less(t, len(frames), 50)
	require.Contains(t, frames[len(frames)-1], "TELLS")
	require.GreaterOrEqual(t, kept, 200, "unacknowledged")
	require.Less(t, kept, 1202)
	c.sim.Run(40 * time.Second)
	require.Equal(t, kept, letters(c.here.system))
	came := len(g.heard)
	c.sim.Net.Unreachable = nil
	c.tell(find(), 1202, 1203)
	c.sim.Run(5 * time.Second)
	require.Len(t, g.heard, came+2)
	require.Equal(t, Gap{"here", uint64(came + 1), 1202}, g.heard[came].gap)
	require.Equal(t, 1202, g.heard[came+1].n)
	require.Equal(t, kept, letters(c.here.system))
}

// fuse is coded by hand, and goes off here or there.
type fuse struct{ At int }

const offHere, offThere = 1, 2

func (f *fuse) AppendWire(dst []byte) []byte {
	if f.At == offHere {
		panic("off")
	}
	return wire.AppendInt(dst, f.At)
}

func (f *fuse) ReadWire(r *wire.Reader) error {
	if f.At = r.Int(); f.At == offThere {
		panic("off")
	}
	return r.Err()
}

// charge is a message of which only a part of a part is coded by hand.
type charge struct {
	N     int
	Fuses []struct{ Of [1]fuse }
}

func chargeOf(n, at int) charge {
	c := charge{N: n, Fuses: make([]struct{ Of [1]fuse }, 1)}
	c.Fuses[0].Of[0].At = at
	return c
}

func (c *counter) charged(s *core.NoticeStack[charge]) core.Yield {
	c.told = append(c.told, s.Msg.N)
	return s.Return()
}

func (c *counter) fire(s *core.AskStack[charge, charge]) core.Yield {
	return s.Return(chargeOf(0, s.Req.N))
}

var (
	charges = core.NewNoticeMethod[charge]("test.counter.charged")
	fire    = core.NewMethod[charge, charge]("test.counter.fire")
	_       = core.HandleNotice((*counter).charged).As(charges)
	_       = core.Handle((*counter).fire).As(fire)
)

// TestCodecsThatPanic end their own call only, also in the middle of a run.
func TestCodecsThatPanic(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	ask := func(n, at int) error {
		_, err := housetest.Ask(t, c.sim, fire.At(far), chargeOf(n, at))
		return err
	}
	require.NoError(t, ask(0, 0))
	for i := range 30 {
		require.NoError(t, core.Notice(charges.At(far), chargeOf(i, i%3)))
	}
	c.sim.Run(time.Second)
	rep, err := housetest.Ask(t, c.sim, count.At(far), struct{}{})
	require.NoError(t, err)
	require.Equal(t, 10, rep.Sum)
	require.Equal(t, 10, letters(c.here.system))
	require.Equal(t, 10, letters(c.there.system))
	require.ErrorIs(t, ask(0, offHere), core.ErrPanic)
	require.ErrorIs(t, ask(0, offThere), core.ErrPanic)
	require.ErrorIs(t, ask(offHere, 0), core.ErrPanic)
	require.ErrorIs(t, ask(offThere, 0), core.ErrPanic)
	require.EqualValues(t, 1, c.here.self.links["there"].Session())
}

// TestRunsForWhoReadsThem: notices aren't one frame before the other end has said its version, nor
// if that is the first.
func TestRunsForWhoReadsThem(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 1)
	c.sim.Run(2 * time.Second) // all is acknowledged
	c.cut()
	for speaks := range uint64(3) {
		c.track().speaks = speaks
		before, _ := c.kept()
		c.tell(far, 0, 5)
		all, _ := c.kept()
		require.Equal(t, speaks < 2, len(all) == len(before)+5, "version %d: %v", speaks, all)
	}
}
