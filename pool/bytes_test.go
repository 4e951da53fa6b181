package pool

import (
	"bytes"
	"sync"
	"testing"
	"unsafe"
)

func TestBytesClasses(t *testing.T) {
	for _, c := range []struct{ n, size int }{
		{-1, 0}, {0, 0},
		{1, 64}, {63, 64}, {64, 64},
		{65, 128}, {128, 128}, {129, 256},
		{32768, 32768}, {32769, 65536},
		{65535, 65536}, {65536, 65536},
		{65537, 4096 * 17}, {4096 * 17, 4096 * 17}, {4096*17 + 1, 4096 * 18}, {131072, 131072}, {131073, 8192 * 17},
		{1 << 20, 1 << 20}, {1<<20 + 1, 1<<20 + 65536}, {2<<20 - 65536, 2<<20 - 65536}, {2<<20 - 65535, 2 << 20},
	} {
		var s Shard
		b := s.Bytes(c.n)
		if Size(c.n) != c.size {
			t.Errorf("Size of %d: %d, want %d", c.n, Size(c.n), c.size)
		}
		if b.Len() != max(0, c.n) || len(b.B()) != b.Len() || cap(b.B()) != b.Len() || b.Cap() != c.size {
			t.Errorf("%d bytes: Len %d, slice %d of %d, Cap %d, want %d", c.n, b.Len(), len(b.B()), cap(b.B()), b.Cap(), c.size)
		}
		pooled := 0
		if c.n > 0 && c.n <= SlabMax {
			pooled = 1
		}
		if s.Outstanding() != pooled {
			t.Errorf("%d bytes: %d outstanding, want %d", c.n, s.Outstanding(), pooled)
		}
		b.Release()
		if s.Outstanding() != 0 || s.Made() != pooled {
			t.Errorf("%d bytes: released, %d of %d outstanding", c.n, s.Outstanding(), s.Made())
		}
	}
	gib := 1 << 30
	if Size(4*gib-1) != 4*gib || Size(3*gib+1) != 3*gib+gib/8 {
		t.Errorf("%d, %d", Size(4*gib-1), Size(3*gib+1))
	}
	panics(t, "pool: a run of bytes must be below 4 GiB", func() { new(Shard).Bytes(4 * gib) })
}

func TestZeroBytes(t *testing.T) {
	var b Bytes
	b.Retain().Release()
	b.Release()
	if b.B() != nil || b.Len() != 0 || b.Cap() != 0 || b.Slice(0, 0) != b || b.Grow(0) != b {
		t.Error("the zero Bytes is not empty")
	}
	if part, ok := b.Part([]byte{1}); ok || part != b {
		t.Error("something is part of nothing")
	}
}

func TestCopy(t *testing.T) {
	var s Shard
	p := []byte("payload")
	b := s.Copy(p)
	p[0] = 'x'
	if string(b.B()) != "payload" || s.Copy(nil) != (Bytes{}) {
		t.Errorf("a copy is %q", b.B())
	}
}

func TestSliceAndGrow(t *testing.T) {
	var s Shard
	b := s.Copy([]byte("0123456789"))
	for _, c := range []struct {
		view Bytes
		want string
		cap  int
	}{
		{b.Slice(0, 10), "0123456789", 64},
		{b.Slice(3, 7), "3456", 61},
		{b.Slice(3, 7).Slice(1, 2), "4", 60},
		{b.Slice(10, 10), "", 54},
		{b.Slice(3, 3).Grow(4), "3456", 61},
		{b.Grow(2), "01", 64},
		{b.Grow(0).Grow(10), "0123456789", 64},
	} {
		if string(c.view.B()) != c.want || c.view.Len() != len(c.want) || c.view.Cap() != c.cap {
			t.Errorf("view %q with Cap %d, want %q with %d", c.view.B(), c.view.Cap(), c.want, c.cap)
		}
	}
	if n := b.Slice(4, 8).Grow(60).Len(); n != 60 {
		t.Errorf("grown to Cap: %d bytes", n)
	}
	for _, ij := range [][2]int{{-1, 2}, {2, 1}, {0, 11}, {11, 11}} {
		panics(t, "pool: slice of bytes out of range", func() { b.Slice(ij[0], ij[1]) })
	}
	for _, n := range []int{-1, 62} {
		panics(t, "pool: bytes grown beyond their slab", func() { b.Slice(3, 4).Grow(n) })
	}
}

func TestPart(t *testing.T) {
	var s Shard
	whole, other := s.Bytes(64), s.Bytes(64)
	b := whole.Slice(10, 50)
	for i := range whole.B() {
		whole.B()[i] = byte(i)
	}
	data := whole.B()
	for _, c := range []struct {
		name     string
		p        []byte
		ok       bool
		off, end int // in data
	}{
		{"all", b.B(), true, 10, 50},
		{"beginning", data[10:11], true, 10, 11},
		{"middle", data[20:30], true, 20, 30},
		{"end", data[49:50], true, 49, 50},
		{"starts before", data[9:20], false, 0, 0},
		{"before", data[:10], false, 0, 0},
		{"ends behind", data[40:51], false, 0, 0},
		{"behind", data[50:60], false, 0, 0},
		{"around", data, false, 0, 0},
		{"other slab", other.B()[10:20], false, 0, 0},
		{"elsewhere", make([]byte, 5), false, 0, 0},
	} {
		part, ok := b.Part(c.p)
		if ok != c.ok || !ok && part != (Bytes{}) || ok && !bytes.Equal(part.B(), data[c.off:c.end]) {
			t.Errorf("%s: %v, %v", c.name, part.B(), ok)
		}
		if ok && &part.B()[0] != &c.p[0] {
			t.Errorf("%s: the view is of other bytes", c.name)
		}
	}
	for _, empty := range [][]byte{nil, {}, data[20:20], other.B()[:0]} {
		if part, ok := b.Part(empty); !ok || part != (Bytes{}) {
			t.Errorf("empty: %v, %v", part, ok)
		}
	}
	part, _ := b.Part(data[20:30])
	part.Retain()
	whole.Release()
	if part.Release(); s.Outstanding() != 1 { // other
		t.Error("a part is not under the count of the whole")
	}
}

