// Package turn says who runs the turns of a worker: its own goroutine or, while that is parked, a
// borrower, a guest or another worker. It is one word, and how it changes; what a turn is, and how
// a goroutine is woken, it doesn't know.
//
// A worker's turn is
//
//	run       its own goroutine's, or that is on its way to it: behind park it is woken, or blocks
//	          no more
//	parked    nobody's. Who wakes it, by Wake, must end its wait; who borrows it runs turns until
//	          GiveBack. None of its houses is ready
//	borrowed  a borrower's
//	wanted    a borrower's, and the worker's own goroutine waits for that to end
//
// Who makes it run for a worker that blocks must end its wait: the transitions say so. The zero
// State is run.
package turn
