package latency

import (
	"math"
	"time"
)

// Snapshot is what a Histogram held when it was last published, or the sum of several. The zero
// Snapshot is empty. It belongs to the goroutine that uses it, and may be used again. About 15 KiB:
// keep it in a field rather than on the stack.
type Snapshot struct {
	counts [buckets]uint64
	count  uint64 // Invariant: the sum of counts
	sum    uint64
	max    int64 // Invariant: no counted value is greater
}

// Snapshot overwrites dst with what h held at its last Publish. Any goroutine may call it. If a
// Publish runs meanwhile, dst has some buckets from before it and some from after. Count and
// Quantile agree with each other even then; Mean may be off by the difference.
//
//alloc:none
func (h *Histogram) Snapshot(dst *Snapshot) {
	dst.count = 0
	for i := range dst.counts {
		n := h.published[i].Load() // pairs with the stores in Publish, as do the next two loads
		dst.counts[i] = n
		dst.count += n
	}
	dst.sum = h.publishedSum.Load()
	dst.max = h.publishedMax.Load()
}

// Merge adds what o holds to s.
//
//alloc:none
func (s *Snapshot) Merge(o *Snapshot) {
	for i, n := range o.counts {
		s.counts[i] += n
	}
	s.count += o.count
	s.sum += o.sum
	s.max = max(s.max, o.max)
}

// Count returns the number of recorded durations.
func (s *Snapshot) Count() uint64 { return s.count }

// Max returns the greatest duration, exactly; 0 if there is none.
func (s *Snapshot) Max() time.Duration { return time.Duration(s.max) }

// Mean returns the mean duration, rounded down; 0 if there is none.
func (s *Snapshot) Mean() time.Duration {
	if s.count == 0 {
		return 0
	}
	return time.Duration(s.sum / s.count)
}

// Quantile returns the duration of rank q*Count, rounded up: a share q of the recorded durations
// doesn't exceed it. The result is never below the true value and at most 1/32 above. If q is 0 or
// less it is the least duration, if q is 1 or more the greatest, which is Max exactly. It is 0 if
// nothing was recorded.
func (s *Snapshot) Quantile(q float64) time.Duration {
	left := s.rank(q)
	if left == 0 {
		return 0
	}
	for i, n := range s.counts {
		if n >= left {
			return time.Duration(min(bucketMax(i), s.max))
		}
		left -= n
	}
	panic("latency: a snapshot counts more than its buckets hold")
}

// rank returns the rank, from 1 to count, of quantile q; 0 if nothing was recorded.
func (s *Snapshot) rank(q float64) uint64 {
	if q >= 1 {
		return s.count // beyond 2^53 the product below might not be exact
	}
	if !(q > 0) { // so that NaN is 0
		return min(1, s.count)
	}
	return min(max(uint64(math.Ceil(q*float64(s.count))), 1), s.count)
}
