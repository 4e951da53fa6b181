package stack

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack/order"
)

// fairTest sends to a fair mailbox from all sides, and checks its order.
type fairTest struct {
	t      *testing.T
	h      *hand
	f      Mailbox
	sent   map[*Stack]sent
	pushed int
	popped int
}

type sent struct {
	from, n int
	due     int // how many calls are taken up to this one at most; 0: any number
	put     func()
}

// queuesMax is how many queues there may be: those of nine actors, of the guests, and of the
// notices of four shards.
const queuesMax = 14

// asks returns the sender of an ask.
func asks(s *Stack) order.From {
	f := fromOf(s)
	return order.From{Asker: f.Asker, Guests: f.Guests}
}

func (m *fairTest) push(s *Stack, from int, put func()) {
	// no call of this sender waits; for a notice, none of its shard; for an ask, no notice either
	alone := true
	of := asks(s)
	for other := range m.sent {
		switch {
		case s.back == nil:
			alone = alone && other.Home() != s.Home()
		default:
			alone = alone && asks(other) != of && (other.Home() != s.Home() || other.back != nil)
		}
	}
	m.pushed++
	it := sent{from: from, n: m.pushed, put: put}
	if alone {
		it.due = m.popped + queuesMax
	}
	m.sent[s] = it
	m.f.Push(s)
}

func (m *fairTest) pop(seed uint64) {
	next := m.f.Peek()
	s := m.f.Pop()
	require.Same(m.t, next, s, "seed %d", seed)
	require.NotNil(m.t, s, "seed %d: %d calls wait, and none has a turn", seed, len(m.sent))
	it := m.sent[s]
	delete(m.sent, s)
	m.popped++
	of := asks(s)
	for other, before := range m.sent {
		if before.from == it.from && before.n < it.n && (s.back == nil || other.back == nil || asks(other) == of) {
			m.t.Fatalf("seed %d: call %d of sender %d overtakes call %d", seed, it.n, it.from, before.n)
		}
	}
	require.True(m.t, it.due == 0 || m.popped <= it.due, "seed %d: call %d of sender %d waits for %d turns", seed, it.n, it.from, m.popped-it.due+queuesMax)
	require.Equal(m.t, len(m.sent), m.f.Len(), "seed %d", seed)
	it.put()
}

// TestFairOrder: actors on three workers and guests send notices and asks, and further actors
// forward asks. The calls of each sender stay in order, except asks that it forwards for different
// askers. A sender that has no call waiting waits for one round at most.
func TestFairOrder(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 77))
		h := newHand(t, 3)
		m := &fairTest{t: t, h: h, f: NewFair(), sent: map[*Stack]sent{}}
		var actors [9]*House
		for i := range actors {
			actors[i] = settleOn(h, i%3, &talker{})
		}
		ask := func(from int) (s *Stack, put func()) {
			if from == len(actors) {
				c := h.guests.Call(nil, clerkAsk)
				return c.Stack(), func() { h.guests.Done(c) }
			}
			w := h.workers[from%3]
			s = w.Begin(clerkAsk)
			s.back = actors[from]
			return s, func() { w.Shard.Put(&s.Object) }
		}
		send := func(from int, notice bool) {
			switch {
			case notice && from == len(actors):
				s := h.guests.Begin(nil, clerkLonge)
				m.push(s, from, func() { h.guests.Pools.Put(&s.Object) })
			case notice:
				w := h.workers[from%3]
				s := w.Begin(clerkLonge)
				m.push(s, from, func() { w.Shard.Put(&s.Object) })
			// one actor on each worker forwards the asks of another actor, or of a guest
			case from%3 == from/3:
				w := h.workers[from%3]
				first, put := ask(rng.IntN(len(actors) + 1))
				r := (*relay)(unsafe.Pointer(w.Shard.Take(relayKind)))
				r.call = first
				s := w.Begin(clerkAsk)
				s.back = &r.house
				m.push(s, from, func() {
					w.Shard.Put(&s.Object)
					w.Shard.Put(&r.Object)
					put()
				})
			default:
				s, put := ask(from)
				m.push(s, from, put)
			}
		}
		for range 60 {
			from, notices := rng.IntN(len(actors)+1), rng.IntN(5)
			for range []int{1, 1, 3, 100}[rng.IntN(4)] {
				send(from, rng.IntN(4) < notices)
			}
			for range rng.IntN(40) {
				if len(m.sent) > 0 {
					m.pop(seed)
				}
			}
		}
		for len(m.sent) > 0 {
			m.pop(seed)
		}
		require.Nil(t, m.f.Pop())
		for _, w := range h.workers {
			w.Shard.Flush()
		}
	}
}

// TestFairRound: 1,000 asks of one sender don't delay the single ask of another, nor calls from
// another worker. Asks behind a notice wait in its queue, and are fair again after the last notice.
func TestFairRound(t *testing.T) {
	h := newHand(t, 2)
	f := NewFair()
	a, b := settleOn(h, 0, &talker{}), settleOn(h, 0, &talker{})
	push := func(w *Engine, back *House, n int) (last *Stack) {
		for range n {
			if last = w.Begin(clerkLonge); back != nil {
				w.Shard.Put(&last.Object)
				last = w.Begin(clerkAsk)
				last.back = back
			}
			f.Push(last)
		}
		return last
	}
	taken := 0
	wait := func(s *Stack) (turns int) {
		for {
			turns++
			taken++
			got := f.Pop()
			h.workers[0].Shard.Put(&got.Object)
			if got == s {
				h.workers[0].Shard.Flush()
				return turns
			}
		}
	}
	w := h.workers[0]
	push(w, a, 1000)
	require.Equal(t, 2, wait(push(w, b, 1)), "behind one of the other's")
	require.Equal(t, 2, wait(push(h.workers[1], nil, 1)), "from another worker")
	notice := push(w, nil, 1)
	push(w, a, 500)
	one := push(w, b, 1)
	require.Equal(t, 1000-2+1, wait(notice), "which may be by who asked so often")
	require.LessOrEqual(t, wait(one), 2, "it came behind a notice that may be its sender's")
	wait(push(w, a, 1))
	require.Equal(t, 1000+1+1+1+500+1+1, taken)
	require.Zero(t, f.Len())
}
