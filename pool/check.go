package pool

import (
	"bytes"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// poison fills freed slabs under the build tag "invariants".
const poison = 0xDB

// poisoned is what a free slab holds: the first bytes of it.
var poisoned = func() []byte {
	if !invariant.Enabled {
		return nil
	}
	return bytes.Repeat([]byte{poison}, SlabMax)
}()

// checkFree panics if o is not free, or was written to after it was put.
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

// checkPoison panics if the slab b, just taken, was written to after its release.
func checkPoison(b *slab) {
	if b.gen != 1 && !bytes.Equal(b.data, poisoned[:len(b.data)]) { // 1: it is new
		panic("pool: bytes written to after release")
	}
}
