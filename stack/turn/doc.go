// Package turn says who runs the turns of a worker: its own goroutine or, while that is parked, a
// borrower, which is a guest or another worker. The package has one word and its transitions; it
// doesn't know what a turn is, nor how a goroutine is woken.
//
// A worker's turn is
//
//	run       its own goroutine's. If that was parked it has been woken, or no longer blocks
//	parked    nobody's, and none of its houses is ready. A caller of Wake must end the wait of
//	          the worker's goroutine; a caller of Borrow runs turns until GiveBack
//	borrowed  a borrower's
//	wanted    a borrower's, and the worker's own goroutine waits for the turn
//
// Where a transition leads to run while the worker's goroutine may block, its caller must end that
// wait: the transition's result says so. The zero State is run.
package turn
