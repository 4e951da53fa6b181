// Package stat counts on behalf of one writer, for anyone to read.
//
// On amd64 an atomic store costs as much as a locked instruction, 5 ns or more, and
// a worker counts many things for each message. So its numbers are kept twice: in
// plain words, which only the owner touches, and in atomic words, into which the
// owner copies now and then ([Group.Publish]) and which any goroutine may load.
// Readers never wait for the owner and never disturb it; what they see is as old as
// the last Publish. A worker publishes every 64 turns, or when 100 ms have passed; and
// before it parks, as it publishes nothing while it sleeps.
//
// [Group] is up to 32 counters in one block. Padding keeps the plain words of the
// block and its atomic words on cache lines of their own: twenty counters that are
// padded one by one would take 5 KB, and each its own lines in the cache. Package
// house/latency has histograms of the same kind.
//
// Nothing allocates once the structs exist. The plain words have one writer: a
// second one is a data race.
package stat
