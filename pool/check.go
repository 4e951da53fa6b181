package pool

// poison fills freed slabs under the build tag "invariants".
const poison = 0xDB

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
