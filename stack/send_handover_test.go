package stack

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/pace"
)

// porter notes the numbers that it is told, and asks another actor for negative ones.
type porter struct {
	seen []int
	errs []error
	ask  *House
}

type porterStack struct {
	NoticeStack[int]
	f Future[int]
}

// hear notes a number; before a negative one it asks.
func (p *porter) hear(s *porterStack) Yield {
	if s.Msg >= 0 {
		p.seen = append(p.seen, s.Msg)
		return s.Return()
	}
	c := s.Bind(s.f.Promise(), keeperAsk, 0)
	*Request[int, int](c) = s.Msg
	s.Engine().Push(p.ask, c)
	return Suspend(s, (*porter).heard)
}

func (p *porter) heard(s *porterStack) Yield {
	_, err := s.f.Get()
	p.errs = append(p.errs, err)
	return s.Return()
}

var porterHear = newNotice((*porter).hear)

// deliver tells a house a number, and has its owner take it.
func deliver(h *hand, to *House, n int) {
	tell(h, to, porterHear, n)
	to.Owner().TakeRungs()
}

// Cold counts houses with calls only, waiting and visited ones, and not those that go ahead.
func TestCold(t *testing.T) {
	h := newHand(t, 1)
	w := h.workers[0]
	one, other := settleOn(h, 0, &porter{}), settleOn(h, 0, &porter{})
	h.settle()
	_, before := w.Cold()
	deliver(h, one, 1)
	deliver(h, other, 2)
	other.Stop(w.Guests)
	w.TakeRungs()
	waiting, visited := w.Cold()
	require.Equal(t, 1, waiting)
	require.Equal(t, before, visited)
	w.Run(256)
	waiting, visited = w.Cold()
	require.Zero(t, waiting)
	require.Equal(t, before+1, visited)
}

// If two houses wait, the last one is given away, with the promises for which it waits.
func TestHandOver(t *testing.T) {
	h := newHand(t, 2)
	a, b := h.workers[0], h.workers[1]
	k := settleOn(h, 0, &keeper{})
	stays, goes := &porter{ask: k}, &porter{ask: k}
	first, last := settleOn(h, 0, stays), settleOn(h, 0, goes)
	tell(h, last, porterHear, -1) // the keeper doesn't answer this yet
	h.settle()
	require.Len(t, h.drivers[0].armed, 2, "the porter's deadline, and what the keeper waits for")
	a.Now = h.now
	deliver(h, first, 1)
	deliver(h, last, 2)
	a.Now += 1000
	require.EqualValues(t, 1000, a.Backlog())
	require.Equal(t, 1, a.Surplus())
	since := last.readyAt

	require.True(t, b.Park())
	require.Equal(t, 1, a.HandOver(b, 1))
	require.True(t, b.Woken())
	require.True(t, b.Unpark())
	require.Equal(t, b.Index, last.Owner().Index)
	require.Equal(t, a.Index, first.Owner().Index)
	require.Len(t, h.drivers[0].armed, 1)
	require.Empty(t, h.drivers[1].armed)
	tell(h, last, porterHear, 3) // while it is on its way
	require.Same(t, last, b.rungs.Load())

	b.Now = a.Now + 5000
	b.TakeRungs()
	require.Len(t, h.drivers[1].armed, 1)
	require.Equal(t, since, last.readyAt, "it has waited all the time")
	require.Zero(t, b.Surplus(), "the only one")
	h.turn(1)
	require.Equal(t, []int{2, 3}, goes.seen)
	require.Empty(t, stays.seen)
	h.turn(0)
	require.Equal(t, []int{1}, stays.seen)
	h.now += 6e9
	h.turn(1)
	require.Equal(t, []error{fault.ErrTimeout}, goes.errs)
	for _, p := range []*House{k, first, last} {
		p.Stop(&h.guests)
	}
	h.settle()
	a.Count.Publish()
	require.EqualValues(t, 1, a.Count.Load(count.Given))
}

