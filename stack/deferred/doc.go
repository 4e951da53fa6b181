// Package deferred is work that a worker puts off to the end of its turn, such as writing what a
// connection queued. Work that was deferred first is done first, so that the connection that has
// waited longest doesn't wait for the others too.
package deferred
