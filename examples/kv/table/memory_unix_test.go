//go:build unix

package table

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

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
