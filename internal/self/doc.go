// Package self tells goroutines apart. Go has no thread-locals, and on purpose no
// identity of goroutines; there is one question that can't be answered without: is
// the caller of a blocking function one of the goroutines that would have to run for it
// to end?
//
// ID tells whether two calls came from the same goroutine, while it lives, and nothing
// else. It answers that question, and it spreads goroutines over pools that are all
// equal. Nothing that belongs to a goroutine is kept under its ID.
//
// On amd64 and arm64 it is the address of the runtime's record of the goroutine, read from
// where every function's prologue reads it: one instruction. Elsewhere it is
// the number in the head of a stack trace, which takes microseconds.
package self
