// Package rendezvous is where a goroutine that isn't a worker waits for one answer of a worker, and
// the two agree who frees what they share, if the goroutine gives up at the same time. What the
// answer is it doesn't know.
//
// A [Cell] is
//
//	waiting  the goroutine waits, or will; the worker may answer
//	awake    the goroutine hasn't begun to wait: it is sending, or runs turns of the worker that
//	         answers; then it waits
//	done     the worker wrote the answer, then swapped the word, then signals, unless the
//	         goroutine was awake: that takes the signal, reads, and frees
//	gone     the goroutine gave up; it touches nothing any more: the worker frees
//
// Both leave waiting and awake by one compare-and-swap, so exactly one of them frees.
package rendezvous
