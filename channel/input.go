package channel

import "github.com/stackhouse-go/stackhouse/pool"

// inputMin is the length of the smallest slab that keeps received bytes: requests that wait share
// it.
const inputMin = 1 << 10

// input is the bytes of a connection that were received and not decoded yet.
//
// A read goes to a buffer that all connections of a site use in turn; the bytes that came are
// copied to a slab of about their size. For requests refer to the slab that they were decoded from
// and hold it as long as they live: a request of a few bytes would hold a slab as large as a read.
// Only the rest of a long request is read straight into its slab, which grows as bytes come: memory
// is bounded by what was received, not by what was announced.
type input struct {
	slab pool.Bytes // of which slab.B()[from:] isn't decoded
	from int
}

// rest is the bytes that aren't decoded yet, valid until bytes are added or dropped.
func (in *input) rest() []byte { return in.slab.B()[in.from:] }

// len is the length of rest.
func (in *input) len() int { return in.slab.Len() - in.from }

// add copies got behind the rest. need is how many bytes the first request has at least.
func (in *input) add(s *pool.Shard, got []byte, need int) {
	if in.free() < len(got) {
		in.move(s, in.len()+len(got), need)
	}
	copy(in.tail(), got)
	in.added(len(got))
}

// free is how many bytes there is room for behind the rest.
func (in *input) free() int { return in.slab.Cap() - in.slab.Len() }

// tail is the room behind the rest; added says how many bytes of it were filled.
func (in *input) tail() []byte { return in.slab.Grow(in.slab.Cap()).B()[in.slab.Len():] }

func (in *input) added(n int) { in.slab = in.slab.Grow(in.slab.Len() + n) }

// grown is how long the slab is, at most, after n more bytes have come.
func (in *input) grown(n, need int) int {
	if in.free() >= n {
		return in.slab.Cap()
	}
	return in.sizeFor(in.len()+n, need)
}

// sizeFor is the length of a new slab for size bytes. If the rest is a part of a long request the
// slab is longer: by a fourth of size, or as much as need says, up to three fourths. The pool
// rounds that up; a slab beyond pool.SlabMax has less than twice size.
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

// shrink moves the rest to a shorter slab if this one is much longer; no request may need this one.
func (in *input) shrink(s *pool.Shard) {
	have, size := in.slab.Cap(), max(inputMin, in.len())
	switch {
	case in.len() == 0:
		in.drop()
	case in.from > 0 && (have >= 4*size || have > inputMin && size == inputMin):
		in.moveTo(s.Bytes(size))
	}
}

// drop releases the slab.
func (in *input) drop() {
	in.slab.Release()
	*in = input{}
}
