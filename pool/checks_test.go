package pool

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// The tests of this file plant uses after put, which the checks under the tag
// "invariants" must find at the next take.

func needInvariants(t *testing.T) {
	t.Helper()
	if !invariant.Enabled {
		t.Skip("needs the build tag invariants")
	}
}

func TestWriteAfterPut(t *testing.T) {
	needInvariants(t)
	const want = "pool: written to after put: middle"
	for _, c := range []struct {
		name  string
		write func(*middle)
		found bool
	}{
		{"first byte", func(m *middle) { m.before[0] = 1 }, true},
		{"last byte before the object", func(m *middle) { m.before[1] = -1 << 63 }, true},
		{"first byte behind the fixed part", func(m *middle) { m.behind[0] = 1 }, true},
		{"last byte", func(m *middle) { m.behind[2] = -1 << 63 }, true},
		{"nothing", func(m *middle) {}, false},
		{"the fixed part", func(m *middle) { m.serial = -1 }, false}, // left alone by clear
	} {
		t.Run(c.name, func(t *testing.T) {
			var home, away Shard
			o := home.Take(middleKind)
			home.Put(o)
			c.write(middleOf(o))
			take := func() { home.Take(middleKind) }
			if c.found {
				panics(t, want, take)
			} else {
				take()
			}

			o = home.Take(middleKind)
			away.Put(o)
			away.Flush()
			c.write(middleOf(o))
			if c.found {
				panics(t, want, take)
			} else {
				take()
			}
		})
	}
}

func TestScratchIsNotChecked(t *testing.T) {
	var s Shard
	o := s.Take(scratchKind)
	scratchOf(o).kept[0] = 1
	s.Put(o)
	scratchOf(o).kept[1] = 2
	if kept := scratchOf(s.Take(scratchKind)).kept; kept != [8]byte{1, 2} {
		t.Errorf("kept %v", kept)
	}
}

// A clear that forgets something is found as well.
func TestForgetfulClear(t *testing.T) {
	needInvariants(t)
	k := NewKind("forgetful", plainKind.layout, plainKind.make, func(*Object) {})
	var s Shard
	o := s.Take(k)
	plainOf(o).value = 1
	s.Put(o)
	panics(t, "pool: written to after put: forgetful", func() { s.Take(k) })
}

func TestTakenObjectOnFreeList(t *testing.T) {
	needInvariants(t)
	var s Shard
	o := s.Take(plainKind)
	s.Put(o)
	o.gen++ // as if it had been taken
	panics(t, "pool: a taken object stands on a free list: plain", func() { s.Take(plainKind) })
}

// A guest's goroutine may recover from a failed check: the other guests go on.
func TestGuestsGoOnAfterCheck(t *testing.T) {
	needInvariants(t)
	var g Guests
	o := g.Take(plainKind)
	g.Put(o)
	plainOf(o).value = 1
	panics(t, "pool: written to after put: plain", func() { g.Take(plainKind) })
	g.Put(g.Take(plainKind))

	b := g.Bytes(1)
	b.Release()
	b.B()[0] = 1
	panics(t, "pool: bytes written to after release", func() { g.Bytes(1) })
	g.Bytes(1).Release()
}

func TestBytesArePoisoned(t *testing.T) {
	needInvariants(t)
	var s Shard
	b := s.Bytes(100)
	whole := b.Grow(b.Cap()).B()
	for i := range whole {
		whole[i] = byte(i)
	}
	b.Retain().Release()
	if whole[99] != 99 {
		t.Error("poisoned while held")
	}
	b.Release()
	for i, x := range whole {
		if x != poison {
			t.Fatalf("byte %d is %#x after release", i, x)
		}
	}
}

func TestBytesWriteAfterRelease(t *testing.T) {
	needInvariants(t)
	for _, at := range []int{0, 99, 100, 127} { // also behind the view
		var s Shard
		b := s.Bytes(100)
		whole := b.Grow(b.Cap()).B()
		b.Release()
		whole[at]++
		panics(t, "pool: bytes written to after release", func() { s.Bytes(128) })
	}
	for _, at := range []int{0, SlabMax, 1<<20 - 1} {
		found := false
		for try := 0; try < 100 && !found; try++ { // until the next has the same slab
			found = foundInLong(at)
		}
		if !found {
			t.Errorf("a write to byte %d of long ones isn't found", at)
		}
	}
}

// foundInLong writes to long bytes that it has released, and reports whether who takes some then
// panics.
func foundInLong(at int) (found bool) {
	var s Shard
	b := s.Bytes(1 << 20)
	whole := b.B()
	b.Release()
	whole[at]++
	defer func() { found = recover() == "pool: bytes written to after release" }()
	next := s.Bytes(1 << 20)
	whole[at]-- // another one's
	next.Release()
	return false
}
