package stack

import "github.com/stackhouse-go/stackhouse/pool"

// Mailbox orders the calls of a house in another way than that of arrival. Only the house's
// owner calls it. Calls come to it in the order in which they arrived, and each is chained nowhere:
// it may use their links, see Chain.
type Mailbox interface {
	Push(s *Stack)
	Pop() *Stack  // the next; nil: there is none
	Peek() *Stack // what Pop would return
	Len() int
}

// Classes is how many classes a mailbox by priority has.
const Classes = 8

// priority is a Mailbox of one queue for each class. The lowest class goes first.
type priority struct {
	class func(s *Stack) int
	lanes [Classes]queue
	n     int
}

// NewPriority returns a Mailbox in which calls of a lower class go first, and those of one class
// in order of arrival. The function class says which, 0 to Classes-1; what is beyond is cut.
func NewPriority(class func(s *Stack) int) Mailbox { return &priority{class: class} }

func (p *priority) Push(s *Stack) {
	p.lanes[min(max(p.class(s), 0), Classes-1)].push(s)
	p.n++
}

func (p *priority) Pop() *Stack {
	if l := p.first(); l != nil {
		p.n--
		return l.pop()
	}
	return nil
}

func (p *priority) Peek() *Stack {
	if l := p.first(); l != nil {
		return l.head
	}
	return nil
}

func (p *priority) Len() int { return p.n }

// first returns the queue that is next; nil: all are empty.
func (p *priority) first() *queue {
	for i := range p.lanes {
		if p.lanes[i].head != nil {
			return &p.lanes[i]
		}
	}
	return nil
}

// fair is a Mailbox of one queue for each sender that has asks in it, and one for the notices of
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
type fair struct {
	buckets []*sender // by the hash of who, chained; a power of two of them
	// whose turn is last, chained by next to whose turn is first; nil: there are no calls
	last    *sender
	free    *sender // chained by next
	senders int
	n       int
}

// sender is the queue of one, or that of a shard's notices.
type sender struct {
	who     who
	calls   queue
	notices int // of a shard: how many of calls are notices
	// of a shard: how many asks from it stand in their senders' queues. Invariant: if any, it
	// isn't in the ring
	asks  int
	next  *sender // in the ring, or among the free; nil: it has no turn
	chain *sender // in its bucket
}

// NewFair returns a Mailbox that takes one call of each sender in turn. A sender is an actor that
// asks, or the guests of a stripe; notices don't say who sent them: those of a worker count as
// one sender, as do the asks from there that come while any of them wait, and they wait for the
// asks from there that came before. So the calls of one sender stay in order; but what an actor
// sends when it has moved to another worker may overtake what it sent before.
func NewFair() Mailbox { return &fair{buckets: make([]*sender, 8)} }

// who tells a sender from others: it is an actor, or all that share a shard.
type who struct {
	asker *House
	shard *pool.Shard
	asks  bool // its queue is of asks, and not of a shard's notices
}

func senderOf(s *Stack) who {
	if h := s.asker(); h != nil {
		return who{asker: h, asks: true}
	}
	return who{shard: shardOf(s.origin()), asks: true}
}

// shardOf returns where s was taken; nil: nowhere, as it is a connection's own.
func shardOf(s *Stack) *pool.Shard {
	if s.by.kind == nil {
		return nil
	}
	return s.Home()
}

// bucket returns where a sender is. All shards share one: they are few.
func (f *fair) bucket(of who) **sender {
	if of.asker == nil {
		return &f.buckets[0]
	}
	return &f.buckets[of.asker.serial*0x9e3779b97f4a7c15>>32&uint64(len(f.buckets)-1)]
}

func (f *fair) Push(s *Stack) {
	at := f.find(who{shard: shardOf(s)})
	if s.back == nil {
		at.notices++
	} else if at.notices == 0 {
		at.asks++
		at = f.find(senderOf(s))
	}
	at.calls.push(s)
	f.n++
	f.join(at)
}

// find returns the queue of a sender, and makes it if there is none.
func (f *fair) find(of who) *sender {
	at := *f.bucket(of)
	for at != nil && at.who != of {
		at = at.chain
	}
	if at != nil {
		return at
	}
	if at = f.free; at == nil {
		at = &sender{}
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
func (f *fair) join(at *sender) {
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

func (f *fair) Pop() *Stack {
	if f.last == nil {
		return nil
	}
	at := f.last.next
	s := at.calls.pop()
	f.n--
	var behind queue
	if of := f.find(who{shard: shardOf(s)}); of != at {
		if of.asks--; of.calls.head != nil {
			f.join(of)
		} else if of.asks == 0 {
			f.forget(of)
		}
	} else if s.back == nil {
		if at.notices--; at.notices == 0 {
			behind, at.calls = at.calls, queue{}
		}
	}
	if at.calls.head != nil {
		f.last = at // its next turn is the last
	} else {
		f.part(at)
	}
	for s := behind.pop(); s != nil; s = behind.pop() {
		f.n--
		f.Push(s)
	}
	return s
}

// part takes the sender whose turn was first out of the ring.
func (f *fair) part(at *sender) {
	if f.last == at {
		f.last = nil
	} else {
		f.last.next = at.next
	}
	f.forget(at)
}

// forget frees a queue that is empty, and not in the ring.
func (f *fair) forget(at *sender) {
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

func (f *fair) Peek() *Stack {
	if f.last == nil {
		return nil
	}
	return f.last.next.calls.head
}

func (f *fair) Len() int { return f.n }

// grow doubles the buckets.
//
//go:noinline
func (f *fair) grow() {
	old := f.buckets
	f.buckets = make([]*sender, 2*len(old))
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
