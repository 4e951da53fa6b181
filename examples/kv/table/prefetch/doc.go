// Package prefetch asks the processor for a cache line before it is needed, so that
// several come at the same time. A line of a table that no cache holds is some hundred
// nanoseconds away, and program order would fetch one after the other.
//
// It changes nothing but the time. Any address will do; on processors other than
// amd64 and arm64 nothing happens.
package prefetch
