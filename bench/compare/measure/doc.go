// Package measure has what all libraries of the comparison share: how a workload
// is run, how its messages are counted, and how single operations are timed.
//
// A library makes a Work: a system at rest, and a function that does n operations
// and returns when all have been handled. Run has it done once to fill pools and
// queues, collects garbage, and has it done again with a clock beside it. What comes
// back is summed (a Tally) or looked at, answer by answer; a wrong sum is an
// error and no figure.
//
// Reading the clock costs about as much as a cheap operation, so of the round
// trips one in several is timed (Latencies).
package measure
