package pool

import "sync"

// Guests is a shard for goroutines that are not workers: the same pools behind a
// mutex. What a worker puts for it comes home through the incoming chain, as
// between workers. The zero Guests is ready.
type Guests struct {
	mu    sync.Mutex
	shard Shard
}

// Take is Shard.Take; any goroutine may call it.
func (g *Guests) Take(k *Kind) *Object {
	g.mu.Lock()
	defer g.mu.Unlock() // also when a check panics: the goroutine is the user's and may recover
	return g.shard.Take(k)
}

// Put is Shard.Put; any goroutine may call it.
func (g *Guests) Put(o *Object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shard.Put(o)
	g.shard.Flush() // nobody ends a turn here
}

// TakeTwo is two Takes behind one lock.
func (g *Guests) TakeTwo(a, b *Kind) (x, y *Object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shard.Take(a), g.shard.Take(b)
}

// PutTwo is two Puts behind one lock.
func (g *Guests) PutTwo(x, y *Object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shard.Put(x)
	g.shard.Put(y)
	g.shard.Flush()
}

// Bytes is Shard.Bytes; any goroutine may call it.
func (g *Guests) Bytes(n int) Bytes {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shard.Bytes(n)
}

// Trim is Shard.Trim; any goroutine may call it.
func (g *Guests) Trim(now int64) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shard.Trim(now)
}

// Outstanding is Shard.Outstanding; any goroutine may call it.
func (g *Guests) Outstanding() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shard.Outstanding()
}

// Usage is Shard.Usage; any goroutine may call it.
func (g *Guests) Usage() []Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shard.Usage()
}
