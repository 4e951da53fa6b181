package pool

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// TestLongIsUsedAgain: by whatever has the same Size, of any shard.
func TestLongIsUsedAgain(t *testing.T) {
	const tries = 30 // a collection may take it
	for _, c := range []struct {
		had, want int
		again     bool
	}{
		{1 << 20, 1 << 20, true},
		{1<<20 - 1, 1 << 20, true},
		{1<<20 + 1, 1 << 20, false},
		{1 << 20, 1<<20 + 1, false},
		{1_000_000, 1_015_808, true},
		{1_000_000, 1_015_809, false},
		{1_000_000, 983_040, false},
		{SlabMax + 1, SlabMax, false}, // has a home
		{10 << 20, 10<<20 - 10<<10, true},
	} {
		times := 0
		for range tries {
			var s, other Shard
			b := s.Bytes(c.had)
			b.Release()
			next := other.Bytes(c.want)
			if next.slab == b.slab {
				times++
			}
			if next.Len() != c.want || next.slab.gen&1 == 0 {
				t.Fatalf("%d bytes, then %d: %d bytes, or free ones", c.had, c.want, next.Len())
			}
			next.Release()
			if times > 0 {
				break
			}
		}
		if times > 0 != c.again {
			t.Errorf("%d bytes, then %d: again %v, want %v", c.had, c.want, times > 0, c.again)
		}
	}
}

// TestLongIsOneHolders: what is taken isn't given to another, and what was released is dead.
func TestLongIsOneHolders(t *testing.T) {
	var s Shard
	var all []Bytes
	for range 20 {
		b := s.Bytes(SlabMax + 1)
		for _, other := range all {
			if other.slab == b.slab {
				t.Fatal("bytes of two holders")
			}
		}
		if all = append(all, b); len(all) > 3 {
			all[0].Release()
			all = all[1:]
		}
	}
	for _, b := range all {
		b.Release()
		panics(t, "pool: bytes released twice", b.Release)
		panics(t, "pool: retain of released bytes", func() { b.Retain() })
	}
}

// TestLongIsTheCollectors: what isn't needed goes, without a Trim.
func TestLongIsTheCollectors(t *testing.T) {
	var s Shard
	gone := make(chan struct{})
	func() {
		b := s.Bytes(SlabMax + 1)
		runtime.AddCleanup(b.slab, func(gone chan struct{}) { close(gone) }, gone)
		b.Release()
	}()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.GC() {
		select {
		case <-gone:
			return
		case <-time.After(time.Millisecond):
			if time.Now().After(deadline) {
				t.Fatal("a free slab stays for ever")
			}
		}
	}
}

// TestLongOfACarrier: what is free holds nothing that stood on the same carrier.
func TestLongOfACarrier(t *testing.T) {
	var s Shard
	var c Carrier
	c.Carry(&s, 100)
	first := c.Carry(&s, SlabMax+1).slab
	c.Carry(&s, SlabMax+2)
	c.Release()
	if s.Outstanding() != 0 || first.next != nil {
		t.Errorf("%d outstanding, next %v", s.Outstanding(), first.next)
	}
}

// TestLongIsReleasedAnywhere: workers and others let go of what an owner takes, all at once.
func TestLongIsReleasedAnywhere(t *testing.T) {
	const putters, rounds = 4, 500
	var s Shard
	ways := make(chan Bytes, putters)
	var all sync.WaitGroup
	for range putters {
		all.Go(func() {
			for b := range ways {
				p := b.B()
				p[0]++
				if p[0] != 1 {
					t.Error("bytes of two holders")
				}
				b.Release()
			}
		})
	}
	for i := range rounds {
		b := s.Bytes(SlabMax + 1 + i%3)
		b.B()[0] = 0
		ways <- b
	}
	close(ways)
	all.Wait()
}

// TestLongOnes: the last that were let go of are known, however many that are, and the last of
// them is the first that is taken.
func TestLongOnes(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would take them
	var s Shard
	var all []Bytes
	for i := range longsMax + 20 {
		all = append(all, s.Bytes(SlabMax+1+i%2*8192))
	}
	for _, b := range all {
		b.Release()
	}
	if len(longs.free) != longsMax {
		t.Errorf("%d are free, want %d", len(longs.free), longsMax)
	}
	for i := range longsMax / 2 {
		if b, want := s.Bytes(SlabMax+1), all[len(all)-2-2*i]; b.slab != want.slab {
			t.Fatalf("take %d is of another slab", i)
		}
	}
	if b := s.Bytes(SlabMax + 1); b.slab == all[20-2].slab || len(longs.free) != longsMax/2 {
		t.Errorf("one that was dropped is there still, or %d are free", len(longs.free))
	}
}
