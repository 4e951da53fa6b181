package wire

import "github.com/stackhouse-go/stackhouse/pool"

const (
	// An alias keeps the whole slab: less than one part of so many is copied instead.
	aliasPart = 8
	// Copies share slabs of so many bytes.
	chunkSize = 1 << 10
)

// Lend says where bytes that are read from now on live; call it after Reset, as the owner of s, and
// again if the next value is for another stack. The message lies in slab, which begins where its
// memory begins. c is what the stack carries that gets the value.
//
// A []byte or pool.Bytes of an eighth of the slab or more aliases it, and c holds slab then: once,
// and not if nothing needs it. A shorter one is copied to memory that c holds, which comes from s.
// Without a slab, as for a message of many parts, all are copied.
func (r *Reader) Lend(slab pool.Bytes, c *pool.Carrier, s *pool.Shard) {
	if c == nil || s == nil {
		panic("wire: Lend without a carrier and a shard")
	}
	if _, ok := slab.Part(r.in); !ok && slab.Len() > 0 {
		panic("wire: the message isn't in its slab")
	}
	r.slab, r.carrier, r.shard, r.shared = slab, c, s, false
	r.chunk, r.used = pool.Bytes{}, 0
}

// Bytes reads a []byte, which lives as long as the stack, see Lend; without Lend, as long as what
// Reset was given. It has no capacity beyond its length.
//
//alloc:none
func (r *Reader) Bytes() []byte {
	b := r.maybe()
	switch {
	case b == nil || r.carrier == nil:
		return b
	case len(b) == 0:
		return empty
	case r.few(b):
		return r.copied(b).B()
	}
	r.share()
	return b
}

// PoolBytes reads a pool.Bytes, which lives as long as the stack, see Lend. If the message has a
// method Release, the view has a count of its own, which Release drops. Without Lend it is a copy
// that the collector takes.
//
//alloc:none
func (r *Reader) PoolBytes() (view pool.Bytes) {
	b := r.maybe()
	switch {
	case len(b) == 0:
		return pool.Bytes{}
	case r.shard == nil:
		return r.fresh(b)
	case r.few(b):
		view = r.copied(b)
	default:
		view, _ = r.slab.Part(b)
		if !r.counted {
			r.share()
		}
	}
	if r.counted {
		view.Retain()
	}
	return view
}

// empty is a []byte without bytes that keeps no slab.
var empty = []byte{}

// maybe reads a length and as many bytes, or nil.
func (r *Reader) maybe() []byte {
	n, none := r.count(1)
	if none {
		return nil
	}
	return r.take(n)
}

// few reports whether b is too little to keep the slab for.
func (r *Reader) few(b []byte) bool {
	return len(b) < r.slab.Cap()/aliasPart || r.slab.Cap() == 0
}

// share makes the carrier hold the slab.
func (r *Reader) share() {
	if !r.shared {
		r.carrier.Share(r.shard, r.slab)
		r.shared = true
	}
}

// copied returns a copy of b that the carrier holds; the zero Bytes if the budget has no room.
func (r *Reader) copied(b []byte) pool.Bytes {
	if r.chunk.Len()-r.used < len(b) && !r.another(len(b)) {
		return pool.Bytes{}
	}
	view := r.chunk.Slice(r.used, r.used+len(b))
	r.used += copy(view.B(), b)
	return view
}

// another takes a chunk for at least n bytes. What the message has left needs no more than that.
func (r *Reader) another(n int) bool {
	size := max(n, min(chunkSize, n+len(r.in)))
	if !r.spend(pool.Size(size)) {
		return false
	}
	r.chunk, r.used = r.carrier.Carry(r.shard, size), 0
	r.chunk = r.chunk.Grow(r.chunk.Cap())
	return true
}

// fresh returns a copy of b in a slab without a home.
//
//go:noinline
func (r *Reader) fresh(b []byte) pool.Bytes {
	if !r.spend(pool.Size(len(b))) {
		return pool.Bytes{}
	}
	return new(pool.Shard).Copy(b)
}
