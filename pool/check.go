package pool

import "bytes"

// poison is the byte that fills released slabs under the build tag "invariants".
const poison = 0xDB

// checkFree panics if o isn't free, or was written to after it was put.
func checkFree(o *Object) {
	if o.gen&1 == 1 {
		panic("pool: a taken object stands on a free list: " + o.list.kind.name)
	}
	if o.list.kind.keeps {
		return
	}
	before, behind := o.list.kind.memory(o)
	for _, part := range [2][]byte{before, behind} {
		for _, b := range part {
			if b != 0 {
				panic("pool: written to after put: " + o.list.kind.name)
			}
		}
	}
}

// poison fills b, which is being released.
func (b *slab) poison() {
	b.data[0] = poison
	for n := 1; n < len(b.data); n *= 2 {
		copy(b.data[n:], b.data[:n])
	}
}

// checkPoison panics if the slab b, just taken, was written to after its release.
func (b *slab) checkPoison() {
	if b.gen == 1 { // it is new
		return
	}
	if d := b.data; d[0] != poison || !bytes.Equal(d[1:], d[:len(d)-1]) {
		panic("pool: bytes written to after release")
	}
}