// Whoever drops the last count sends the slab home, once, wherever it runs.
func TestSharedByManyGoroutines(t *testing.T) {
	const holders, rounds = 8, 2_000
	var s Shard
	for _, n := range []int{100, SlabMax + 1} {
		b := s.Bytes(n)
		for i := range b.B() {
			b.B()[i] = 7
		}
		var all sync.WaitGroup
		for i := range holders {
			mine := b.Slice(i, i+10).Retain()
			all.Go(func() {
				for range rounds {
					again := mine.Retain()
					mine.Release()
					if again.B()[9] != 7 {
						t.Error("shared bytes changed")
					}
					mine = again
				}
				mine.Release()
			})
		}
		b.Release()
		all.Wait()
		if s.Outstanding() != 0 {
			t.Errorf("%d bytes: the slab is not home", n)
		}
	}
	if s.Made() != 1 {
		t.Errorf("%d slabs made, want 1", s.Made())
	}
}

func TestG5UseOfReleasedBytes(t *testing.T) {
	const twice, late = "pool: bytes released twice", "pool: retain of released bytes"
	for _, n := range []int{10, SlabMax + 1} {
		var s Shard
		alone := s.Bytes(n)
		alone.Release()
		panics(t, twice, func() { alone.Release() })
		panics(t, late, func() { alone.Retain() })

		shared := s.Bytes(n)
		shared.Retain().Release()
		shared.Release()
		panics(t, twice, func() { shared.Release() })
		panics(t, late, func() { shared.Retain() })

		if next := s.Bytes(n); next.Retain().Len() != n { // nothing of it sticks to the slab
			t.Error("wrong length")
		} else if next.Release(); n == 10 && s.Outstanding() != 1 {
			t.Error("a refused Release changed the count of the slab's next life")
		} else {
			next.Release()
		}
		if s.Outstanding() != 0 || s.Made() > 1 {
			t.Errorf("%d bytes: %d of %d slabs outstanding", n, s.Outstanding(), s.Made())
		}
	}
}

func TestCarrier(t *testing.T) {
	var home, guest Shard
	var c Carrier
	if !c.Empty() {
		t.Error("the zero Carrier holds something")
	}
	c.Release()
	if b := c.Carry(&home, 0); b != (Bytes{}) || !c.Empty() {
		t.Error("no bytes are carried")
	}
	for life := range 3 {
		small, large, big := c.Carry(&home, 10), c.Carry(&guest, 1000), c.Carry(&home, SlabMax+1)
		kept := small.Retain()
		large.B()[999], big.B()[SlabMax] = 1, 2
		if c.Empty() || home.Outstanding() != 1 || guest.Outstanding() != 1 {
			t.Fatalf("life %d: carried, %d and %d outstanding", life, home.Outstanding(), guest.Outstanding())
		}
		c.Release()
		if !c.Empty() || home.Outstanding() != 1 || guest.Outstanding() != 0 {
			t.Fatalf("life %d: let go, %d and %d outstanding", life, home.Outstanding(), guest.Outstanding())
		}
		panics(t, "pool: bytes released twice", func() { large.Release() })
		panics(t, "pool: bytes released twice", func() { big.Release() })
		kept.Release()
		if home.Outstanding() != 0 {
			t.Fatalf("life %d: what was retained is not home", life)
		}
	}
	if home.Made() != 1 || guest.Made() != 1 {
		t.Errorf("%d and %d slabs made, want one each", home.Made(), guest.Made())
	}
}

// TestCarrierGive: what it was given goes home with the slabs between which it stands, and counts
// no bytes.
func TestCarrierGive(t *testing.T) {
	kind := NewKind("given", Layout{Size: unsafe.Sizeof(Object{}), Fixed: ObjectSize}, func() *Object { return new(Object) }, func(*Object) {})
	var s Shard
	var c Carrier
	for range 3 {
		c.Carry(&s, 10)
		c.Give(s.Take(kind))
		c.Carry(&s, SlabMax+1)
		c.Give(s.Take(kind))
		if n := s.Outstanding(); n != 3 {
			t.Fatalf("%d are out", n)
		}
		if n := c.Size(); n < 10+SlabMax+1 || n > 1000+2*SlabMax {
			t.Errorf("%d bytes", n)
		}
		c.Release()
		if s.Outstanding() != 0 || !c.Empty() {
			t.Fatalf("%d are still out", s.Outstanding())
		}
	}
	if s.Made() != 3 {
		t.Errorf("%d made", s.Made())
	}
}

// TestCarrierJoin: it takes over all that another holds, however many either has.
func TestCarrierJoin(t *testing.T) {
	for mine := range 3 {
		for others := range 3 {
			var s Shard
			var c, other Carrier
			for range mine {
				c.Carry(&s, 10)
			}
			for range others {
				other.Carry(&s, 10)
			}
			c.Join(&other)
			if !other.Empty() || s.Outstanding() != mine+others {
				t.Fatalf("%d and %d: %d outstanding", mine, others, s.Outstanding())
			}
			c.Release()
			if n := s.Outstanding(); n != 0 {
				t.Errorf("%d and %d: %d are still out", mine, others, n)
			}
		}
	}
}
