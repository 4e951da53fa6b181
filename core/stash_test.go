package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// The tests of this file have actors put messages back.

// door lets in who knocks while it is open, and has the others wait.
type door struct {
	open bool
	in   []int
}

type doorKnock struct{ core.AskStack[int, int] }

func (d *door) knock(s *doorKnock) core.Yield {
	if !d.open {
		return core.Stash(s)
	}
	d.in = append(d.in, s.Req)
	return s.Return(s.Req)
}

func (d *door) throw(s *core.NoticeStack[int]) core.Yield {
	if !d.open {
		return core.Stash(s)
	}
	d.in = append(d.in, s.Msg)
	return s.Return()
}

func (d *door) heap(s *core.BatchNoticeStack[int]) core.Yield {
	if !d.open {
		return core.Stash(s)
	}
	for _, m := range s.All() {
		d.in = append(d.in, *m)
	}
	return s.Return()
}

// turn opens the door, or closes it, or breaks it.
func (d *door) turn(s *core.AskStack[string, int]) core.Yield {
	switch s.Req {
	case "open":
		d.open = true
		core.Unstash(s)
	case "break":
		core.Unstash(s)
		panic(errHot)
	default:
		d.open = false
	}
	return s.Return(len(d.in))
}

var (
	doorKnocks = core.Handle((*door).knock)
	doorThrow  = core.HandleNotice((*door).throw)
	doorHeap   = core.HandleNoticeBatch((*door).heap, 4)
	doorTurn   = core.Handle((*door).turn)
)

func hang(t *testing.T, sim *housetest.Sim, d *door, p core.Props) core.Address[door] {
	t.Helper()
	a, err := core.SpawnWith(sim, func() *door { return d }, p)
	require.NoError(t, err)
	return a
}

// What is stashed begins again in its order and before what is queued, whatever it is and
// wherever it waited.
func TestStash(t *testing.T) {
	for name, mailbox := range mailboxes {
		t.Run(name, func(t *testing.T) {
			eachSeed(t, 20, 2, func(t *testing.T, sim *housetest.Sim) {
				d := &door{}
				a := hang(t, sim, d, core.Props{Mailbox: mailbox})
				var want []int
				var calls []core.Pending[int]
				for range 3 { // the second stashes what the first has begun again
					for range 20 {
						n := len(want)
						switch kind := int(sim.Seed) + n/7; kind % 3 {
						case 0:
							calls = append(calls, core.Begin(doorKnocks.At(a), n))
						case 1:
							core.Notice(doorThrow.At(a), n)
						case 2:
							core.Notice(doorHeap.At(a), n)
						}
						want = append(want, n)
						if n%5 == 0 {
							sim.Rest()
						}
					}
					sim.Rest()
					housetest.Ask(t, sim, doorTurn.At(a), "break")
				}
				require.Empty(t, d.in)
				a.Pause()
				sim.Rest()
				open := core.Begin(doorTurn.At(a), "open")
				core.Notice(doorThrow.At(a), -1)
				a.Continue()
				sim.Rest()
				endedAs(t, nil, append(calls, open)...)
				require.Equal(t, append(want, -1), d.in, "seed %d", sim.Seed)
			})
		})
	}
}

// A full stash tells who sent the message, and no other.
func TestStashIsBounded(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &door{}
	a := hang(t, sim, d, core.Props{Mailbox: core.Bounded(3, core.Reject)})
	var calls []core.Pending[int]
	for i := range 5 {
		calls = append(calls, core.Begin(doorKnocks.At(a), i))
		sim.Rest()
	}
	endedAs(t, core.ErrMailboxFull, calls[3:]...)
	core.Notice(doorThrow.At(a), 5)
	sim.Rest()
	require.Len(t, sim.DeadLetters(), 1)
	open := core.Begin(doorTurn.At(a), "open") // it has room
	sim.Rest()
	endedAs(t, nil, append(calls[:3:3], open)...)
	require.Equal(t, []int{0, 1, 2}, d.in)
}

// hoarder tells itself as much as its mailbox takes, behind what it has told itself before and
// what it unstashes in between.
type hoarder struct {
	self     core.NoticePort[int]
	other    core.Port[string, int]
	stashing bool
	fills    bool // the next notice that begins does
	took     int
}

type hoarderWait struct {
	core.AskStack[int, int]
	f core.Future[int]
}

func (h *hoarder) keep(s *core.NoticeStack[int]) core.Yield {
	if h.stashing {
		return core.Stash(s)
	}
	if h.fills {
		h.fills = false
		h.fill(s)
	}
	return s.Return()
}

func (h *hoarder) fill(s core.Running) {
	for h.took = 0; h.self.Notice(s, 0) == nil; {
		h.took++
	}
}

