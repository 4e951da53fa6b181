package pool

import (
	"math/bits"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

const (
	// slabMin is the smallest slab, in bytes: one cache line.
	slabMin = 64
	// SlabMax is the largest slab that has a home, in bytes. The collector may free longer ones,
	// see longs.
	SlabMax = 64 << 10
)

// slab is a counted block of bytes. It is
//
//	held   refs is the number of holders. Each may Retain, which raises it, and Release, which
//	       drops it; but the last holder leaves it at one and sends the slab home
//	home   free or on the way home, see shard.go; a slab of more than SlabMax bytes has no home,
//	       see long.go. Nobody may Retain or Release
type slab struct {
	Object
	refs atomic.Int32 // holders; the last one leaves it at 1
	data []byte       // full length always; no pointer into it outlives the last Release
}

// slabKinds[i] makes slabs of slabMin<<i bytes.
var slabKinds = func() (all [11]*Kind) {
	for i := range all {
		size := slabMin << i
		all[i] = NewKind("slab "+strconv.Itoa(size), Layout{Size: unsafe.Sizeof(slab{}), Fixed: ObjectSize},
			func() *Object { return &(&slab{data: make([]byte, size)}).Object },
			func(*Object) {}).Keeps()
		all[i].slab = true
	}
	return all
}()

// Bytes is a counted view of a slab. The zero Bytes is empty. Copying the value doesn't change the
// count: to use a copy beyond the holder's Release call Retain first. Retain and Release may be
// called on any goroutine; after the last Release both panic, until the slab is taken again.
type Bytes struct {
	slab    *slab
	off, up uint32 // the view is data[off:up]
}

// Bytes returns n bytes with a count of one, contents undefined. Only the shard's owner may call
// it. Above SlabMax bytes it allocates, unless bytes of the same Size were released since the last
// garbage collection. It panics at 4 GiB.
//
//alloc:none
func (s *Shard) Bytes(n int) Bytes {
	if n <= 0 {
		return Bytes{}
	}
	if n > SlabMax {
		return takeLong(n)
	}
	class := 0
	if n > slabMin {
		class = bits.Len(uint(n-1)) - bits.Len(slabMin-1)
	}
	return (*slab)(unsafe.Pointer(s.Take(slabKinds[class]))).view(n)
}

// view returns the first n bytes of b, which was just taken, with a count of one.
func (b *slab) view(n int) Bytes {
	if invariant.Enabled {
		b.checkPoison()
	}
	b.refs.Store(1)
	return Bytes{slab: b, up: uint32(n)}
}

// Size returns the length of the slab that Bytes(n) takes, in bytes. Any goroutine may call it.
func Size(n int) int {
	switch {
	case n <= 0:
		return 0
	case n <= slabMin:
		return slabMin
	case n <= SlabMax:
		return 1 << bits.Len(uint(n-1))
	}
	return longSize(n)
}

// Copy returns a copy of p with a count of one. Only the shard's owner may call it.
//
//alloc:none
func (s *Shard) Copy(p []byte) Bytes {
	b := s.Bytes(len(p))
	copy(b.B(), p)
	return b
}

// B returns the bytes, valid until the holder's Release.
func (b Bytes) B() []byte {
	if b.slab == nil {
		return nil
	}
	return b.slab.data[b.off:b.up:b.up]
}

// Len returns the number of bytes in the view.
func (b Bytes) Len() int { return int(b.up - b.off) }

// Slice returns the view of the bytes i <= k < j of b, under the same count. It panics if they
// aren't in the view.
func (b Bytes) Slice(i, j int) Bytes {
	if i < 0 || j < i || j > b.Len() {
		panic("pool: slice of bytes out of range")
	}
	b.up = b.off + uint32(j)
	b.off += uint32(i)
	return b
}

// Part returns the view of p under the same count, or false if p isn't a part of b's memory. An
// empty p is a part of any Bytes; its view is the zero Bytes.
func (b Bytes) Part(p []byte) (Bytes, bool) {
	if b.slab == nil || len(p) == 0 {
		return Bytes{}, len(p) == 0
	}
	data := b.slab.data
	at := uintptr(unsafe.Pointer(unsafe.SliceData(p))) - uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	if at < uintptr(b.off) || at > uintptr(b.up) || uintptr(len(p)) > uintptr(b.up)-at {
		return Bytes{}, false
	}
	b.off, b.up = uint32(at), uint32(at)+uint32(len(p))
	return b, true
}

// Cap returns the number of bytes of the slab from the view's start on.
func (b Bytes) Cap() int {
	if b.slab == nil {
		return 0
	}
	return len(b.slab.data) - int(b.off)
}

// Grow returns the view that starts where b starts and is n bytes long, under the same count. Bytes
// behind b have undefined contents. It panics if n is negative or above Cap.
func (b Bytes) Grow(n int) Bytes {
	if n < 0 || n > b.Cap() {
		panic("pool: bytes grown beyond their slab")
	}
	b.up = b.off + uint32(n)
	return b
}

// Retain raises the count and returns b. The caller must hold b.
func (b Bytes) Retain() Bytes {
	if b.slab == nil {
		return b
	}
	invariant.Point("bytes.retain")
	// The last Release leaves the count at one: so gen tells whether b was released.
	if b.slab.gen&1 == 0 || b.slab.refs.Add(1) <= 1 {
		panic("pool: retain of released bytes")
	}
	return b
}

// Release drops the count; the last Release sends the slab home. The view is dead afterwards.
func (b Bytes) Release() {
	if b.slab == nil {
		return
	}
	if b.slab.gen&1 == 0 {
		panic("pool: bytes released twice")
	}
	invariant.Point("bytes.look")
	// A lone holder needs no read-modify-write: no other goroutine may Retain.
	if b.slab.refs.Load() != 1 {
		invariant.Point("bytes.drop")
		if n := b.slab.refs.Add(-1); n > 0 {
			return
		} else if n < 0 {
			panic("pool: bytes released twice")
		}
	}
	b.slab.recycle()
}

// Handle is Bytes in one word, which doesn't know where in their slab they are: it is for fields
// that are mostly empty. The zero Handle is of no bytes. It counts as Bytes do.
type Handle struct{ slab *slab }

// Handle returns b as a Handle, under the same count.
func (b Bytes) Handle() Handle { return Handle{b.slab} }

// B returns all bytes of the slab, valid until the holder's Release; nil: there are none.
func (h Handle) B() []byte {
	if h.slab == nil {
		return nil
	}
	return h.slab.data
}

// Retain raises the count. The caller must hold h.
//
//alloc:none
func (h Handle) Retain() {
	if h.slab != nil {
		Bytes{slab: h.slab}.Retain()
	}
}

// Release drops the count; the last Release sends the slab home.
//
//alloc:none
func (h Handle) Release() {
	if h.slab != nil {
		Bytes{slab: h.slab}.Release()
	}
}

func (b *slab) recycle() {
	if invariant.Enabled {
		b.poison()
	}
	if invariant.Race {
		invariant.WroteBytes(b.data)
	}
	if b.list == nil {
		b.putLong()
		return
	}
	b.end()
	b.list.shard.receive(&b.Object, &b.Object)
}

// Carrier holds slabs and objects that are released together, such as those that a stack carries
// until it is put. Only one goroutine may use it at a time. The zero Carrier is empty.
type Carrier struct{ head *Object }

// Carry takes n bytes from s and holds them, with a count of one, until Release. Only the owner of
// s may call it.
//
//alloc:none
func (c *Carrier) Carry(s *Shard, n int) Bytes {
	b := s.Bytes(n)
	if b.slab != nil {
		b.slab.next = c.head
		c.head = &b.slab.Object
	}
	return b
}

// tie is how a Carrier holds an object, or a slab, that others may hold too.
type tie struct {
	Object
	to    *Object // nil: it holds bytes
	bytes Bytes
}

var tieKind = NewKind("tie", Layout{Size: unsafe.Sizeof(tie{}), Fixed: ObjectSize},
	func() *Object { return &new(tie).Object },
	func(o *Object) {
		t := (*tie)(unsafe.Pointer(o))
		if t.to != nil {
			Send(t.to)
		}
		t.bytes.Release()
		t.to, t.bytes = nil, Bytes{}
	})

// isSlab reports whether o, which a Carrier holds, is a slab.
func isSlab(o *Object) bool { return o.list == nil || o.list.kind.slab }

// Keep holds o until Release. The caller has taken o, and still puts it. Only the owner of s may
// call it.
//
//alloc:none
func (c *Carrier) Keep(s *Shard, o *Object) {
	o.Hold()
	t := (*tie)(unsafe.Pointer(s.Take(tieKind)))
	t.to, t.next = o, c.head
	c.head = &t.Object
}

// Give hands o over, which is put at Release. The caller has taken o, and nobody else holds it.
//
//alloc:none
func (c *Carrier) Give(o *Object) {
	o.next = c.head
	c.head = o
}

// Share holds b, with a count of its own, until Release. Only the owner of s may call it.
//
//alloc:none
func (c *Carrier) Share(s *Shard, b Bytes) {
	if b.slab == nil {
		return
	}
	t := (*tie)(unsafe.Pointer(s.Take(tieKind)))
	t.bytes, t.next = b.Retain(), c.head
	c.head = &t.Object
}

// Release releases all slabs held, and puts the objects held. Any goroutine may call it.
func (c *Carrier) Release() {
	for o := c.head; o != nil; {
		next := o.next // read first: the slab's next holder overwrites it
		if isSlab(o) {
			Bytes{slab: (*slab)(unsafe.Pointer(o))}.Release()
		} else {
			Send(o)
		}
		o = next
	}
	c.head = nil
}

// Join takes over everything that other holds.
func (c *Carrier) Join(other *Carrier) {
	last := other.head
	if last == nil {
		return
	}
	for last.next != nil {
		last = last.next
	}
	last.next = c.head
	c.head, other.head = other.head, nil
}

// Size returns the length of the slabs held, and of the bytes shared.
func (c *Carrier) Size() (n int) {
	for o := c.head; o != nil; o = o.next {
		switch {
		case isSlab(o):
			n += len((*slab)(unsafe.Pointer(o)).data)
		case o.list.kind == tieKind:
			n += (*tie)(unsafe.Pointer(o)).bytes.Len()
		}
	}
	return n
}

// Empty reports whether c holds nothing.
func (c *Carrier) Empty() bool { return c.head == nil }
