package stack

import (
	"context"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// The tests of this file cover the casts of this package: from a pooled object
// to the stack, from a stack to the types that its handler was made for, and from
// the head of a stack to the user's struct.

// run visits ready houses until none is.
func (w *Engine) run() {
	for w.TakeRungs(); !w.Idle(); w.TakeRungs() {
		w.Run(256)
		w.ArmFresh()
		w.RunDeferred()
		w.Shard.Flush()
	}
}

func adopt[A any](w *Engine, serial uint64, actor *A) *House {
	h, _ := NewHouse(func() *A { return actor })
	h.Adopt(w, serial)
	return h
}

type (
	text    struct{ S string }
	figures struct{ N, M int }

	// lateStack has its Stack in the middle.
	lateStack struct {
		before [3]int
		AskStack[text, figures]
		after [2]int
	}
	lateActor struct{ asked []string }

	lateNotice struct {
		before [5]int64
		NoticeStack[text]
	}
)

func (a *lateActor) ask(s *lateStack) Yield {
	if s.before != [3]int{} || s.after != [2]int{} {
		panic("a stack isn't clear")
	}
	s.before, s.after = [3]int{1, 2, 3}, [2]int{4, 5}
	a.asked = append(a.asked, s.Req.S)
	return s.Return(figures{len(s.Req.S), len(a.asked)})
}

func (a *lateActor) told(s *lateNotice) Yield {
	s.before[4] = 7
	a.asked = append(a.asked, s.Msg.S)
	return s.Return()
}

var (
	lateAsk  = newAsk((*lateActor).ask)
	lateTold = newNotice((*lateActor).told)
)

func TestStackInTheMiddleOfStruct(t *testing.T) {
	w, _ := newTestWorker()
	a := &lateActor{}
	h := adopt(w, 1, a)
	for i := range 3 { // the second and third recycle
		c := w.Guests.Call(h, lateAsk)
		s := c.Stack()
		require.Equal(t, unsafe.Offsetof(lateStack{}.AskStack), uintptr(lateAsk.offset))
		Request[text, figures](s).S = "four"
		w.Guests.Send(c)
		w.run()
		require.True(t, c.Ready())
		c.cell.Take()
		require.NoError(t, s.Err())
		require.Equal(t, figures{4, i + 1}, *Reply[figures](s))
		w.Guests.Done(c)
	}
	s := w.Guests.Begin(h, lateTold)
	Message[text](s).S = "told"
	s.Post()
	w.run()
	require.Equal(t, []string{"four", "four", "four", "told"}, a.asked)
	require.Zero(t, w.Guests.Pools.Outstanding())
}

func TestLayouts(t *testing.T) {
	require.Zero(t, unsafe.Offsetof(Stack{}.Object), "stackOf")
	require.Zero(t, unsafe.Offsetof(answer[int]{}.Head), "Future.Get, Reply")
	require.Zero(t, unsafe.Offsetof(asked[int, int]{}.answer), "Request")
	require.Zero(t, unsafe.Offsetof(told[int]{}.Head), "Message")
	require.Zero(t, unsafe.Offsetof(Batch{}.Stack), "BatchOf")
	require.Zero(t, unsafe.Offsetof(hookStack{}.Stack), "hookOf")
	require.Zero(t, unsafe.Offsetof(envelopeFor[[1]int]{}.head)+unsafe.Offsetof(envelope{}.Stack), "envelopeOf")
	require.Zero(t, unsafe.Offsetof(job[int, int]{}.asked), "Offload")
	require.EqualValues(t, unsafe.Sizeof(InboundState{}), unsafe.Offsetof(Inbound{}.Stack), "InboundOf")
	require.EqualValues(t, unsafe.Sizeof(FanState{}), unsafe.Offsetof(fan{}.Stack), "FanOf")
	require.Zero(t, unsafe.Offsetof(Call{}.Object), "NewCall")
	c := &Call{}
	require.Same(t, c, callOf(&c.house))
	require.Same(t, &c.house, (&Stack{to: &c.house}).place().Load())
}

func TestSizes(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(House{})-unsafe.Sizeof(invariant.Solo{}), uintptr(128), "an idle actor is at most this, the actor, and its place in a register")
	require.Greater(t, unsafe.Sizeof(House{}), uintptr(112), "houses begin at cache lines")
	require.EqualValues(t, 64, unsafe.Offsetof(House{}.calls)-unsafe.Sizeof(invariant.Solo{}), "others write the first line only, which a visit only reads")
	require.LessOrEqual(t, unsafe.Sizeof(annex{}), uintptr(128))
	require.Greater(t, unsafe.Sizeof(annex{}), uintptr(112), "annexes begin at cache lines")
	require.EqualValues(t, 64, unsafe.Offsetof(annex{}.life), "others read the second line only, which a visit doesn't write")
	require.LessOrEqual(t, unsafe.Sizeof(Stack{}), uintptr(160), "a notice with a word is at most 168 bytes")
}