// atOnce fills the mailbox in the step that unstashes.
func (h *hoarder) atOnce(s *hoarderWait) core.Yield {
	h.queue(s, s.Req)
	core.Unstash(s)
	h.fill(s)
	return s.Return(h.took)
}

// held unstashes while the actor's calls are held, and has the first notice that begins then fill
// the mailbox.
func (h *hoarder) held(s *hoarderWait) core.Yield {
	h.queue(s, s.Req)
	h.other.Ask(s, &s.f, "close")
	return core.Suspend(s, (*hoarder).goOn)
}

func (h *hoarder) goOn(s *hoarderWait) core.Yield {
	core.Unstash(s)
	h.fills = true
	return s.Return(0)
}

func (h *hoarder) queue(s core.Running, n int) {
	h.stashing = false
	for range n {
		if err := h.self.Notice(s, 0); err != nil {
			panic(err)
		}
	}
}

var (
	hoarderKeep   = core.HandleNotice((*hoarder).keep)
	hoarderAtOnce = core.Handle((*hoarder).atOnce)
	hoarderHeld   = core.Handle((*hoarder).held)
)

// What is unstashed takes room in the mailbox, also from an envelope that was begun before,
// wherever that stands.
func TestUnstashTakesRoom(t *testing.T) {
	const bound, stashed = 16, 5
	for name, c := range map[string]struct {
		fill core.Handler[hoarder, int, int]
		room int // besides what is queued
	}{
		"at once": {hoarderAtOnce, bound - stashed},
		"held":    {hoarderHeld, bound - (stashed - 1)},
	} {
		t.Run(name, func(t *testing.T) {
			sim := stage(t, 1, 1)
			other := hang(t, sim, &door{}, core.Props{})
			h := &hoarder{}
			a, err := core.SpawnWith(sim, func() *hoarder { return h }, core.Props{Mailbox: core.Bounded(bound, core.Reject), Serial: true})
			require.NoError(t, err)
			h.self, h.other = hoarderKeep.At(a), doorTurn.At(other)
			for queued := range 8 {
				h.stashing = true
				for range stashed {
					require.NoError(t, core.Notice(h.self, 0))
				}
				sim.Rest()
				full := core.Begin(c.fill.At(a), queued)
				sim.Rest()
				endedAs(t, nil, full)
				require.Equal(t, c.room-queued, h.took)
			}
		})
	}
}

// With a stop what is stashed ends, with a restart it begins; what nobody waits for doesn't.
func TestStashEnds(t *testing.T) {
	for name, mailbox := range mailboxes {
		t.Run(name, func(t *testing.T) {
			eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
				for _, drain := range []bool{false, true} {
					a := hang(t, sim, &door{}, core.Props{Mailbox: mailbox})
					call := core.Begin(doorKnocks.At(a), 1)
					core.Notice(doorThrow.At(a), 2)
					sim.Rest()
					if drain {
						a.Drain()
					} else {
						a.Stop()
					}
					sim.Rest()
					endedAs(t, core.ErrStopped, call)
					require.Zero(t, sim.Actors())
				}
				d := &door{}
				a := hang(t, sim, d, core.Props{Mailbox: mailbox, OnFailure: always(core.Restart)})
				call := core.Begin(doorKnocks.At(a), 1)
				sim.Rest()
				d.open = true
				a.Restart(errHot)
				sim.Rest()
				endedAs(t, nil, call)

				d.open, d.in = false, nil
				late := core.Begin(doorKnocks.At(a), 3)
				sim.Run(time.Hour)
				housetest.Ask(t, sim, doorTurn.At(a), "open")
				endedAs(t, core.ErrTimeout, late)
				require.Empty(t, d.in)
				a.Stop()
				sim.Rest()
			})
		})
	}
}

// What can't go back to its beginning can't be stashed.
// doorLater is an ask that opens the door when its time has come.
type doorLater struct {
	core.AskStack[time.Duration, int]
	tick core.Future[core.Tick]
}

func (d *door) later(s *doorLater) core.Yield {
	core.Timer.Ask(s, &s.tick, s.Req)
	return core.Suspend(s, (*door).now)
}

func (d *door) now(s *doorLater) core.Yield {
	d.open = true
	core.Unstash(s)
	return s.Return(0)
}

