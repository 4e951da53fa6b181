// Package self tells goroutines apart. Go has no thread-locals, and on purpose no
// identity of goroutines; there is one question that can't be answered without: is
// the caller of a blocking function the very goroutine that would have to run for it
// to end?
//
// ID is good for that question only: whether two calls came from the same goroutine,
// while it lives. Nothing is kept under an ID, and nothing is looked up by one.
//
// On amd64 and arm64 it is the address of the runtime's record of the goroutine, read from
// where every function's prologue reads it: one instruction. Elsewhere it is
// the number in the head of a stack trace, which takes microseconds.
package self
