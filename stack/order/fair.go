package order

import "github.com/stackhouse-go/stackhouse/pool"

// Fair is one queue for each sender that has asks in it, and one for the notices of
// each shard, which don't say who sent them. The queues stand in a ring; empty ones are kept for
// other senders.
//
// Any notice may be by any sender of its shard, so that the order of each of them holds by these
// rules:
//
//	ask     stands in the queue of its shard's notices while any of them wait; otherwise in its
//	        sender's
//	notice  has no turn while asks from its shard, which all came before it, stand in their
//	        senders' queues
//	last    when the last notice of a shard is taken, the asks behind it go to their senders'
//	        queues
//
// So at each moment either the queue of a shard's notices has turns, or those in which asks from
// there stand. Calls of an actor that has been given to another worker come from another shard:
// they may overtake those of before.
type Fair[C any] struct {
	link    Link[C]
	from    func(*C) From
	buckets []*sender[C] // by the hash of who, chained; a power of two of them
	// whose turn is last, chained by next to whose turn is first; nil: there are no calls
	last    *sender[C]
	free    *sender[C] // chained by next
	senders int
	n       int
}

// sender is the queue of one, or that of a shard's notices.
type sender[C any] struct {
	who     who
	calls   queue[C]
	notices int // of a shard: how many of calls are notices
	// of a shard: how many asks from it stand in their senders' queues. Invariant: if any, it
	// isn't in the ring
	asks  int
	next  *sender[C] // in the ring, or among the free; nil: it has no turn
	chain *sender[C] // in its bucket
}

// NewFair returns an empty one, which takes one call of each sender in turn. A sender is an actor
// that asks, or the guests of a stripe; notices don't say who sent them: those of a shard count as
// one sender, as do the asks from there that come while any of them wait, and they wait for the
// asks from there that came before. So the calls of one sender stay in order; but what an actor
// sends when it has moved to another worker may overtake what it sent before.
func NewFair[C any](link Link[C], from func(*C) From) *Fair[C] {
	return &Fair[C]{link: link, from: from, buckets: make([]*sender[C], 8)}
}

// From is what a call says of its sender.
type From struct {
	Notice bool
	Shard  *pool.Shard // from which it comes; nil: from none, as it is a connection's own
	Asker  uint64      // the number of the actor that asks; 0: none does
	Guests *pool.Shard // from which it was asked, if no actor asks
}

// who tells a sender from others: it is an actor, or all that share a shard.
type who struct {
	asker uint64
	shard *pool.Shard
	asks  bool // its queue is of asks, and not of a shard's notices
}

// sender returns whose queue an ask is for.
func (f From) sender() who {
	if f.Asker != 0 {
		return who{asker: f.Asker, asks: true}
	}
	return who{shard: f.Guests, asks: true}
}

// bucket returns where a sender is. All shards share one: they are few.
func (f *Fair[C]) bucket(of who) **sender[C] {
	if of.asker == 0 {
		return &f.buckets[0]
	}
	return &f.buckets[of.asker*0x9e3779b97f4a7c15>>32&uint64(len(f.buckets)-1)]
}

// Push adds a call.
func (f *Fair[C]) Push(c *C) {
	from := f.from(c)
	at := f.find(who{shard: from.Shard})
	if from.Notice {
		at.notices++
	} else if at.notices == 0 {
		at.asks++
		at = f.find(from.sender())
	}
	at.calls.push(c, f.link)
	f.n++
	f.join(at)
}

// find returns the queue of a sender, and makes it if there is none.
func (f *Fair[C]) find(of who) *sender[C] {
	at := *f.bucket(of)
	for at != nil && at.who != of {
		at = at.chain
	}
	if at != nil {
		return at
	}
	if at = f.free; at == nil {
		at = &sender[C]{}
	} else {
		f.free, at.next = at.next, nil
	}
	if f.senders == 2*len(f.buckets) {
		f.grow()
	}
	b := f.bucket(of)
	at.who, at.chain = of, *b
	*b = at
	f.senders++
	return at
}

// join adds a queue with calls to the ring, unless it is there or must wait: its turn is last.
func (f *Fair[C]) join(at *sender[C]) {
	if at.next != nil || at.asks > 0 {
		return
	}
	if f.last == nil {
		at.next = at
	} else {
		at.next = f.last.next
		f.last.next = at
	}
	f.last = at
}

// Pop removes the next call; nil: there is none.
func (f *Fair[C]) Pop() *C {
	if f.last == nil {
		return nil
	}
	at := f.last.next
	c := at.calls.pop(f.link)
	f.n--
	var behind queue[C]
	from := f.from(c)
	if of := f.find(who{shard: from.Shard}); of != at {
		if of.asks--; of.calls.head != nil {
			f.join(of)
		} else if of.asks == 0 {
			f.forget(of)
		}
	} else if from.Notice {
		if at.notices--; at.notices == 0 {
			behind, at.calls = at.calls, queue[C]{}
		}
	}
	if at.calls.head != nil {
		f.last = at // its next turn is the last
	} else {
		f.part(at)
	}
	for late := behind.pop(f.link); late != nil; late = behind.pop(f.link) {
		f.n--
		f.Push(late)
	}
	return c
}

// part takes the sender whose turn was first out of the ring.
func (f *Fair[C]) part(at *sender[C]) {
	if f.last == at {
		f.last = nil
	} else {
		f.last.next = at.next
	}
	f.forget(at)
}

// forget frees a queue that is empty, and not in the ring.
func (f *Fair[C]) forget(at *sender[C]) {
	b := f.bucket(at.who)
	for *b != at {
		b = &(*b).chain
	}
	*b = at.chain
	at.who, at.chain = who{}, nil
	at.next = f.free
	f.free = at
	f.senders--
}

// Peek returns what Pop would.
func (f *Fair[C]) Peek() *C {
	if f.last == nil {
		return nil
	}
	return f.last.next.calls.head
}

// Drain is Pop.
func (f *Fair[C]) Drain() *C { return f.Pop() }

// Len returns how many calls wait.
func (f *Fair[C]) Len() int { return f.n }

// grow doubles the buckets.
//
//go:noinline
func (f *Fair[C]) grow() {
	old := f.buckets
	f.buckets = make([]*sender[C], 2*len(old))
	for _, at := range old {
		for at != nil {
			next := at.chain
			b := f.bucket(at.who)
			at.chain = *b
			*b = at
			at = next
		}
	}
}
