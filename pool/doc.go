// Package pool recycles what the runtime would otherwise allocate: stacks,
// bucket arrays, byte slabs.
//
// Every worker has a [Shard]: one free list for each [Kind] of object, last in
// first out, touched by that worker alone and therefore without locks or
// atomics. An object has a home, the shard that made it, and always returns
// there:
//
//	taken     owned by whoever took it, or by whom it was handed to
//	free      on its home's free list
//	homeward  on the outgoing chain of the shard that put it, then, from the end
//	          of that worker's turn, on the incoming chain of its home
//
// [Shard.Take] moves free to taken; [Shard.Put] moves taken to free at home and
// taken to homeward abroad; [Shard.Flush] pushes the outgoing chains, one
// compare-and-swap each; the home sorts its incoming chain into the free lists
// when it misses. So nothing is lost to the collector in steady state, whichever
// way traffic flows: the objects of a kind are as many as were ever needed at
// once, and [Shard.Trim] lets go of those that were not needed for a while.
//
// [Bytes] is a counted view of a byte slab. Its count may be raised and dropped
// on any goroutine; the last drop sends the slab home.
//
// Goroutines that are not workers share a [Guests] shard behind a mutex.
//
// A put of what is not taken panics in every build, by a generation that is odd
// while the object is taken. Under the build tag "invariants" slabs are poisoned
// on put and every object is checked at take for writes after its put; in race
// builds a put counts as a write to the whole object, so that the race detector
// reports a former holder's access.
package pool
