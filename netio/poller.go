package netio

// The contract of machine, the Poller of an operating system, which is the same on each:
//
//	(*machine) open(batch int) error
//	(*machine) Add(fd int, h Handler) (Token, error)
//	(*machine) AddLevel(fd int, h Handler) (Token, error)
//	(*machine) Remove(t Token, fd int) error
//	(*machine) Poll() (n int, err error)
//	(*machine) Wait(ns int64) error
//	(*machine) Deliver() (n int)
//	(*machine) WaitForWake(ns int64) error
//	(*machine) CanNap() bool
//	(*machine) Settle()
//	(*machine) Wake()
//	(*machine) Len() int
//	(*machine) Stale() uint64
//	(*machine) Close() error

// batchMax is how many events are fetched at once: 3 KiB of epoll's, so that a batch and the memory
// that handlers use stay in the first-level cache.
const batchMax = 256

// Ready is a set of reasons why a handler is called. Several may come in one call.
type Ready uint8

const (
	// Readable: bytes, an end of stream, or a connection to accept.
	Readable Ready = 1 << iota
	// Writable: there is room in the send buffer, or a connect has ended.
	Writable
	// Closed: the peer has ended its side, or the connection failed. Bytes may still be unread:
	// reading to the end tells which of the two happened.
	Closed
	// Urgent: a read may leave bytes that have arrived, because of urgent data among them.
	Urgent
	// Posted: somebody has called Poller.Post.
	Posted
)

// A Handler is called by Poll or Deliver when its descriptor is ready. It may add and remove
// descriptors, its own included. If it panics, the other events of its batch are not lost: the next
// Poll or Deliver delivers them.
type Handler interface {
	Ready(r Ready)
}

// Token names one registration: the slot in the low half, its generation in the high half. The zero
// Token names none.
type Token uint64

func tokenOf(slot, generation uint32) Token {
	return Token(generation)<<32 | Token(slot)
}

func (t Token) slot() uint32       { return uint32(t) }
func (t Token) generation() uint32 { return uint32(t >> 32) }

// slots finds the handler of a token. Only the goroutine that owns the poller at the time may use
// it, which isn't always the one in Wait. The table grows to the largest number of descriptors that
// were ever registered together, which the system's descriptor limit bounds, and never shrinks.
type slots struct {
	chunks []*chunk
	free   uint32 // head of the chain of free slots, or noSlot
	used   int    // Invariant: used + length of the free chain == slots in chunks
	stale  uint64 // events whose token was stale
}

// chunk is 2 KiB of slots, which never move. A table in one piece would have to be copied as it
// grows: the old one would be garbage, and the copy would take longer the more connections there
// are.
type chunk [chunkSlots]slot

type slot struct {
	handler    Handler // Invariant: nil exactly while the slot is free
	generation uint32  // Invariant: not 0; raised whenever the slot becomes free
	fd         int32
	next       uint32 // next free slot, while this one is free
}

const (
	noSlot     = ^uint32(0)
	chunkSlots = 64
)

func (s *slots) init() { s.free = noSlot }

// take gives h a slot. The slot is h's until put.
//
//alloc:none
func (s *slots) take(fd int, h Handler) Token {
	if h == nil {
		misuse("nil handler")
	}
	if s.free == noSlot {
		s.grow()
	}
	i := s.free
	e := s.at(i)
	if e.handler != nil {
		misuse("free slot has a handler")
	}
	s.free = e.next
	s.used++
	e.handler, e.fd = h, int32(fd)
	return tokenOf(i, e.generation)
}

// put frees the slot of t and makes t stale. It reports false if t is stale
// already, or if it is not the token of fd.
//
//alloc:none
func (s *slots) put(t Token, fd int) bool {
	e := s.find(t)
	if e == nil || e.fd != int32(fd) {
		return false
	}
	e.handler, e.fd = nil, -1
	// A stale token could be taken for a valid one only after its slot was used 2^32 times.
	// Generation 0 is left out, so that the zero Token is never valid.
	if e.generation++; e.generation == 0 {
		e.generation = 1
	}
	e.next, s.free = s.free, t.slot()
	s.used--
	return true
}

// deliver calls the handler of t, or counts t as stale. It must not use the slot after that call:
// the slot may have another owner then.
//
//alloc:none
func (s *slots) deliver(t Token, r Ready) bool {
	e := s.find(t)
	if e == nil {
		s.stale++
		return false
	}
	e.handler.Ready(r)
	return true
}

// find returns the slot that t holds, or nil.
func (s *slots) find(t Token) *slot {
	if uint64(t.slot()) >= uint64(len(s.chunks)*chunkSlots) {
		return nil
	}
	if e := s.at(t.slot()); e.generation == t.generation() && e.handler != nil {
		return e
	}
	return nil
}

// at returns slot i, which must be there.
func (s *slots) at(i uint32) *slot { return &s.chunks[i/chunkSlots][i%chunkSlots] }

// grow adds a chunk and chains its slots, the lowest first.
//
//go:noinline
func (s *slots) grow() {
	c := &chunk{}
	first := uint32(len(s.chunks) * chunkSlots)
	for i := range uint32(chunkSlots) {
		c[i] = slot{generation: 1, fd: -1, next: first + i + 1}
	}
	c[chunkSlots-1].next = s.free
	s.free = first
	s.chunks = append(s.chunks, c)
}

// misuse panics. It stands apart so that its callers convert nothing to an interface.
//
//go:noinline
func misuse(what string) { panic("netio: " + what) }
