package order

import "github.com/stackhouse-go/stackhouse/pool"

// Fair has one queue for each sender whose asks wait, and one for the notices of each shard,
// because notices don't say who sent them. The queues with calls stand in a ring; empty ones are
// kept for other senders.
//
// Any notice may be from any sender of its shard. These rules keep the calls of each sender in
// order all the same:
//
//	ask     while notices of its shard wait, it goes behind them, into their queue; otherwise
//	        into its sender's
//	notice  the notices of a shard have no turn while asks of that shard stand in the senders'
//	        queues; those asks all came before the notices
//	last    when the last notice of a shard is taken, the asks behind it go to their senders'
//	        queues
//
// So at each moment either the queue of a shard's notices has turns, or the senders' queues with
// asks of that shard have. An actor that was given to another worker sends from another shard: its
// calls may overtake those that it sent before.
type Fair[C any] struct {
	link    Link[C]
	from    func(*C) From
	buckets []*sender[C] // a hash table of senders, chained; its length is a power of two
	// the sender whose turn is last; its next is the one whose turn is first. nil: no calls wait
	last    *sender[C]
	free    *sender[C] // chained by next
	senders int        // in buckets
	n       int        // calls that wait
}

// sender is the queue of one sender, or of a shard's notices.
type sender[C any] struct {
	who     who
	calls   queue[C]
	notices int // of a shard: how many of calls are notices
	// of a shard: how many of its asks stand in senders' queues. Invariant: if any do, this queue
	// isn't in the ring
	asks  int
	next  *sender[C] // in the ring, or among the free ones; nil: in neither
	chain *sender[C] // in its bucket
}

// NewFair returns an empty Fair, which takes one call of each sender in turn. A sender is an actor
// that asks, or the guests of a stripe. Notices don't say who sent them: all notices of a shard
// count as one sender, with the asks of that shard that come while they wait, and they wait for
// the shard's asks that came before. So the calls of one sender stay in order. But calls that an
// actor sends after it has moved to another worker may overtake those that it sent before.
func NewFair[C any](link Link[C], from func(*C) From) *Fair[C] {
	return &Fair[C]{link: link, from: from, buckets: make([]*sender[C], 8)}
}

// From is what a call says of its sender.
type From struct {
	Notice bool
	Shard  *pool.Shard // the shard of its stack; nil: none, it is a connection's own stack
	Asker  uint64      // the number of the actor that asks; 0: no actor does
	Guests *pool.Shard // if no actor asks: the shard of the first call, if it was forwarded
}

// who identifies a sender: an actor, or all that share a shard.
type who struct {
	asker uint64
	shard *pool.Shard
	asks  bool // its queue is of asks, and not of a shard's notices
}

// sender returns the sender into whose queue an ask goes.
func (f From) sender() who {
	if f.Asker != 0 {
		return who{asker: f.Asker, asks: true}
	}
	return who{shard: f.Guests, asks: true}
}

// bucket returns the bucket of a sender. All shards share the first one, as they are few.
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

// find returns the queue of the sender of, and makes one if there is none.
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

// join adds a queue with calls to the ring, where its turn is last, unless it is there already or
// must wait for asks.
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

// forget moves a queue, which is empty and not in the ring, to the free ones.
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

// Peek returns the call that Pop would remove.
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
