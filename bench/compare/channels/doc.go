// Package channels is the comparison's baseline: the workloads by goroutines and Go
// channels, without a library.
//
// Who is told has a channel of capacity 1,024; who is asked has an unbuffered one,
// and so has who asks. An actor is a goroutine that ranges over its channel.
package channels