// Mail that was rung for at the former owner is passed on.
func TestRungOfAHouseThatMoved(t *testing.T) {
	h := newHand(t, 3)
	p := &porter{}
	house := settleOn(h, 0, p)
	tell(h, house, porterHear, 1)
	h.workers[0].TakeRungs()
	tell(h, house, porterHear, 2) // rung for at worker 0
	h.workers[0].HandOver(h.workers[1], 1)
	h.workers[1].TakeRungs()
	h.workers[1].HandOver(h.workers[2], 1)
	require.Equal(t, h.workers[1].Index, house.Owner().Index, "it has just moved")
	h.workers[1].Now += int64(giveAgainAfter) << 20
	h.workers[1].HandOver(h.workers[2], 1)
	require.Equal(t, h.workers[2].Index, house.Owner().Index)
	tell(h, house, porterHear, 3)
	h.turn(2)
	require.Equal(t, []int{1, 2, 3}, p.seen)
	tell(h, house, porterHear, 4)
	h.turn(1)
	h.turn(2)
	require.Len(t, p.seen, 3, "worker 0 has its rung")
	h.turn(0)
	require.Same(t, house, h.workers[2].rungs.Load())
	h.turn(2)
	require.Equal(t, []int{1, 2, 3, 4}, p.seen)
	h.workers[0].Count.Publish()
	require.EqualValues(t, 1, h.workers[0].Count.Load(count.Forwards))
}

// Messages from the new owner of a house that is on its way go behind those sent before.
func TestSendToAHouseOnItsWay(t *testing.T) {
	h := newHand(t, 2)
	p := &porter{}
	house := settleOn(h, 0, p)
	from := settleOn(h, 1, &writer{})
	tell(h, house, porterHear, 1)
	h.workers[0].TakeRungs()
	h.workers[0].HandOver(h.workers[1], 1)
	tell(h, house, porterHear, 2)
	gifts := h.workers[1].gifts.Swap(nil) // as if it had looked at gifts before, and now at rungs
	tell(h, from, writerWrite, func(w *Engine) {
		s := w.Begin(porterHear)
		*Message[int](s) = 3
		w.Push(house, s)
		house.Stop(w.Guests)
	})
	h.turn(1)
	require.Empty(t, p.seen)
	require.Equal(t, queuedGift, house.queued)
	require.False(t, house.Gone())
	h.workers[1].gifts.Store(gifts)
	h.turn(1)
	require.True(t, house.Gone(), "system messages go ahead")
	require.Empty(t, p.seen)
}

// The notice to a watcher goes behind notices that its sender has told before, even if the house
// has become the sender's own meanwhile.
func TestTerminatedToAHouseOnItsWay(t *testing.T) {
	h := newHand(t, 2)
	p := &porter{}
	house := settleOn(h, 0, p)
	from := settleOn(h, 1, &writer{})
	tell(h, house, porterHear, 1)
	h.workers[0].TakeRungs()
	tell(h, house, porterHear, 2) // it is rung for, so the next notice waits in the outbox
	tell(h, from, writerWrite, func(w *Engine) {
		require.NoError(t, notify(w, house, porterHear, 3))
		require.Equal(t, 1, h.workers[0].HandOver(w, 1))
		s := w.Begin(porterHear)
		*Message[int](s) = 4
		w.Squeeze(house, s)
	})
	h.turn(1)
	h.settle()
	require.Equal(t, []int{1, 2, 3, 4}, p.seen)
}

func TestHousesThatStay(t *testing.T) {
	h := newHand(t, 2)
	a, b := h.workers[0], h.workers[1]
	k := settleOn(h, 0, &keeper{})
	var all []*House
	for range 5 {
		all = append(all, settleOn(h, 0, &porter{ask: k}))
	}
	asks, tooMany, born, stops, moved := all[0], all[1], all[2], all[3], all[4]
	for range handOverArmed {
		tell(h, asks, porterHear, -1)
		tell(h, tooMany, porterHear, -1)
	}
	tell(h, tooMany, porterHear, -1)
	h.settle()
	require.Equal(t, handOverArmed, asks.Waiting())
	born.Stay()
	stops.Stop(&h.guests)
	h.settle()
	moved.givenAt = pace.MomentOf(1000 << 20)
	for _, p := range all {
		deliver(h, p, 1)
	}
	a.Now = (1000+int64(giveAgainAfter))<<20 - 1
	require.Equal(t, 1, a.Surplus())
	require.Equal(t, 1, a.HandOver(b, 5))
	require.Equal(t, b.Index, asks.Owner().Index)
	a.Now = (1000 + int64(giveAgainAfter)) << 20
	require.Equal(t, 1, a.HandOver(b, 5))
	require.Equal(t, b.Index, moved.Owner().Index)
	for _, p := range []*House{tooMany, born, stops} {
		require.Equal(t, a.Index, p.Owner().Index)
	}
	for _, p := range append(all, k) {
		p.Stop(&h.guests)
	}
}

