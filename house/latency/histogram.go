package latency

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Values below 2*parts have a bucket each. Above that, each power of two is divided into parts
// buckets of equal width: so the width of a bucket is at most 1/parts of its least value.
const (
	partBits = 5
	parts    = 1 << partBits
	buckets  = (63-partBits-1)*parts + 2*parts // the last one ends at the greatest int64
	words    = (buckets + 63) / 64
)

// pad keeps words that different threads write from sharing a cache line: two lines of 64 bytes,
// because processors fetch them in pairs.
type pad [128]byte

// Histogram counts durations by size. One owner records; anyone takes a Snapshot. The zero
// Histogram is ready. It is embedded by value and must not be copied. About 30 KiB.
type Histogram struct {
	// Written and read by the owner only.
	sum          uint64
	max          int64
	changedWords uint64        // bit w: changed[w] is not 0
	changed      [words]uint64 // bit b of word w: bucket 64w+b was counted since the last Publish
	plain        [buckets]uint64
	_            pad

	// Stored by the owner in Publish, loaded by anyone in Snapshot.
	published    [buckets]atomic.Uint64
	publishedSum atomic.Uint64
	publishedMax atomic.Int64
	_            pad
}

// Record counts one duration. Only the owner may call it; readers see it after the next Publish. A
// negative duration, which no monotonic clock yields, counts as 0.
//
//alloc:none
func (h *Histogram) Record(d time.Duration) {
	ns := max(int64(d), 0)
	i := bucketOf(ns)
	h.plain[i]++
	h.changed[i/64] |= 1 << (i % 64)
	h.changedWords |= 1 << (i / 64)
	h.sum += uint64(ns) // wraps after 584 years of measured time
	if ns > h.max {
		h.max = ns
	}
}

// Publish makes what was recorded visible to readers. Only the owner may call it. It stores the
// buckets that changed, some 8 ns each, and takes 1 ns if none did.
//
//alloc:none
func (h *Histogram) Publish() {
	if h.changedWords == 0 {
		return
	}
	// The maximum is stored before the buckets, and loaded after them: so a reader never sees a
	// value above the maximum.
	if h.max != h.publishedMax.Load() {
		h.publishedMax.Store(h.max)
	}
	for ; h.changedWords != 0; h.changedWords &= h.changedWords - 1 {
		w := bits.TrailingZeros64(h.changedWords)
		for c := h.changed[w]; c != 0; c &= c - 1 {
			i := w*64 + bits.TrailingZeros64(c)
			h.published[i].Store(h.plain[i])
		}
		h.changed[w] = 0
	}
	h.publishedSum.Store(h.sum)
}

// bucketOf returns the index of the bucket of v >= 0.
func bucketOf(v int64) uint {
	e := uint(bits.Len64(uint64(v) >> (partBits + 1))) // low bits that the bucket ignores
	return e*parts + uint(v>>e)
}

// bucketMax returns the greatest value of bucket i.
func bucketMax(i int) int64 {
	if i < 2*parts {
		return int64(i)
	}
	e := i/parts - 1
	return int64(uint64(i-e*parts+1)<<e - 1) // the last bucket's end is 2^63 before the -1
}
