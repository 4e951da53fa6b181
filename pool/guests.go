package pool

import (
	"sync"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/self"
)

// Guests are shards for goroutines that are not workers: the same pools, behind
// mutexes. What a worker puts for them comes home through the incoming chain, as between
// workers. A goroutine keeps to one of the shards, so that two seldom want the same mutex.
// The zero Guests is ready.
type Guests struct{ stripes [GuestStripes]stripe }

// GuestStripes is many times the processors of most machines.
const GuestStripes = 1 << stripeBits

const stripeBits = 4

type stripe struct {
	mu    sync.Mutex
	shard Shard
	_     [128]byte
}

// Stripe returns the number of the shard that the calling goroutine keeps to.
//
//alloc:none
func Stripe() int {
	return int(uint64(invariant.Self(self.ID())) * 0x9e3779b97f4a7c15 >> (64 - stripeBits))
}

func (g *Guests) mine() *stripe { return &g.stripes[Stripe()] }

// Lock locks the calling goroutine's shard and returns it, until Unlock: for what is at home
// there and needs more than one call. Nothing of the user's may run meanwhile.
func (g *Guests) Lock() *Shard {
	s := g.mine()
	invariant.Lock(&s.mu)
	return &s.shard
}

// Unlock is the end of what Lock began, on the same goroutine.
func (g *Guests) Unlock() { g.mine().mu.Unlock() }

// Take is Shard.Take; any goroutine may call it.
func (g *Guests) Take(k *Kind) *Object {
	s := g.mine()
	invariant.Lock(&s.mu)
	defer s.mu.Unlock() // also when a check panics: the goroutine is the user's and may recover
	return s.shard.Take(k)
}

// Put is Shard.Put; any goroutine may call it. It clears without the lock, which what clear runs
// may want.
func (g *Guests) Put(o *Object) {
	if !o.release() {
		return
	}
	s := g.mine()
	invariant.Lock(&s.mu)
	s.keep(o)
	s.mu.Unlock()
}

// TakeTwo is two Takes behind one lock.
func (g *Guests) TakeTwo(a, b *Kind) (x, y *Object) {
	s := g.mine()
	invariant.Lock(&s.mu)
	defer s.mu.Unlock()
	return s.shard.Take(a), s.shard.Take(b)
}

// PutTwo is two Puts behind one lock.
func (g *Guests) PutTwo(x, y *Object) {
	xFree, yFree := x.release(), y.release()
	s := g.mine()
	invariant.Lock(&s.mu)
	if xFree {
		s.keep(x)
	}
	if yFree {
		s.keep(y)
	}
	s.mu.Unlock()
}

// keep adds o, which was released, to the free ones, or sends it home: nobody ends a turn here.
func (s *stripe) keep(o *Object) {
	if l := o.list; l.shard == &s.shard {
		o.next = l.head
		l.head = o
	} else {
		l.shard.receive(o, o)
	}
}

// Bytes is Shard.Bytes; any goroutine may call it.
func (g *Guests) Bytes(n int) Bytes {
	s := g.mine()
	invariant.Lock(&s.mu)
	defer s.mu.Unlock()
	return s.shard.Bytes(n)
}

// Trim is Shard.Trim of all; any goroutine may call it.
func (g *Guests) Trim() (dropped int) {
	g.each(func(s *Shard) { dropped += s.Trim() })
	return dropped
}

// Outstanding is Shard.Outstanding of all; any goroutine may call it.
func (g *Guests) Outstanding() (n int) {
	g.each(func(s *Shard) { n += s.Outstanding() })
	return n
}

// Usage is Shard.Usage of all, kind by kind; any goroutine may call it.
func (g *Guests) Usage() []Usage {
	var all []Usage
	at := map[string]int{}
	g.each(func(s *Shard) {
		for _, u := range s.Usage() {
			i, ok := at[u.Name]
			if !ok {
				at[u.Name] = len(all)
				all = append(all, u)
				continue
			}
			all[i].Made += u.Made
			all[i].Free += u.Free
		}
	})
	return all
}

func (g *Guests) each(f func(*Shard)) {
	for i := range g.stripes {
		s := &g.stripes[i]
		invariant.Lock(&s.mu)
		f(&s.shard)
		s.mu.Unlock()
	}
}
