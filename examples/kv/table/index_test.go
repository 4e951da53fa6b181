package table

import (
	"fmt"
	"testing"
)

// No call moves more than its share, and the old array is empty in time, also when
// only insertions follow.
func TestIndexResizesInSteps(t *testing.T) {
	tab := New(Config{IndexMin: 8})
	step := func(what string, i int, call func()) {
		x := &tab.index
		old, next := len(x.old), x.next
		call()
		if len(x.old) == old && x.next-next > migrateSlots {
			t.Fatalf("%s %d: from slot %d to %d", what, i, next, x.next)
		}
		if x.count > x.limit {
			t.Fatalf("%s %d: %d entries, limit %d", what, i, x.count, x.limit)
		}
	}
	key := func(i int) []byte { return fmt.Appendf(nil, "%d", i) }
	const n = 100_000
	for i := range n {
		step("set", i, func() { _ = tab.Set(key(i), nil, 0) })
	}
	grown := tab.Stats().IndexBytes
	for i := range n {
		step("delete", i, func() { tab.Delete(key(i), 0) })
		if tab.index.old != nil && i%3 == 0 { // come back while it shrinks
			step("set", i, func() { _ = tab.Set(key(n+i), nil, 0) })
		}
	}
	for range 10_000 {
		tab.ExpireSome(1, 0)
	}
	if err := tab.check(); err != nil {
		t.Fatal(err)
	}
	if s := tab.Stats(); s.IndexBytes > max(s.Keys*8*slotBytes, 8*slotBytes) {
		t.Errorf("%d bytes for %d keys, grown to %d", s.IndexBytes, s.Keys, grown)
	}
}

// The hardest case of the Invariant at migrateSlots: nothing but insertions from
// the moment at which the index begins to shrink.
func TestIndexGrowsWhileItShrinks(t *testing.T) {
	for n := 100; n < 100+fewer(300); n += 3 {
		tab := New(Config{IndexMin: 8})
		for i := range n {
			_ = tab.Set(fmt.Appendf(nil, "%d", i), nil, 0)
		}
		for i := 0; tab.index.old == nil || len(tab.index.old) < len(tab.index.main); i++ {
			tab.Delete(fmt.Appendf(nil, "%d", i), 0)
		}
		for i := range 1000 {
			_ = tab.Set(fmt.Appendf(nil, "again %d", i), nil, 0)
			if err := tab.index.check(); err != nil {
				t.Fatalf("%d keys, %d again: %v", n, i, err)
			}
		}
	}
}
