// Package service is the reservation service: actors that keep the catalogue, one a
// partition, and an HTTP API in front of them.
//
// A [Partition] takes requests as they come, but writes one [round] at a time: all that arrives while a write is under way
// makes up the next round, is applied to the ledger in memory together, goes to the store in one write, and is answered when that
// is on disk. So the more clients there are, the more requests share a write. Nothing is ever computed on what isn't stored,
// but for the members of one round, which are stored or lost together.
//
// A write that fails leaves its outcome unknown. All members of the round are told so, and the partition throws its
// ledger away and loads it from the store before it applies anything else; until it has, requests are refused.
package service
