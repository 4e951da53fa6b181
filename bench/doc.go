// Command bench measures whole scenarios: actors on workers, in steady state.
//
//	go run ./bench                                  all scenarios, 3 s each
//	go run ./bench -scenario ask-local -seconds 10  some, separated by commas
//	go run ./bench -json                            an object a line, times in ns
//	go run ./bench -dial                            latency against CPU time
//
// Each scenario has a system of its own. It asks every worker a few times when it
// has had time to park, runs a warm-up round that fills the pools, collects garbage,
// and then measures one round. A round is a closed loop: its drivers begin the next
// operation when the last one ended, until the time is up. What comes back is
// checked, answer by answer or by sums and counts; a wrong one is an error and
// the exit code is 1.
//
// The table's legend says what one operation is. The scenario channels has no
// actors: it is goroutines and a Go channel, measured in the same run, so that
// figures from two machines can be compared as factors to it; the column
// "factor" is that.
//
//	ns/op          time of the round divided by operations
//	p50 … max      of single operations. Reading the clock costs about as much as
//	               a cheap operation, so of those one in 64 is timed, and its time
//	               includes a clock read; quantiles are at most 1/32 too high
//	mallocs, bytes what the process allocated during the round, all goroutines,
//	               the scenario's own included: totals, not averages
//	GCs, pause     collections during the round and the time all was stopped for them
//
// The scenario spawn shows what is live after a collection instead, and kv what
// the server's process says of itself.
//
// The dial is house.Config's Spin: a worker that looks for work longer before it
// parks answers sooner, and burns more. Two loads that wait for another worker
// are measured at five settings, each with workers that are locked to their
// threads and that are not, in a table with the CPU time of the process.
//
// The folder compare, a module of its own, measures other libraries in the same rounds.
package main
