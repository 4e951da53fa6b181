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
// compare-and-swap each; [Send] and the last [Bytes.Release], which know no
// shard, push straight onto the incoming chain. The home sorts that chain into
// the free lists when a list is empty, and before it counts or trims. So nothing
// is lost to the collector in steady state, whichever way traffic flows: the
// objects of a kind are as many as were needed at once, those on their way
// home included. [Shard.Trim], which a worker calls twice a minute, sets aside what is free;
// what is still there at the next call wasn't needed in between, and goes, but for 10.
//
// A kind's clear may run code of users, which may want any pool: their own shard's too, of which
// other objects are taken and put then. So it runs before anything of a list or chain is looked
// at, and never under a lock.
//
// [Bytes] is a counted view of a byte slab. Its count may be raised and dropped on any goroutine;
// the last drop sends the slab home. Slabs are of 64 bytes to 64 KiB, doubling, and longer ones
// of 16 sizes from each power of two to the next, which are at home nowhere: free ones are for
// whoever takes as many bytes next, and the collector may take them. A [Carrier] lets go of many
// slabs at once.
//
// Goroutines that are not workers have [Guests]: shards behind mutexes. Each goroutine keeps to
// one of them, see [Stripe], so that two seldom want the same mutex. What they put and isn't at
// home there goes home at once.
//
// # Checks
//
// A put of what is not taken panics in every build, by a generation that is odd
// while the object is taken; so does a release of bytes that were released. What
// was taken again meanwhile can't be told from the new holder's.
//
// Under the build tag "invariants" slabs are poisoned when they go home, and
// every object is checked at take for writes after its put: poison must stand in
// slabs, zeros in all but the fixed part of other objects (unless their kind
// keeps scratch memory, see [Kind.Keeps]). In race builds going home counts as a write
// to the whole object (unless others may write to it still, see [Kind.Shared]), so that
// the race detector reports a former holder's access, even a read.
//
// Without the tag, [Shard.PutClear] lets a holder that knows which bytes it wrote clear
// those itself.
package pool
