package order

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
)

// call is a call that knows its sender, and its number.
type call struct {
	next   *call
	from   From
	class  int
	number int
}

func link(c *call) **call { return &c.next }

// TestPriority: the first of the lowest class is next.
func TestPriority(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := NewPriority(link, func(c *call) int { return c.class })
	var waiting []*call
	for i := range 10_000 {
		if rng.IntN(100) < 45 && i < 9_000 {
			c := &call{class: rng.IntN(Classes+4) - 2, number: i}
			p.Push(c)
			waiting = append(waiting, c)
		} else if len(waiting) > 0 {
			best := 0
			for j, c := range waiting {
				if min(max(c.class, 0), Classes-1) < min(max(waiting[best].class, 0), Classes-1) {
					best = j
				}
			}
			require.Same(t, waiting[best], p.Peek())
			require.Same(t, waiting[best], p.Pop())
			waiting = append(waiting[:best], waiting[best+1:]...)
		}
		require.Equal(t, len(waiting), p.Len())
	}
	require.Nil(t, p.Pop())
	require.Nil(t, p.Peek())
}

// TestFair: the calls of each sender stay in order, all are popped, and no queue is left.
func TestFair(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		f := NewFair(link, func(c *call) From { return c.from })
		shards := make([]pool.Shard, 4)
		sent, taken := map[From][]*call{}, 0
		take := func() {
			next := f.Peek()
			c := f.Pop()
			require.Same(t, next, c)
			taken++
			// any sender of its shard may have sent a notice, so it is in order with all of them
			for from, calls := range sent {
				if from.Shard == c.from.Shard && (from == c.from || from.Notice || c.from.Notice) {
					require.LessOrEqual(t, c.number, calls[0].number, "seed %d", seed)
				}
			}
			require.Same(t, sent[c.from][0], c)
			if sent[c.from] = sent[c.from][1:]; len(sent[c.from]) == 0 {
				delete(sent, c.from)
			}
		}
		const calls = 1000
		askers := 1 + rng.IntN(100)
		for i := range calls {
			from := From{Shard: &shards[rng.IntN(len(shards))]}
			switch rng.IntN(4) {
			case 0:
				from.Notice = true
			case 1:
				from.Guests = from.Shard
			default:
				from.Asker = uint64(1 + rng.IntN(askers))
				from.Shard = &shards[from.Asker%uint64(len(shards))]
			}
			c := &call{from: from, number: i}
			sent[from] = append(sent[from], c)
			f.Push(c)
			for rng.IntN(3) == 0 && f.Len() > 0 {
				take()
			}
		}
		for f.Len() > 0 {
			take()
		}
		require.Equal(t, calls, taken)
		require.Nil(t, f.Pop())
		require.Zero(t, f.senders, "seed %d: queues are left", seed)
	}
}

// TestFairTurns: of 100 senders with ten calls each, each has its turn in every round.
func TestFairTurns(t *testing.T) {
	f := NewFair(link, func(c *call) From { return c.from })
	for asker := range uint64(100) {
		for n := range 10 {
			f.Push(&call{from: From{Asker: asker + 1}, number: n})
		}
	}
	for round := range 10 {
		for asker := range uint64(100) {
			c := f.Drain()
			require.Equal(t, asker+1, c.from.Asker)
			require.Equal(t, round, c.number)
		}
	}
}
