package pool

import (
	"sync"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/self"
)

// Guests are shards for goroutines that are not workers: the same pools, behind mutexes. Objects
// that a worker puts come home through the incoming chain, as between workers. A goroutine keeps to
// one of the shards, so that two seldom want the same mutex. The zero Guests is ready.
type Guests struct{ stripes [GuestStripes]stripe }

// GuestStripes is the number of shards: enough that few busy goroutines share one.
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

// Lock locks the calling goroutine's shard and returns it, valid until Unlock: for several calls on
// one shard. No code of users may run meanwhile.
func (g *Guests) Lock() *Shard {
	s := g.mine()
	invariant.Lock(&s.mu)
	return &s.shard
}

// Unlock undoes Lock. It must be called on the same goroutine.
func (g *Guests) Unlock() { g.mine().mu.Unlock() }

// Take is Shard.Take; any goroutine may call it.
func (g *Guests) Take(k *Kind) *Object {
	s := g.mine()
	invariant.Lock(&s.mu)
	defer s.mu.Unlock() // also when a check panics: the goroutine is the user's and may recover
	return s.shard.Take(k)
}

// Put is Shard.Put; any goroutine may call it. It clears o before it locks, as the code that clear
// runs may need the lock.
func (g *Guests) Put(o *Object) {
	if !o.release() {
		return
	}
	s := g.mine()
	invariant.Lock(&s.mu)
	s.keep(o)
	s.mu.Unlock()
}

// TakeTwo is two calls of Take under one lock.
func (g *Guests) TakeTwo(a, b *Kind) (x, y *Object) {
	s := g.mine()
	invariant.Lock(&s.mu)
	defer s.mu.Unlock()
	return s.shard.Take(a), s.shard.Take(b)
}

// PutTwo is two calls of Put under one lock.
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

// keep adds o, which was released, to the free objects, or sends it home at once, as no turn ends
// here whose Flush would.
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

// Trim is Shard.Trim of all shards; any goroutine may call it.
func (g *Guests) Trim() (dropped int) {
	g.each(func(s *Shard) { dropped += s.Trim() })
	return dropped
}

// Outstanding is Shard.Outstanding of all shards; any goroutine may call it.
func (g *Guests) Outstanding() (n int) {
	g.each(func(s *Shard) { n += s.Outstanding() })
	return n
}

// Usage is Shard.Usage of all shards, added up by kind; any goroutine may call it.
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
