// Package stat counts and measures on behalf of one writer, for anyone to read.
//
// On amd64 an atomic store costs as much as a locked instruction, 5 ns or more, and
// a worker counts many things for each message. So its numbers are kept twice: in
// plain words, which only the owner touches, and in atomic words, into which the
// owner copies now and then ([Group.Publish], [Histogram.Publish]) and which any
// goroutine may load. Readers never wait for the owner and never disturb it; what
// they see is as old as the last Publish.
//
// A worker publishes both every 64 turns, or when 100 ms have passed, as that costs some
// 8 ns for each bucket of a histogram that changed; and before it parks, as it publishes
// nothing while it sleeps.
//
// [Group] is up to 32 counters in one block. Padding keeps the plain words of the
// block and its atomic words on cache lines of their own: twenty counters that are
// padded one by one would take 5 KB, and each its own lines in the cache.
//
// [Histogram] records nanoseconds in buckets whose width is at most 1/32 of
// their values, over the whole range of int64, as HdrHistogram does (hdrhistogram.org).
// Recording costs 3 to 4 ns. A [Snapshot] is what one was at some time; snapshots of
// several workers are merged and asked for quantiles.
//
// Nothing allocates once the structs exist. The plain words have one writer: a
// second one is a data race.
package stat
