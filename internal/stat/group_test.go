package stat

import (
	"math"
	"math/rand"
	"reflect"
	"runtime"
	"testing"
)

func TestGroupAgainstModel(t *testing.T) {
	for seed := range int64(100) {
		r := rand.New(rand.NewSource(seed))
		var g Group
		var counted, published [GroupMax]uint64
		for op := range 500 {
			if r.Intn(4) == 0 {
				g.Publish()
				published = counted
			} else {
				i, n := r.Intn(GroupMax), r.Uint64()>>r.Intn(64)
				g.Add(i, n)
				counted[i] += n
			}
			for i, want := range published {
				if got := g.Load(i); got != want {
					t.Fatalf("seed %d op %d: counter %d is %d, want %d", seed, op, i, got, want)
				}
			}
		}
	}
}

// The owner counts while another goroutine reads: under the race detector this
// finds a word that both touch without an atomic.
func TestGroupReadMeanwhile(t *testing.T) {
	const turns = 10_000
	var g Group
	done := make(chan struct{})
	go func() {
		defer close(done)
		last := uint64(0)
		for last < turns*3 {
			v := g.Load(7)
			if v < last || v%3 != 0 {
				t.Errorf("read %d after %d, published by threes", v, last)
				return
			}
			last = v
			runtime.Gosched()
		}
	}()
	for range turns {
		g.Add(7, 1)
		g.Add(7, 2)
		g.Publish()
	}
	<-done
}

// Words of the owner and words of readers are a Pad apart, also from what is
// declared behind the struct.
func TestPadding(t *testing.T) {
	typ := reflect.TypeFor[Group]()
	plain, _ := typ.FieldByName("plain")
	published, _ := typ.FieldByName("published")
	if gap := published.Offset - plain.Offset - plain.Type.Size(); gap < 128 {
		t.Errorf("%d bytes between the owner's words and the readers'", gap)
	}
	last := typ.Field(typ.NumField() - 1)
	if last.Type != reflect.TypeFor[Pad]() || last.Offset+last.Type.Size() != typ.Size() {
		t.Error("it does not end with a Pad")
	}
}

func TestNoMallocs(t *testing.T) {
	var g Group
	least := uint64(math.MaxUint64)
	for range 3 { // others may allocate meanwhile: the least of three tries counts
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range 1_000_000 {
			g.Add(i%GroupMax, 1)
			if i%1000 == 0 {
				g.Publish()
			}
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least != 0 {
		t.Errorf("%d mallocs in a million operations", least)
	}
}
