package table

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func TestClasses(t *testing.T) {
	for n := 1; n <= 1<<20; n++ {
		c := classOf(n)
		size := classSize(c)
		if size < n || size%16 != 0 {
			t.Fatalf("%d bytes: class %d of %d", n, c, size)
		}
		if c > 1 && classSize(c-1) >= n {
			t.Fatalf("%d bytes: class %d, but %d is enough", n, c, c-1)
		}
		if unused := size - n; unused >= 16 && unused*5 >= size {
			t.Fatalf("%d bytes: %d of %d unused", n, unused, size)
		}
	}
	if c := classOf(1 << 28); c != classMax || classSize(c) != 1<<28 {
		t.Errorf("the last class is %d of %d", c, classSize(c))
	}
}

// What grows with the entries has no pointers, but for one a page and a segment.
func TestNoPointersInEntries(t *testing.T) {
	for _, v := range []any{slot{}, deadlinePage{}} {
		if hasPointers(reflect.TypeOf(v)) {
			t.Errorf("%T has pointers", v)
		}
	}
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return hasPointers(t.Elem())
	default:
		return t.Kind() > reflect.Complex128
	}
}

// churn overwrites and deletes entries of random sizes, and returns the greatest
// ratio of the arena to the greatest live bytes so far.
func churn(t *testing.T, tab *Table, random *rand.Rand, operations, keys int, size func() int) (worst float64) {
	t.Helper()
	var key [16]byte
	value := make([]byte, 1<<20)
	high := 0
	for i := range operations {
		k := fmt.Appendf(key[:0], "key:%d", random.IntN(keys))
		if random.IntN(4) == 0 {
			tab.Delete(k, 0)
		} else if err := tab.Set(k, value[:size()], 0); err != nil {
			t.Fatal(err)
		}
		s := tab.Stats()
		high = max(high, s.LiveBytes)
		if i > operations/4 {
			worst = max(worst, float64(s.ArenaBytes)/float64(high))
		}
	}
	return worst
}

