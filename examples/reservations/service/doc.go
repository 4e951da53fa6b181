// Package service is the reservation service: actors that keep the catalogue, one a
// partition, and an HTTP API in front of them.
//
// A [Partition] takes requests as they come, but writes one [round] at a time: all that arrives
// while a write is under way makes up the next round, is applied to the ledger in memory
// together, goes to the store in one write, and is answered when that is on disk. So the more
// clients there are, the more requests share a write. Nothing is ever computed on what isn't
// stored, but for the members of one round, which are stored or lost together.
//
// A write that fails leaves its outcome unknown. All members of the round are told so, and the
// partition loads what is stored before it applies anything else; until it has, changes are
// refused. Looks are answered from memory, always: with what is stored, or was when the store was
// last there.
//
// A step that panics ends the partition's instance, as with any actor, and the next one loads what
// is stored before it takes requests. It needs nothing of the old one, and an epoch keeps away what
// that may still be writing.
package service
