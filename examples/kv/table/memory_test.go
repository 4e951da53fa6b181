package table

import (
	"fmt"
	"testing"
	"unsafe"
)

// checkMemory looks for arrays that the system gave and nothing uses.
func (t *Table) checkMemory() error {
	m := t.memory
	used := map[*byte]int{}
	add := func(p *byte, n int) {
		if n >= m.least {
			used[p] = n
		}
	}
	for _, s := range t.arena.segments {
		add(unsafe.SliceData(s.mem), len(s.mem))
	}
	addIndex := func(x *index) {
		add((*byte)(unsafe.Pointer(unsafe.SliceData(x.main))), len(x.main)*slotBytes)
		add((*byte)(unsafe.Pointer(unsafe.SliceData(x.old))), len(x.old)*slotBytes)
	}
	addIndex(&t.index)
	for i := range t.nests.all {
		addIndex(&t.nests.all[i].index)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, b := range m.mapped {
		if used[p] != len(b) {
			return fmt.Errorf("%d bytes at %p aren't used, but %d", len(b), p, used[p])
		}
	}
	return nil
}

// everywhere has a new table take all its further memory from the system.
func (t *Table) everywhere() {
	t.memory.least = 1
	t.Clear()
}

// TestModelOutsideTheHeap is TestModel with a table whose every array is the system's: an access
// to one that was given back ends the process.
func TestModelOutsideTheHeap(t *testing.T) {
	for seed := range uint64(2) {
		c := tiny
		c.Seed = seed
		p := newPlay(c, randomScript(seed, fewer(40_000)))
		p.t.everywhere()
		if err := p.run(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestMemory: what is taken is zero, also when it was used before, and what the heap gave stays.
func TestMemory(t *testing.T) {
	m := newMemory()
	for range 3 {
		b := m.take(1 << 20)
		for i := range b {
			if b[i] != 0 {
				t.Fatal("not zero")
			}
			b[i] = 1
		}
		m.put(b)
	}
	small := m.take(mapLeast - 1)
	m.put(small)
	small[0] = 1
	m.put(nil)
	if len(m.mapped) != 0 {
		t.Errorf("%d arrays are mapped", len(m.mapped))
	}
}