func TestChurnKeepsArenaWithinTwiceLive(t *testing.T) {
	for seed := range uint64(2) {
		for name, c := range map[string]struct {
			keys, operations int
			size             func(r *rand.Rand) int
		}{
			"small":   {20_000, 150_000, func(r *rand.Rand) int { return r.IntN(300) }},
			"similar": {20_000, 150_000, func(r *rand.Rand) int { return 60 + r.IntN(8) }},
			"all":     {2_000, 40_000, func(r *rand.Rand) int { return r.IntN(1 << r.IntN(15)) }},
			"large":   {100, 3_000, func(r *rand.Rand) int { return r.IntN(500 << 10) }},
		} {
			random := rand.New(rand.NewPCG(seed, 1))
			tab := New(Config{Seed: seed})
			worst := churn(t, tab, random, fewer(c.operations), c.keys, func() int { return c.size(random) })
			t.Logf("%s: %.2f", name, worst)
			if worst > 2 {
				t.Errorf("%s, seed %d: arena is %.2f times the live bytes", name, seed, worst)
			}
			if err := tab.check(); err != nil {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
}

// Sizes go out of fashion and leave survivors in all segments: each wave is of
// another size, and nine of ten of its entries go.
func TestArenaFollowsDriftingSizes(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 2))
	tab := New(Config{Seed: seed, SegmentBytes: 1 << 16})
	high := 0
	for wave := range 40 {
		size := 64 + 40*wave
		count := 2 << 20 / size
		for i := range count {
			if err := tab.Set(fmt.Appendf(nil, "%d:%d", wave, i), make([]byte, size), 0); err != nil {
				t.Fatal(err)
			}
		}
		high = max(high, tab.Stats().LiveBytes)
		for i := range count {
			if random.IntN(10) > 0 {
				tab.Delete(fmt.Appendf(nil, "%d:%d", wave, i), 0)
			}
		}
	}
	for range 20_000 { // an owner's timer is enough to end what was begun
		tab.ExpireSome(1, 0)
	}
	s := tab.Stats()
	t.Logf("live %d, high %d, arena %d", s.LiveBytes, high, s.ArenaBytes)
	if most := s.LiveBytes*2 + 30<<16; s.ArenaBytes > most {
		t.Errorf("seed %d: live %d, arena %d, expected at most %d", seed, s.LiveBytes, s.ArenaBytes, most)
	}
	if err := tab.check(); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
}

func TestLargeValueIsReleased(t *testing.T) {
	tab := New(Config{})
	value := []byte(strings.Repeat("x", 5<<20))
	if err := tab.Set([]byte("k"), value, 0); err != nil {
		t.Fatal(err)
	}
	if got := tab.Bytes(); got < 5<<20 || got > 6<<20 {
		t.Errorf("%d bytes for 5 MiB", got)
	}
	if got, _ := tab.Get([]byte("k"), 0); string(got) != string(value) {
		t.Error("another value")
	}
	if err := tab.Set([]byte("k"), value[:300<<10], 0); err != nil {
		t.Fatal(err)
	}
	if got := tab.Bytes(); got > 400<<10 {
		t.Errorf("%d bytes for 300 KiB", got)
	}
	tab.Delete([]byte("k"), 0)
	if got := tab.Stats().ArenaBytes; got != 0 {
		t.Errorf("%d bytes for nothing", got)
	}
}

// Entries that come and go around the end of a segment don't make and drop it.
func TestNoThrashAtSegmentEnd(t *testing.T) {
	for _, size := range []int{10, 200, 5000, 100_000} {
		tab := New(Config{})
		value := make([]byte, size)
		for i := range fewer(300) {
			key := fmt.Appendf(nil, "%d", i)
			set := func() int {
				if err := tab.Set(key, value, 0); err != nil {
					t.Fatal(err)
				}
				return tab.Stats().ArenaBytes
			}
			full := set()
			for range 2 * classMax { // until each class was asked whether it is loose
				tab.Delete(key, 0)
				less := tab.Stats().ArenaBytes
				if again := set(); less != full || again != full {
					t.Fatalf("%d entries of %d: arena %d, then %d, then %d", i, size, full, less, again)
				}
			}
		}
	}
}

// Emptied segments go at once, not when their class is asked.
func TestEmptiedSegmentsAreDropped(t *testing.T) {
	tab := New(Config{})
	for i := range 50 {
		if err := tab.Set([]byte{byte(i)}, make([]byte, 200_000), 0); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		tab.Delete([]byte{byte(i)}, 0)
	}
	if got := tab.Stats().ArenaBytes; got > 3<<19 {
		t.Errorf("%d bytes for nothing", got)
	}
}

// sparse returns a table with many full segments of 64 KiB, from which entries
// were deleted by a rule, and what else can be tidied has been.
func sparse(t *testing.T, deleted func(segment uint32, i int) bool) *Table {
	t.Helper()
	tab := New(Config{SegmentBytes: 1 << 16})
	for i := range 30_000 {
		if err := tab.Set(fmt.Appendf(nil, "%d", i), make([]byte, 40), 0); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30_000 {
		key := fmt.Appendf(nil, "%d", i)
		if s, _ := tab.find(key, tab.hasher.hash(key)); deleted(uint32(s.at>>32), i) {
			tab.arena.asked = 0 // nothing is tidied yet
			tab.Delete(key, 0)
		}
	}
	return tab
}

func (t *Table) locations() map[string]uint64 {
	all := map[string]uint64{}
	for _, at := range t.entries() {
		all[string(t.arena.block(at).key())] = at
	}
	return all
}

// Sparse segments are emptied into others; full ones stay as they are.
func TestOnlySparseSegmentsLeave(t *testing.T) {
	full := func(segment uint32) bool { return segment%3 == 0 }
	tab := sparse(t, func(segment uint32, i int) bool { return !full(segment) && i%4 != 0 })
	before, bytes := tab.locations(), tab.Stats().ArenaBytes
	for range 20_000 {
		tab.ExpireSome(0, 0)
	}
	if got := tab.Stats(); got.ArenaBytes > bytes*8/10 {
		t.Errorf("arena %d, then %d, live %d", bytes, got.ArenaBytes, got.LiveBytes)
	}
	for key, at := range tab.locations() {
		if full(uint32(before[key]>>32)) && at != before[key] {
			t.Fatalf("%q has moved from the full segment %d", key, before[key]>>32)
		}
	}
	if err := tab.check(); err != nil {
		t.Error(err)
	}
}

// When all that can be gained is gained, nothing moves any more.
func TestTidyingEnds(t *testing.T) {
	for keep := range fewer(8) {
		tab := sparse(t, func(segment uint32, i int) bool { return i%8 > keep })
		for range 20_000 {
			tab.ExpireSome(0, 0)
		}
		before := fmt.Sprint(tab.locations())
		for range 10_000 {
			tab.ExpireSome(0, 0)
			if tab.arena.leaving != 0 {
				t.Fatalf("%d of 8 kept: segment %d is leaving", keep+1, tab.arena.leaving)
			}
		}
		if fmt.Sprint(tab.locations()) != before {
			t.Errorf("%d of 8 kept: entries moved", keep+1)
		}
	}
}

// Two segments that don't fit into one stay two, however loose.
func TestSegmentStaysIfOthersLackRoom(t *testing.T) {
	tab := New(Config{SegmentBytes: 1 << 16})
	k := &tab.arena.classes[classOf(64)]
	for i := 0; k.segments < 20; i++ {
		_ = tab.Set(fmt.Appendf(nil, "%d", i), make([]byte, 40), 0)
	}
	last := tab.arena.segments[k.first].mem
	big := map[int]bool{} // two segments of full size
	for n, s := range tab.arena.segments {
		if len(big) < 2 && int(s.class) == classOf(64) && len(s.mem) == len(last) && !s.room() {
			big[n] = true
		}
	}
	seen := map[uint64]int{}
	for key, at := range tab.locations() {
		tab.arena.asked = 0
		if seen[at>>32]++; !big[int(at>>32)] || seen[at>>32]*64 > len(last)*6/10 {
			tab.Delete([]byte(key), 0)
		}
	}
	moved := 0
	before := tab.locations()
	for range 10_000 {
		tab.ExpireSome(0, 0)
	}
	for key, at := range tab.locations() {
		if at != before[key] {
			moved++
		}
	}
	if !k.loose() || k.segments != 2 {
		t.Fatalf("the case is not what it should be: %+v", *k)
	}
	if moved > 0 || tab.arena.leaving != 0 {
		t.Errorf("%d entries moved for nothing", moved)
	}
}

func TestBlockFreedTwicePanics(t *testing.T) {
	tab := New(Config{})
	at := tab.arena.take(20)
	tab.arena.block(at).fill(nil, nil, String)
	tab.arena.take(20) // the segment stays
	tab.arena.put(at)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	tab.arena.put(at)
}
