package netio

// iovecsMax is how many buffers one Writev takes: as many as the results of a turn, in a list of 1
// KiB. The limit of Linux is 1,024.
const iovecsMax = 64

// IOVecs is a reusable list of buffers for Writev. The zero IOVecs is an empty list. It refers to
// the buffers, which must stay unchanged until they are written or Reset.
type IOVecs struct {
	vecs       [iovecsMax]iovec
	first, end int // vecs[first:end] are not written yet. Invariant: first <= end <= iovecsMax
	bytes      int // Invariant: the sum of the lengths of vecs[first:end]
}

// Add appends b without a copy, and reports false if the list is full. An empty b is not kept.
//
//alloc:none
func (v *IOVecs) Add(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if v.end == iovecsMax {
		return false
	}
	v.vecs[v.end].set(b)
	v.end++
	v.bytes += len(b)
	return true
}

// Bytes returns how many bytes are not written yet.
func (v *IOVecs) Bytes() int { return v.bytes }

// Advance drops the first n bytes, after they were written. The list no longer refers to buffers
// that are written whole; their places are free again once the list is empty.
//
//alloc:none
func (v *IOVecs) Advance(n int) {
	if n < 0 || n > v.bytes {
		misuse("advance past the end")
	}
	v.bytes -= n
	for n > 0 {
		e := &v.vecs[v.first]
		b := e.bytes()
		if n < len(b) {
			e.set(b[n:])
			return
		}
		n -= len(b)
		*e = iovec{}
		v.first++
	}
	if v.first == v.end {
		v.first, v.end = 0, 0
	}
}

// Reset empties the list, which no longer refers to the buffers.
//
//alloc:none
func (v *IOVecs) Reset() {
	clear(v.vecs[v.first:v.end])
	v.first, v.end, v.bytes = 0, 0, 0
}
