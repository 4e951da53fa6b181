// Package protoactor has the workloads as a user of protoactor-go writes them.
//
// The system is the default one, but for its log, which is silent below warnings.
// Mailboxes are the default ones, without a bound. A place can't be chosen: each
// actor that has messages is a goroutine, and so the workloads that differ in place
// only are the same program. An ask in an actor doesn't block it: RequestFuture, then
// ReenterAfter.
package protoactor
