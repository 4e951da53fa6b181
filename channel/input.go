package channel

import "github.com/stackhouse-go/stackhouse/pool"

// inputMin is the smallest slab that received bytes are kept in: requests that wait share it.
const inputMin = 1 << 10

// input is the bytes of a connection that were received and not decoded yet.
//
// A read goes to a buffer that all connections of a site use in turn; what came is copied to a slab
// of its size. Requests refer to the slab that they were decoded from and hold it as long as they
// live, so one of the size of a read would be held by a few bytes. Only the rest of a long request
// is read into its place, which grows as its bytes come: memory is bounded by what was received,
// not by what was announced.
type input struct {
	slab pool.Bytes // of which slab.B()[from:] isn't decoded
	from int
}

// rest is what isn't decoded yet, valid until bytes are added or dropped.
func (in *input) rest() []byte { return in.slab.B()[in.from:] }

// len is the length of rest.
func (in *input) len() int { return in.slab.Len() - in.from }

// add copies got behind the rest, which can't be decoded before there are need bytes.
func (in *input) add(s *pool.Shard, got []byte, need int) {
	if in.free() < len(got) {
		in.move(s, in.len()+len(got), need)
	}
	copy(in.tail(), got)
	in.added(len(got))
}

// free is how many bytes there is room for behind the rest.
func (in *input) free() int { return in.slab.Cap() - in.slab.Len() }

// tail is that room; added says how much of it was filled.
func (in *input) tail() []byte { return in.slab.Grow(in.slab.Cap()).B()[in.slab.Len():] }

func (in *input) added(n int) { in.slab = in.slab.Grow(in.slab.Len() + n) }

// grown is how long the slab is at most when n bytes more have come.
func (in *input) grown(n, need int) int {
	if in.free() >= n {
		return in.slab.Cap()
	}
	return in.sizeFor(in.len()+n, need)
}

// sizeFor is the length of a new slab for size bytes. If the rest is a part of a long request it
// is longer: by a fourth, or as much as is needed, up to three fourths. The pool rounds that up,
// a slab beyond pool.SlabMax to less than twice size.
func (in *input) sizeFor(size, need int) int {
	if in.len() > 0 && size > inputMin {
		size = max(size+size/4, min(need, size+size/4*3))
	}
	return pool.Size(max(size, inputMin))
}

// move copies the rest to a slab for size bytes.
func (in *input) move(s *pool.Shard, size, need int) { in.moveTo(s.Bytes(in.sizeFor(size, need))) }

func (in *input) moveTo(b pool.Bytes) {
	n := copy(b.B(), in.rest())
	in.slab.Release()
	in.slab, in.from = b.Grow(n), 0
}

// shrink moves the rest to a slab that isn't much longer, once no request needs this one.
func (in *input) shrink(s *pool.Shard) {
	have, size := in.slab.Cap(), max(inputMin, in.len())
	switch {
	case in.len() == 0:
		in.drop()
	case in.from > 0 && (have >= 4*size || have > inputMin && size == inputMin):
		in.moveTo(s.Bytes(size))
	}
}

// drop lets go of everything.
func (in *input) drop() {
	in.slab.Release()
	*in = input{}
}
