package pool

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// Where an object is:
//
//	free      on the list of its kind, in the shard where it is at home
//	taken     its holder's, from Take to Put
//	held      taken by several holders (Hold): each puts it once, and the last Put counts
//	outgoing  put by another worker: on a chain of that worker's shard, until its Flush
//	incoming  on the chain in of its home, pushed there by Flush, Send or the last Release of
//	          bytes (receive), until the owner, which has no free object left, swaps the chain
//	          out (collect)
//
// So objects cross between workers in one word, and only the home's owner uses its lists.

// Shard is the pools of one worker. Only that worker may call its methods; other goroutines reach
// it through the incoming chain, onto which Flush, Send and Bytes.Release push. The zero Shard is
// ready; once used it must not be copied.
type Shard struct {
	lists []*list // by Kind.id; &noList if no object of that kind was taken yet
	out   []chain // one for each foreign home met since the last Flush; few

	_  [128]byte
	in atomic.Pointer[Object] // pushed by other workers, swapped out whole by the owner
	_  [128]byte
}

// list is the free objects of one kind.
type list struct {
	head  *Object
	shard *Shard
	clear func(*Object) // the kind's
	kind  *Kind
	made  int // objects of this kind whose home this is

	// Objects that were free at the last Trim and weren't needed since: taken only if no other is
	// at home. Invariant: made minus these is the most that were out at once since then.
	spare *Object
}

// noList stands for the list of a kind of which no object was taken yet: it is empty, and never
// written to.
var noList list

// chain is the objects on their way to one foreign home.
type chain struct {
	home       *Shard
	head, tail *Object
}

// Take returns an object of kind k, cleared, owned by the caller until Put.
//
//alloc:none
func (s *Shard) Take(k *Kind) *Object {
	if o := s.TakeFree(k); o != nil {
		return o
	}
	return s.Miss(k)
}

// TakeFree is Take, but returns nil if no object is free: then call Miss. Take consists of the two;
// apart, TakeFree, which mostly suffices, is compiled into its caller.
//
//alloc:none
func (s *Shard) TakeFree(k *Kind) *Object {
	if id := uint(k.id); id < uint(len(s.lists)) { // unsigned: no other check of the index
		return s.lists[id].pop()
	}
	return nil
}

func (l *list) pop() *Object {
	o := l.head
	if o != nil {
		l.head = o.next
		if invariant.Enabled {
			checkFree(o)
		}
		o.gen++
	}
	return o
}

// Miss is Take when no object is free: it collects the objects that came home, takes a spare one,
// or makes a new one.
//
//go:noinline
func (s *Shard) Miss(k *Kind) *Object {
	for k.id >= len(s.lists) {
		s.lists = append(s.lists, &noList)
	}
	l := s.lists[k.id]
	if l == &noList {
		l = &list{shard: s, kind: k, clear: k.clear}
		s.lists[k.id] = l
	}
	if s.collect(); l.head == nil && l.spare != nil {
		l.head = l.spare
		l.spare, l.head.next = l.head.next, nil
	}
	if l.head != nil {
		return l.pop()
	}
	o := k.make()
	o.list, o.gen = l, 1
	l.made++
	return o
}

// Put clears o and sends it home: at once if home is here, otherwise with the next Flush. If o is
// held only the last Put does that. The caller's pointer is dead. It panics if o is not taken.
//
//alloc:none
func (s *Shard) Put(o *Object) {
	if o.gen&1 == 0 && !o.last() {
		return
	}
	o.end()
	if l := o.list; l.shard == s {
		o.next = l.head
		l.head = o
		return
	}
	s.away(o)
}

// PutClear is Put of an object that the caller has cleared already. Bytes without pointers needn't
// be cleared if every next holder writes them before it reads them.
//
//alloc:none
func (s *Shard) PutClear(o *Object) {
	// Put clears every byte, as checkFree wants; and it panics, or counts a put of what is held
	if invariant.Enabled || o.gen&1 == 0 {
		s.Put(o)
	} else if !s.PutHere(o) {
		o.gen++
		s.away(o)
	}
}

// PutHere is PutClear in the usual case: o is at home here and not held, and the build has no
// checks. Otherwise it does nothing and returns false: then call PutClear. It is apart to be
// compiled into its caller.
//
//alloc:none
func (s *Shard) PutHere(o *Object) bool {
	l := o.list
	if l.shard != s || o.gen&1 == 0 || invariant.Enabled {
		return false
	}
	o.gen++
	o.next = l.head
	l.head = o
	return true
}

// release ends the object's life, or reports false if it has other holders.
func (o *Object) release() bool {
	if o.gen&1 == 0 && !o.last() {
		return false
	}
	o.end()
	return true
}

// end is the transition taken -> free or homeward. It is apart to be compiled into its callers.
func (o *Object) end() {
	l := o.list
	l.clear(o)
	o.gen++
	if invariant.Race && !l.kind.shared {
		invariant.Recycled(l.kind.base(o), l.kind.layout.Size)
	}
}

// away adds o to the outgoing chain of its home.
func (s *Shard) away(o *Object) {
	for i := range s.out {
		if c := &s.out[i]; c.home == o.list.shard {
			o.next = c.head
			c.head = o
			return
		}
	}
	s.meet(o)
}

//go:noinline
func (s *Shard) meet(o *Object) {
	o.next = nil
	s.out = append(s.out, chain{home: o.list.shard, head: o, tail: o})
}

// Send is Put for goroutines that own no shard: the object goes home at once, over the incoming
// chain. Any goroutine that holds o may call it.
func Send(o *Object) {
	if o.release() {
		o.list.shard.receive(o, o)
	}
}

// Flush sends the outgoing chains home, and forgets their homes, whose systems may end. A worker
// calls it at the end of each turn and before it parks.
//
//alloc:none
func (s *Shard) Flush() {
	for i := range s.out {
		c := &s.out[i]
		c.home.receive(c.head, c.tail)
		*c = chain{}
	}
	s.out = s.out[:0]
}

// receive pushes the chain head..tail onto the incoming chain. Any goroutine may call it; it pairs
// with the swap in collect.
func (s *Shard) receive(head, tail *Object) {
	for {
		invariant.Point("pool.receive")
		old := s.in.Load()
		tail.next = old
		invariant.Point("pool.received")
		if s.in.CompareAndSwap(old, head) {
			return
		}
	}
}

// collect sorts the incoming chain into the free lists.
func (s *Shard) collect() {
	invariant.Point("pool.look")
	if s.in.Load() == nil {
		return
	}
	invariant.Point("pool.collect")
	for o := s.in.Swap(nil); o != nil; {
		next := o.next // read first: the push below overwrites it
		o.next = o.list.head
		o.list.head = o
		o = next
	}
}
