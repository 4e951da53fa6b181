// Package store keeps partitions on disk: in files of bbolt ([OpenBolt]), or in PostgreSQL
// ([OpenPostgres]). Both are one small interface, [Store].
//
// A write is all or nothing, and on disk before Write returns. Its outcome can be unknown all the
// same: the connection breaks, the disk reports an error after the fact, or time is up while the
// write goes on. Whoever reads the partition then may read it before such a straggler lands. So
// each Load begins a new epoch, in the store itself, and a write names the epoch that it was made
// for: what belongs to an older one changes nothing, whenever it arrives and whichever process
// sent it.
//
// The same number fences processes. The one that loaded a partition last owns it; the writes of
// another that still believes to own it fail with [ErrFenced], and so does its next Load.
package store