// TestUnstashWhilePaused: what was stashed still goes before what has come since.
func TestUnstashWhilePaused(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		d := &door{}
		a := hang(t, sim, d, core.Props{})
		core.Notice(doorThrow.At(a), 1)
		core.Notice(doorThrow.At(a), 2)
		later := core.Begin(core.Handle((*door).later).At(a), 10*time.Millisecond)
		sim.Rest()
		a.Pause()
		sim.Rest()
		core.Notice(doorThrow.At(a), 3)
		sim.Run(20 * time.Millisecond)
		endedAs(t, nil, later)
		require.Empty(t, d.in)
		a.Continue()
		sim.Rest()
		require.Equal(t, []int{1, 2, 3}, d.in)
	})
}

func TestStashMisuse(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{})
	_, err := housetest.Ask(t, sim, ghostDo.At(a), func(_ *ghost, s *ghostStack) core.Yield {
		core.Timer.Ask(s, &s.wait, time.Second)
		return core.Stash(s)
	})
	require.ErrorIs(t, err, core.ErrPanic)
	_, err = housetest.Ask(t, sim, ghostDo.At(a), func(_ *ghost, s *ghostStack) core.Yield {
		core.Stash(s)
		return s.Return(0)
	})
	require.ErrorIs(t, err, core.ErrPanic)
}

// barred is a door whose calls keep others out, also those that are put back.
type barred struct{ door }

func (d *barred) knock(s *doorKnock) core.Yield { s.Barrier(); return d.door.knock(s) }
func (d *barred) throw(s *core.NoticeStack[int]) core.Yield {
	s.Barrier()
	return d.door.throw(s)
}
func (d *barred) heap(s *core.BatchNoticeStack[int]) core.Yield {
	s.Barrier()
	return d.door.heap(s)
}
func (d *barred) heapAsks(s *core.BatchAskStack[int, int]) core.Yield {
	s.Barrier()
	if !d.open {
		return core.Stash(s)
	}
	for _, m := range s.All() {
		d.in = append(d.in, *m)
	}
	return s.ReturnAll(0)
}
func (d *barred) turn(s *core.AskStack[string, int]) core.Yield { return d.door.turn(s) }

// tallies counts the calls that it is told of.
type tallies struct{ began, ended int }

func (c *tallies) Begins(core.Running) error { c.began++; return nil }
func (c *tallies) Ended(core.Running, error) { c.ended++ }

// The barrier of what is stashed ends with that, and so does the call for its middleware: each
// begins again later.
func TestStashEndsABarrier(t *testing.T) {
	sim := stage(t, 1, 2)
	d, tells := &barred{}, &tallies{}
	a := core.Spawn(sim, func() *barred { return d })
	turn := core.Handle((*barred).turn).At(a)
	knocks, throws := core.Handle((*barred).knock, tells).At(a), core.HandleNotice((*barred).throw, tells).At(a)
	asks, heaps := core.HandleBatch((*barred).heapAsks, 4).At(a), core.HandleNoticeBatch((*barred).heap, 4).At(a)
	ask := func(p core.Port[int, int], n int) {
		call := core.Begin(p, n)
		t.Cleanup(func() { call.Get() })
	}
	for i, put := range []func(n int){
		func(n int) { ask(knocks, n) },
		func(n int) { ask(asks, n) },
		func(n int) { core.Notice(throws, n) },
		func(n int) { core.Notice(heaps, n) },
	} {
		*tells, d.in = tallies{}, nil
		put(1)
		put(2)
		sim.Rest()
		require.Equal(t, tells.began, tells.ended, "%d", i)
		open := core.Begin(turn, "open")
		sim.Rest()
		require.True(t, open.Ready(), "%d: nothing begins", i)
		open.Get()
		require.Equal(t, []int{1, 2}, d.in, "%d", i)
		require.Equal(t, tells.began, tells.ended, "%d", i)
		_, err := housetest.Ask(t, sim, turn, "close")
		require.NoError(t, err, "%d", i)
	}
}

// TestStashIsFullOfTheLiving: calls for which nobody waits any more give their places up.
func TestStashIsFullOfTheLiving(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{AskTimeout: time.Second})
	d := &door{}
	a := hang(t, sim, d, core.Props{Mailbox: core.Bounded(4, core.Reject)})
	for i := range 10 {
		_, err := core.Ask(t.Context(), doorKnocks.At(a), i)
		require.Equal(t, core.ErrTimeout, err, "ask %d", i)
	}
	var calls []core.Pending[int]
	for i := range 5 {
		calls = append(calls, core.Begin(doorKnocks.At(a), i))
		sim.Run(time.Millisecond)
	}
	_, err := calls[4].Get()
	require.Equal(t, core.ErrMailboxFull, err)
	_, err = housetest.Ask(t, sim, doorTurn.At(a), "open")
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2, 3}, d.in, "the living are in their order")
	for i, call := range calls[:4] {
		n, err := call.Get()
		require.NoError(t, err)
		require.Equal(t, i, n)
	}
}
