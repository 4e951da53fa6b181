// Package pool recycles objects that the runtime would otherwise allocate: stacks,
// bucket arrays, byte slabs.
//
// Every worker has a [Shard]: one free list for each [Kind] of object, last in
// first out, touched by that worker alone and therefore without locks or
// atomics. An object has a home, the shard that made it, and always returns
// there:
//
//	taken     owned by its holder, which took it or was given it
//	free      on its home's free list
//	homeward  on the outgoing chain of the shard that put it, then, from the end
//	          of that worker's turn, on the incoming chain of its home
//
// [Shard.Take] moves free to taken. [Shard.Put] moves taken to free at home, and to homeward at
// another shard. [Shard.Flush] pushes the outgoing chains, with one compare-and-swap each. [Send]
// and the last [Bytes.Release], which know no shard, push straight onto the incoming chain. The
// home sorts that chain into the free lists when a list is empty, and before it counts or trims. So
// in steady state no object is left to the collector, whichever way traffic flows: there are as
// many objects of a kind as were needed at once, those on their way home included. [Shard.Trim],
// which a worker calls twice a minute, sets the free objects aside. Those still there at the next
// call weren't needed in between, and all but 10 are dropped.
//
// A kind's clear may run code of users, which may take and put other objects, at the same shard
// too. So it runs before the put looks at a list or chain, and never under a lock.
//
// [Bytes] is a counted view of a byte slab. Its count may be raised and dropped on any goroutine;
// the last drop sends the slab home. Slabs have 64 bytes to 64 KiB, in powers of two. Longer ones
// have 16 sizes from each power of two to the next, and no home: a released one serves the next
// call for as many bytes, unless the collector has freed it. A [Carrier] releases many slabs at
// once.
//
// Goroutines that are not workers have [Guests]: shards behind mutexes. Each goroutine keeps to one
// of these shards, see [Stripe], so that two seldom want the same mutex. An object that they put
// goes home at once if its home is another shard.
//
// # Checks
//
// A put of an object that is not taken panics in every build, by a generation that is odd while the
// object is taken; so does a release of bytes that were released. Neither is noticed if the object
// was taken again meanwhile.
//
// Under the build tag "invariants" slabs are poisoned when they go home, and every object is
// checked at take for writes after its put: slabs must hold poison, other objects zeros in all but
// their fixed part (unless their kind keeps scratch memory, see [Kind.Keeps]). In race builds going
// home counts as a write to the whole object (unless others may write to it still, see
// [Kind.Shared]), so that the race detector reports a former holder's access, even a read.
//
// Without the tag a holder that knows which bytes it wrote may clear those itself and call
// [Shard.PutClear].
package pool
