// Package table is the memory of one store of the key-value server: a table
// from byte strings to byte strings, or to hashes of such, with expiry.
//
// One actor owns a [Table], so there are no locks. Time is an argument: any
// int64 clock that only the caller reads, nanoseconds in the server; 0 means
// never. There is no randomness. The same calls give the same table.
//
// # Nothing to scan
//
// A map[string][]byte with ten million entries is twenty million pointers, and
// each collection follows them all. Here an entry is a run of bytes in a
// segment, an array without pointers of up to 1 MiB, and refers to others by
// location, a number. The index is one array of numbers, the deadlines are
// pages of numbers. The collector marks such arrays without looking inside.
// What it does follow is one pointer for each segment, each page of 256
// deadlines and each value above 256 KiB, and two for each large hash: the work of
// a collection grows with the megabytes held at one pointer each, not with the
// entries. Arrays from 64 KiB on are not even in its heap, where there is an mmap: a
// table that grows brings no collection about, and what it gives up is free at once.
// A table that nobody knows any more gives all back, also what somebody kept of it.
//
// # Hashes
//
// A small hash is one value, its fields one behind the other in the order in which
// they came; finding one walks over those before it. One with too many fields, or
// too long ones, gets an index of its own, as the table has one for its keys, and
// stays so: its fields are entries of the same segments, found in constant time,
// in no order. The limits are those of Redis, see [Config]. A hash without fields
// is deleted.
//
// # Bounded
//
// Every call does a bounded amount of housekeeping, whatever the table holds.
// The index grows and shrinks by at most 16 slots a call. Memory is given back:
// an entry that changes its size moves to a block of which it leaves less than
// a fifth unused, and segments that stay sparsely used are emptied, a few
// blocks a call, and dropped. So after some calls the arena is at most about
// 1.5 times the blocks in use, whichever way sizes drift, plus one segment for
// each size class in use. A large hash that is deleted is found no more at once;
// its fields are freed some dozens a call, or by [Table.Reap]. What is not bounded
// by a constant: copying and clearing a value takes as long as its length, as does
// moving a hash to another table, and a new array for an index (16 bytes a slot) is
// one allocation.
//
// While no size class gains or loses a third of its entries, no large hash comes or doubles or
// goes, nothing is allocated. A class that grows allocates segments; one that shrinks gives them
// back, as a value above 256 KiB does that goes or changes its size.
//
// # Expiry
//
// An entry whose deadline has come is not found any more, and is deleted when
// somebody looks for it. The owner calls [Table.ExpireSome] now and then for
// those that nobody looks for. [Table.Len] counts both until they are deleted,
// as DBSIZE of Redis does.
//
// # Hash flooding
//
// Whoever can choose keys that collide can turn a hash table into a list.
// [Hash] is keyed by a seed of the process, which main draws at random and
// tells nobody. All constants that it multiplies by depend on the seed, so
// collisions can't be made ahead, as they can for hashes whose seed is only a
// start value. It is not a cryptographic function: a client that measures the
// server's answers long enough may learn about the seed. Who serves such
// clients puts a limit before the server, or SipHash here. The seed is an
// argument, rather than that of hash/maphash, because a run can be repeated
// only if its hashes can.
package table
