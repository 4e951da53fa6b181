// Package rendezvous is where a goroutine that isn't a worker waits for one answer of a worker. If
// the goroutine gives up at the same time, the two agree which of them frees the objects that they
// share. The answer itself isn't here.
//
// A [Cell] is
//
//	waiting  the goroutine waits, or is about to; the worker may answer
//	awake    the goroutine doesn't wait yet: it is sending, or runs turns of the worker that
//	         answers. It may wait afterwards
//	done     the worker has written the answer, then swapped the word. If the cell was waiting it
//	         signals, and the goroutine takes the signal. The goroutine reads, and frees
//	gone     the goroutine gave up, and touches nothing any more: the worker frees
//
// Both sides leave waiting by one compare-and-swap, so exactly one of them frees.
package rendezvous
