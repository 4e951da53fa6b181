package core

import (
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/stack"
)

// policy is how a router chooses a member; nil: there is none. w is the asker's worker, nil for a
// guest; key is the message's, if the router has keys.
type policy interface {
	pick(w *stack.Engine, key uint64) *stack.House
}

// nearest chooses the replica of the asker's worker; for guests, the replicas in turn.
type nearest struct {
	set    *replicas
	guests turns
}

//alloc:none
func (n *nearest) pick(w *stack.Engine, _ uint64) *stack.House {
	if w == nil {
		return n.guests.pick(nil, 0)
	}
	all, i := n.set.all, w.Index
	if i >= len(all) { // the asker is of another system, with more workers
		i %= len(all)
	}
	return all[i]
}

// turns chooses the members in turn; each worker has a count of its own, which begins at the
// worker's index.
type turns struct {
	roster *roster
	counts locals
	guests atomic.Uint64
}

//alloc:none
func (t *turns) pick(w *stack.Engine, _ uint64) *stack.House {
	l := t.roster.list()
	if len(l.houses) == 0 {
		return nil
	}
	return t.roster.from(l, t.next(w, len(l.houses)))
}

// next returns the index, below n, of the member whose turn it is.
func (t *turns) next(w *stack.Engine, n int) int {
	if w == nil {
		return int((t.guests.Add(1) - 1) % uint64(n))
	}
	count := t.counts.of(w)
	i := count.n
	if i >= uint64(n) {
		i %= uint64(n)
	}
	count.n = i + 1
	return int(i)
}

// chance chooses at random, by a generator for each worker: splitmix64, whose state is one word and
// whose period is long enough.
type chance struct {
	roster *roster
	states locals
	guests atomic.Uint64
}

//alloc:none
func (c *chance) pick(w *stack.Engine, _ uint64) *stack.House {
	l := c.roster.list()
	if len(l.houses) == 0 {
		return nil
	}
	i, _ := bits.Mul64(c.draw(w), uint64(len(l.houses)))
	return c.roster.from(l, int(i))
}

func (c *chance) draw(w *stack.Engine) uint64 {
	if w == nil {
		return mix(c.guests.Add(golden))
	}
	state := c.states.of(w)
	state.n += golden
	return mix(state.n)
}

// keys chooses the member for which a hash of member and key is the highest (rendezvous hashing;
// Thaler and Ravishankar, 1998). Each member has the same share of the keys. A new member takes its
// share evenly from the others, and no key moves between these. A look-up takes time in proportion
// to the members: for up to some dozens that is faster than a ring, and needs no list of points.
type keys struct{ roster *roster }

//alloc:none
func (k *keys) pick(_ *stack.Engine, key uint64) *stack.House {
	key = mix(key + golden)
	for {
		l := k.roster.list()
		if len(l.houses) == 0 {
			return nil
		}
		best, highest := 0, uint64(0)
		for i, point := range l.points {
			if rank := mix(key ^ point); rank >= highest {
				best, highest = i, rank
			}
		}
		if h := l.houses[best]; !h.Gone() {
			return h
		}
		k.roster.prune() // its keys go to the others
	}
}

// queues chooses the member in whose house the fewest calls wait, as far as the asker's worker
// knows; among equals, in turn.
type queues struct{ turns }

//alloc:none
func (q *queues) pick(w *stack.Engine, _ uint64) *stack.House {
	l := q.roster.list()
	n := len(l.houses)
	if n == 0 {
		return nil
	}
	var shortest *stack.House
	least := math.MaxInt
	for i := q.next(w, n); least > 0 && n > 0; n-- {
		h := l.houses[i]
		if i++; i == len(l.houses) {
			i = 0
		}
		if waiting := h.Queued(w); waiting < least && !h.Gone() {
			shortest, least = h, waiting
		}
	}
	if shortest == nil {
		q.roster.prune()
	}
	return shortest
}

// locals is what a router keeps for each worker that uses it.
type locals struct {
	first func(worker uint64) uint64 // the first n of a worker with that index
	all   atomic.Pointer[[]*local]
}

// local is what a router keeps for one worker, which alone writes it.
type local struct {
	worker *stack.Engine
	n      uint64
	_      [112]byte // n and what others write are in different cache lines
}

// of returns the local of w.
func (t *locals) of(w *stack.Engine) *local {
	if all := t.all.Load(); all != nil && w.Index < len(*all) {
		if l := (*all)[w.Index]; l.worker == w {
			return l
		}
	}
	return t.find(w)
}

// find returns the local of w if it isn't at the index of w, as when two systems use one router, or
// makes it.
//
//go:noinline
func (t *locals) find(w *stack.Engine) *local {
	own := &local{worker: w, n: t.first(uint64(w.Index))}
	for {
		old := t.all.Load()
		var all []*local
		if old != nil {
			for _, l := range *old {
				if l.worker == w {
					return l
				}
			}
			all = append(all, *old...)
		}
		for len(all) <= w.Index {
			all = append(all, &local{})
		}
		if all[w.Index].worker == nil {
			all[w.Index] = own
		} else {
			all = append(all, own)
		}
		if t.all.CompareAndSwap(old, &all) {
			return own
		}
	}
}
