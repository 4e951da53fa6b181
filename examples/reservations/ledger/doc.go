// Package ledger is what a partition of the catalogue knows, and what may become of it:
// items, reservations, and the outcomes of earlier requests by their keys. It is plain
// memory without clock, actor or store, so that it can be tested by itself.
//
// [Ledger.Pass] lets time pass, and [Ledger.Apply] does one operation. [Ledger.Take] returns what
// has changed since it was last called: all of that goes to the store in one write, and until
// [Ledger.Stored] says that it is there [Ledger.Look] doesn't see it. [Open] rebuilds a ledger from
// what the store has, and refuses what could not have been written.
package ledger
