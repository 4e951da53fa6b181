// Package latency records how long things took, on behalf of one writer, for anyone to read: the
// waits of a worker, the requests of an actor, the round trips of a benchmark.
//
// [Histogram] counts durations in buckets whose width is at most 1/32 of their values, over the
// whole range of time.Duration, as HdrHistogram does (hdrhistogram.org). Recording costs 3 to 4 ns
// and has one writer, an actor, say, or a worker: a second one is a data race. The buckets are kept
// twice, in plain words of the owner, and in atomic words for others, into which the owner copies
// now and then ([Histogram.Publish]), as an atomic store for each record would cost more than all
// else. So readers never wait for the owner and never disturb it; what they see is as old as the
// last Publish. Publishing costs some 8 ns for each bucket that changed.
//
// A [Snapshot] is what a histogram held at some time. Those of several are merged, and asked for
// quantiles. Nothing allocates once the structs exist.
package latency