// If Stay is called while a house is about to move, it doesn't move then, nor later.
func TestStayWhileMoving(t *testing.T) {
	h := newHand(t, 2)
	p := settleOn(h, 0, &porter{})
	tell(h, p, porterHear, 1)
	h.workers[0].TakeRungs()
	require.True(t, h.workers[0].movable(p))
	p.Stay() // after Surplus found it movable
	require.False(t, h.workers[0].give(p, h.workers[1]))
	require.Equal(t, h.workers[0].Index, p.Owner().Index)
	require.False(t, p.flags.Has(flags.Moving))

	p.flags.Clear(flags.Stays)
	p.flags.Set(flags.Moving)
	done := make(chan bool)
	go func() { p.Stay(); close(done) }()
	for !p.flags.Has(flags.Stays) {
	}
	select {
	case <-done:
		t.Fatal("Stay has returned while the house moves")
	default:
	}
	p.flags.Clear(flags.Moving)
	<-done
}

// A worker that leaves takes the houses that were given to it before, and no others.
func TestHandOverToAWorkerThatLeaves(t *testing.T) {
	h := newHand(t, 2)
	a, b := h.workers[0], h.workers[1]
	p, q := &porter{}, &porter{}
	one, two := settleOn(h, 0, p), settleOn(h, 0, q)
	deliver(h, one, 1)
	deliver(h, two, 2)
	require.Equal(t, 1, a.HandOver(b, 1))
	b.Leave()
	h.turn(1)
	require.Equal(t, []int{2}, q.seen)
	require.Zero(t, a.HandOver(b, 1))
	require.Equal(t, a.Index, one.Owner().Index)
	h.turn(0)
	require.Equal(t, []int{1}, p.seen)
	h.turn(1)
}

// Random sends, turns and hand-overs: every sender's messages come in order, and once.
func TestHandOversKeepOrder(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		h := newHand(t, 3)
		var readers []*reader
		var to []*House
		for i := range 4 {
			r := &reader{}
			readers, to = append(readers, r), append(to, settleOn(h, i%3, r))
		}
		froms := []*House{settleOn(h, 0, &writer{}), settleOn(h, 1, &writer{}), settleOn(h, 2, &writer{})}
		sent := map[[2]int]int{}
		moved := 0
		for range 300 {
			switch rnd.IntN(4) {
			case 0:
				h.turn(rnd.IntN(3))
			case 1:
				w := h.workers[rnd.IntN(3)]
				w.TakeRungs()
				w.Now = h.now + int64(giveAgainAfter+1)<<20
				h.now = w.Now
				moved += w.HandOver(h.workers[(w.Index+1+rnd.IntN(2))%3], 1+rnd.IntN(3))
			default:
				from, n := rnd.IntN(3), 1+rnd.IntN(5)
				tell(h, froms[from], writerWrite, func(w *Engine) {
					for range n {
						i := rnd.IntN(len(to))
						key := [2]int{from, i}
						tellFrom(w, to[i], 1+rnd.IntN(3)-1, from, sent[key])
						sent[key]++
					}
				})
			}
		}
		h.settle()
		require.Greater(t, moved, 5, "seed %d", seed)
		for i, r := range readers {
			got := map[int]int{}
			for _, m := range r.got {
				var from, n int
				fmt.Sscan(m, &from, &n)
				require.Equal(t, got[from], n, "seed %d: reader %d, sender %d", seed, i, from)
				got[from]++
			}
			for from := range froms {
				require.Equal(t, sent[[2]int{from, i}], got[from], "seed %d: reader %d, sender %d", seed, i, from)
			}
		}
	}
}

// A house is given to a worker while its step sends to that house: the messages in the outbox
// leave before the next one goes into the lane.
func TestHouseIsGivenToWhoSendsToIt(t *testing.T) {
	for way := range 3 {
		h := newHand(t, 2)
		r := &reader{}
		house, from := settleOn(h, 0, r), settleOn(h, 1, &writer{})
		tell(h, from, writerWrite, func(w *Engine) {
			tellFrom(w, house, way, 0, 0)
			tellFrom(w, house, way, 0, 1) // waits in the outbox, as the house is rung for
			tell(h, house, readWords, words{1, 0})
			h.workers[0].TakeRungs()
			require.Equal(t, 1, h.workers[0].HandOver(w, 1))
			tellFrom(w, house, way, 0, 2)
			tellFrom(w, house, 2, 0, 3)
		})
		h.settle()
		require.Equal(t, 1, house.Owner().Index)
		var got []string
		for _, m := range r.got {
			if m[0] == '0' {
				got = append(got, m)
			}
		}
		require.Equal(t, []string{"0 0", "0 1", "0 2", "0 3"}, got, "way %d", way)
	}
}
