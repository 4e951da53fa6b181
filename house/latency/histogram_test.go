package latency

import (
	"math"
	"math/rand"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"
)

func TestBuckets(t *testing.T) {
	if bucketMax(buckets-1) != math.MaxInt64 || bucketOf(math.MaxInt64) != buckets-1 {
		t.Fatalf("the last bucket, %d, ends at %d", buckets-1, bucketMax(buckets-1))
	}
	least := int64(0)
	for i := range buckets {
		most := bucketMax(i)
		if bucketOf(least) != uint(i) || bucketOf(most) != uint(i) {
			t.Fatalf("bucket %d is from %d to %d, which belong to %d and %d", i, least, most, bucketOf(least), bucketOf(most))
		}
		if most-least > least/parts {
			t.Fatalf("bucket %d, from %d to %d, is too wide", i, least, most)
		}
		least = most + 1
	}
}

// samples is the reference: all that was recorded, sorted.
type samples []int64

func (s samples) quantile(q float64) int64 {
	if len(s) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(s))))
	return s[min(max(rank, 1), len(s))-1]
}

func (s samples) mean() int64 {
	if len(s) == 0 {
		return 0
	}
	sum := uint64(0)
	for _, v := range s {
		sum += uint64(v)
	}
	return int64(sum / uint64(len(s)))
}

// agree requires s to be what want was recorded as.
func agree(t *testing.T, seed int64, s *Snapshot, want samples) {
	t.Helper()
	slices.Sort(want)
	if s.Count() != uint64(len(want)) || int64(s.Max()) != want.quantile(1) || int64(s.Mean()) != want.mean() {
		t.Fatalf("seed %d: count %d, max %d, mean %d; want %d, %d, %d",
			seed, s.Count(), int64(s.Max()), int64(s.Mean()), len(want), want.quantile(1), want.mean())
	}
	if s.Quantile(1) != s.Max() {
		t.Fatalf("seed %d: quantile 1 is %d, max %d", seed, s.Quantile(1), s.Max())
	}
	for _, q := range []float64{-1, 0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1, 2} {
		got, exact := int64(s.Quantile(q)), want.quantile(q)
		if got < exact || got-exact > exact/parts {
			t.Fatalf("seed %d: quantile %v is %d, want %d to %d", seed, q, got, exact, exact+exact/parts)
		}
	}
}

func TestHistogramAgainstModel(t *testing.T) {
	for seed := range int64(200) {
		r := rand.New(rand.NewSource(seed))
		most := 1 + r.Intn(55) // the sum of a run then fits
		var workers [3]Histogram
		var recorded, published [3]samples
		var s, all Snapshot
		for range r.Intn(1000) {
			w := r.Intn(len(workers))
			if r.Intn(20) == 0 {
				workers[w].Publish()
				if workers[w].changed != [words]uint64{} {
					t.Fatalf("seed %d: buckets still marked as changed after Publish", seed)
				}
				published[w] = slices.Clone(recorded[w])
				continue
			}
			ns := r.Int63n(1 << r.Intn(most))
			workers[w].Record(time.Duration(ns))
			recorded[w] = append(recorded[w], ns)
		}
		for w := range workers {
			workers[w].Snapshot(&s)
			agree(t, seed, &s, published[w])
			all.Merge(&s)
		}
		agree(t, seed, &all, slices.Concat(published[:]...))
	}
}

func TestExtremes(t *testing.T) {
	var h Histogram
	var s Snapshot
	h.Record(math.MinInt64) // as 0
	h.Record(math.MaxInt64)
	h.Publish()
	h.Snapshot(&s)
	agree(t, 0, &s, samples{0, math.MaxInt64})
	if s.Quantile(math.NaN()) != 0 {
		t.Error("quantile NaN is not the least")
	}
	new(Histogram).Snapshot(&s) // overwrites
	agree(t, 0, &s, nil)
}

// The owner records while another goroutine takes snapshots: counts never fall,
// and no quantile is above the maximum or unknown.
func TestSnapshotMeanwhile(t *testing.T) {
	const total = 20_000
	var h Histogram
	done := make(chan struct{})
	go func() {
		defer close(done)
		var s Snapshot
		for last := uint64(0); last < total; runtime.Gosched() {
			h.Snapshot(&s)
			if s.Count() < last {
				t.Errorf("count fell from %d to %d", last, s.Count())
				return
			}
			last = s.Count()
			if last > 0 && bucketOf(int64(s.Quantile(1))) > bucketOf(int64(s.Max())) {
				t.Errorf("quantile 1 is %d, max %d", s.Quantile(1), s.Max())
				return
			}
			for i := len(s.counts) - 1; i > int(bucketOf(int64(s.Max()))); i-- {
				if s.counts[i] != 0 {
					t.Errorf("a value in bucket %d is above max %d", i, s.Max())
					return
				}
			}
		}
	}()
	for i := range total {
		h.Record(time.Duration(i) * time.Duration(i))
		if i%16 == 15 {
			h.Publish()
		}
	}
	h.Publish()
	<-done
}

// Words of the owner and words of readers are a pad apart, also from what is declared behind the
// struct.
func TestPadding(t *testing.T) {
	typ := reflect.TypeFor[Histogram]()
	plain, _ := typ.FieldByName("plain")
	published, _ := typ.FieldByName("published")
	if gap := published.Offset - plain.Offset - plain.Type.Size(); gap < 128 {
		t.Errorf("%d bytes between the owner's words and the readers'", gap)
	}
	last := typ.Field(typ.NumField() - 1)
	if last.Type != reflect.TypeFor[pad]() || last.Offset+last.Type.Size() != typ.Size() {
		t.Error("it does not end with a pad")
	}
}

func TestNoMallocs(t *testing.T) {
	var h Histogram
	var s, all Snapshot
	least := uint64(math.MaxUint64)
	for range 3 { // others may allocate meanwhile: the least of three tries counts
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range 1_000_000 {
			h.Record(time.Duration(i) * 997)
			if i%1000 == 0 {
				h.Publish()
				h.Snapshot(&s)
				all.Merge(&s)
				all.Quantile(0.99)
			}
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least != 0 {
		t.Errorf("%d mallocs in a million operations", least)
	}
}
