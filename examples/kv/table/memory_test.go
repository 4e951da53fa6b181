package table

import (
	"fmt"
	"runtime"
	"testing"
	"time"
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

// Large values come and go, and the memory of each goes with it.
func TestLargeValuesGiveMemoryBack(t *testing.T) {
	tab := New(Config{})
	m := tab.memory
	for i := range 50 {
		if err := tab.Set([]byte("k"), make([]byte, 1<<20+i<<16), 0); err != nil {
			t.Fatal(err)
		}
		if err := tab.checkMemory(); err != nil {
			t.Fatal(err)
		}
		if n := len(m.mapped); n != 1 {
			t.Fatalf("%d arrays are mapped, want 1", n)
		}
	}
	tab.Clear()
	if len(m.mapped) != 0 {
		t.Errorf("%d arrays are mapped after Clear", len(m.mapped))
	}
	runtime.KeepAlive(tab)
}

// The memory of a table that nobody knows any more goes with it.
func TestForgottenTableGivesMemoryBack(t *testing.T) {
	tab := New(Config{})
	for i := range 20_000 {
		_ = tab.Set(fmt.Appendf(nil, "%d", i), make([]byte, 64), 0)
	}
	m := tab.memory
	if len(m.mapped) == 0 {
		t.Fatal("nothing is mapped")
	}
	runtime.KeepAlive(tab)
	mapped := func() int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.mapped)
	}
	for end := time.Now().Add(10 * time.Second); mapped() > 0; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("%d arrays are still mapped", mapped())
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

// TestMapsAreBounded: arrays beyond the most come from the heap, and each given back makes room.
func TestMapsAreBounded(t *testing.T) {
	m := newMemory()
	defer m.putAll()
	var all [][]byte
	for len(m.mapped) == len(all) {
		if all = append(all, m.take(mapLeast)); len(all) > mapsMost+1 {
			t.Fatal("there is no bound")
		}
	}
	m.put(all[len(all)-1])
	for i := 0; i < len(all)-1; i += 2 { // each leaves a hole
		m.put(all[i])
	}
	before := len(m.mapped)
	if m.take(mapLeast); len(m.mapped) != before+1 {
		t.Error("there is no room after a put")
	}
}
