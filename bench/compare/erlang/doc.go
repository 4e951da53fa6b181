// Package erlang runs the workloads in Erlang: bench.erl, compiled here and run by
// the erl of the machine, in its default settings (the parent may set ERL_FLAGS).
//
// Processes are no goroutines, so that "a goroutine tells" is a process that tells, and
// asks from outside an actor and inside one are the same program; so are workloads that
// differ in place. Allocations aren't counted. The bytes of an idle process are what the
// virtual machine's memory grew by, after a collection.
package erlang