type (
	pairActor struct{ batches []int }
	pairBatch struct {
		before int
		BatchAskStack[text, figures]
	}
)

func (a *pairActor) all(s *pairBatch) Yield {
	a.batches = append(a.batches, s.Len())
	s.before++
	return s.ReturnEach(func(r *text) (figures, error) { return figures{len(r.S), s.before}, nil })
}

func TestBatchLayout(t *testing.T) {
	w, _ := newTestWorker()
	a := &pairActor{}
	h := adopt(w, 1, a)
	by := newBatchAsk((*pairActor).all, 0)
	var calls []*Call
	for range 3 {
		c := w.Guests.Call(h, by)
		Request[text, figures](c.Stack()).S = "three"
		w.Guests.Send(c)
		calls = append(calls, c)
	}
	w.run()
	for _, c := range calls {
		c.cell.Take()
		require.Equal(t, figures{5, 1}, *Reply[figures](c.Stack()))
		w.Guests.Done(c)
	}
	require.Equal(t, []int{3}, a.batches)
}

func TestJobLayout(t *testing.T) {
	w, _ := newTestWorker()
	by := NewJob[text, figures]()
	s := stackOf(w.Shard.Take(by.kind))
	j := (*job[text, figures])(unsafe.Pointer(s))
	j.Req.S, j.fn = "six", func(_ context.Context, in text) (figures, error) { return figures{N: len(in.S)}, nil }
	by.job.work(context.Background(), s)
	require.Equal(t, figures{N: 3}, *Reply[figures](s))
	w.Shard.Put(&s.Object)
}

// TestRelayLayout: a relay is found from its house, which is a call's way back, and from no other.
func TestRelayLayout(t *testing.T) {
	w, _ := newTestWorker()
	r := (*relay)(unsafe.Pointer(w.Shard.Take(relayKind)))
	require.Zero(t, unsafe.Offsetof(r.Object))
	first := &Stack{back: &House{serial: 1}}
	r.call = first
	s := &Stack{back: &r.house}
	require.Same(t, r, s.relay())
	require.Same(t, first, s.origin())
	for _, other := range []*Stack{first, {back: &(&Call{}).house}, {}} {
		require.Nil(t, other.relay())
		require.Same(t, other, other.origin())
	}
	w.Shard.Put(&r.Object)
	require.Nil(t, r.call)
}

// wire is a connection without a socket.
type wire struct {
	before int
	Stack
	pushed, ticked, finished int
	tick                     Future[struct{}]
}

func (c *wire) run() Yield {
	c.pushed++
	if c.pushed == 3 {
		return c.End()
	}
	if !c.tick.Waiting() {
		c.Alarm(c.tick.Promise(), 10, 0)
	}
	return Again(&c.Stack)
}

func (c *wire) alarm() Yield { c.ticked++; return Again(&c.Stack) }
func (c *wire) finish()      { c.finished++ }

func TestOwnedStack(t *testing.T) {
	w, _ := newTestWorker()
	h := adopt(w, 1, &pairActor{})
	c := &wire{before: 9}
	Own(c, h, NewOwned("wire", (*wire).run, (*wire).alarm, (*wire).finish))
	w.Push(h, &c.Stack)
	w.run()
	require.Equal(t, 1, c.pushed)
	require.True(t, c.tick.Waiting())

	p := c.tick.Promise()
	p.Slot = 0 // as the wheel leaves it
	w.Fire(&p.Node)
	w.run()
	require.Equal(t, 1, c.ticked)
	require.True(t, c.tick.Ready())

	for range 2 {
		w.Push(h, &c.Stack)
		w.run()
	}
	require.Equal(t, 3, c.pushed)
	require.Equal(t, 1, c.finished)
	require.Equal(t, 9, c.before)
	require.Zero(t, h.Waiting(), "its alarm is cancelled")
}

