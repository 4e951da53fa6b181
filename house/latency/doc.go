// Package latency records how long things took, on behalf of one writer, for anyone to read: the
// waits of a worker, the requests of an actor, the round trips of a benchmark.
//
// [Histogram] counts durations in buckets whose width is at most 1/32 of their values, over the
// whole range of time.Duration, as HdrHistogram does (hdrhistogram.org). Recording takes 3 to 4 ns
// and is for one writer, such as an actor or a worker: a second writer is a data race. The buckets
// are kept twice, in plain words of the owner and in atomic words for readers. The owner copies
// from the former to the latter now and then ([Histogram.Publish]): an atomic store for each record
// would cost more than all else. So readers never wait for the owner and never disturb it, and see
// the values of the last Publish. Publishing takes some 8 ns for each bucket that changed.
//
// A [Snapshot] is what a histogram held at some time. Snapshots of several histograms are merged,
// and give quantiles. Nothing allocates once the structs exist.
package latency
