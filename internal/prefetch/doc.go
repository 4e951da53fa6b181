// Package prefetch asks the processor for a cache line before it is needed, so that
// several come at the same time. A message that crosses between processors lies in
// lines of the other one, each some hundred nanoseconds away, and program order
// would fetch one after the other: each atomic operation waits for the one before.
//
// It changes nothing but the time. Any address will do; on processors other than
// amd64 and arm64 nothing happens.
package prefetch