// TestMortalStacks: they end with the instance of their actor, which others outlive, and no drain
// waits for them.
func TestMortalStacks(t *testing.T) {
	w, _ := newTestWorker()
	h := adopt(w, 1, &pairActor{})
	own := func(mortal bool) *wire {
		by, c := NewOwned("wire", (*wire).run, (*wire).alarm, (*wire).finish), &wire{}
		if mortal {
			by = by.Mortal()
		}
		Own(c, h, by)
		w.Push(h, &c.Stack)
		w.run()
		return c
	}
	require.True(t, h.settled())
	mortal := own(true)
	require.True(t, h.settled())
	lasting := own(false)
	require.False(t, h.settled())
	w.restart(h, h.makeLife(), fault.ErrPanic, 0)
	require.Equal(t, 1, mortal.finished)
	require.Equal(t, fault.ErrRestarted, mortal.Err())
	require.Zero(t, lasting.finished)
	require.Equal(t, 1, h.Waiting())
}

type (
	gate      struct{}
	gateStack struct {
		before int
		ChannelStack[text, figures]
		f Future[struct{}]
	}
)

func (g *gate) serve(s *gateStack) Yield {
	s.before++
	if s.Req.S == "now" {
		return s.Return(figures{N: 1})
	}
	if s.Req.S == "last" {
		return s.ReturnLast(figures{N: 2})
	}
	s.Alarm(s.f.Promise(), 1, 0)
	return Suspend(s, (*gate).later)
}

func (g *gate) later(s *gateStack) Yield { return s.Return(figures{N: 3}) }

func TestInbound(t *testing.T) {
	w, _ := newTestWorker()
	h := adopt(w, 1, &gate{})
	var all []*Inbound
	var conn int
	ended := 0
	by := newChannel((*gate).serve, nil, func(c *Inbound) {
		require.Same(t, &conn, c.Conn)
		ended++
	})
	input := w.Shard.Copy([]byte("later now last"))
	for _, word := range []string{"later", "now", "last"} {
		c := w.Receive(h, by, &conn, 0)
		c.Input = input.Retain()
		Request[text, figures](&c.Stack).S = word
		w.Push(h, &c.Stack)
		all = append(all, c)
	}
	input.Release()
	w.run()
	require.Equal(t, 2, ended)
	require.False(t, all[0].Complete)
	require.False(t, all[0].GiveUp(w), "it waits, and ends")
	require.Equal(t, 3, ended)
	require.ErrorIs(t, all[0].Err(), fault.ErrCancelled)
	require.NoError(t, all[1].Err())
	require.False(t, all[1].Last)
	require.Equal(t, figures{N: 1}, *Reply[figures](&all[1].Stack))
	require.True(t, all[2].Last)
	for _, c := range all {
		w.Free(c)
	}
	require.Zero(t, h.Waiting())
}

// A request that LetBegin has released can be held back again, if it hasn't begun.
func TestHoldBackTwice(t *testing.T) {
	w, _ := newTestWorker()
	h := adopt(w, 1, &gate{})
	by := newChannel((*gate).serve, nil, func(*Inbound) {})
	c := w.Receive(h, by, t, 0)
	Request[text, figures](&c.Stack).S = "now"
	w.Push(h, &c.Stack)
	for range 3 {
		require.True(t, c.HoldBack())
		require.False(t, c.HoldBack())
		require.False(t, c.Aside)
		w.run()
		require.True(t, c.Aside)
		require.True(t, c.IsHeldBack())
		c.LetBegin()
		c.Aside = false
		w.Push(h, &c.Stack)
	}
	w.run()
	require.True(t, c.Complete)
	require.False(t, c.HoldBack())
	w.Free(c)
}

func TestStepNames(t *testing.T) {
	require.Equal(t, "stack.(*lateActor).ask", lateAsk.Name())
	w, _ := newTestWorker()
	s := stackOf(w.Shard.Take(lateAsk.kind))
	require.Equal(t, "stack.(*lateActor).ask", s.StepName())
	w.Shard.Put(&s.Object)
}

// TestHouseOfActor covers the pointer to the actor that its steps get.
func TestHouseOfActor(t *testing.T) {
	a := &lateActor{}
	h, _ := NewHouse(func() *lateActor { return a })
	require.Same(t, a, (*lateActor)(h.self()))
	require.Panics(t, func() { NewHouse(func() *lateActor { return nil }) })
}
