package main

import "time"

// scenario is one row of the table.
type scenario struct {
	name  string
	op    string // what one operation is
	times string // what p50 to max are
	run   func(o options) (result, error)
}

// scenarios in the order in which they run: the baseline first.
var scenarios = []scenario{
	{"channels", "a send and a receive between two goroutines over a Go channel of capacity 1,024",
		"from send to receive, one in 64", channels},
	{"notice-local", "a notice to an actor on the same worker and its handling; after every 128 an ask, not counted, bounds the queue",
		"from send to handling, one in 64", noticeLocal},
	{"ask-local", "an ask of an actor on the same worker and its answer, one after the other in one stack",
		"from ask to answer, one in 64", askLocal},
	{"notice-cross", "a notice to an actor on another worker and its handling; 4 stacks send 128 and ask, not counted, in turn: at most 512 are under way",
		"from send to handling, one in 64", noticeCross},
	{"ask-cross", "an ask of an actor on another worker and its answer, 64 outstanding, each in a stack of its own",
		"from ask to answer, one in 64", askCross},
	{"ask-cross-1", "an ask of an actor on another worker and its answer, one after the other in one stack",
		"from ask to answer, each", askCross1},
	{"fanout8", "asks of 8 actors on the same worker, one suspension, 8 answers",
		"from the first ask to the resumption, one in 64", fanout8},
	{"batch64", "an ask and its answer; 64 actors ask one on the same worker, which takes what waits as a batch",
		"from ask to answer, one in 64", batch64},
	{"ring503", "a hop of a token that 503 actors pass on by notices; all were born beside their parent, on one worker",
		"from send to handling, one in 64", ring503},
	{"skynet", "a leaf of a tree of 1,000,000, 10 children a node: every node is an actor, spawned beside its parent, asked, and stopped; sums come back",
		"from the spawn of a leaf to its handling of the ask, one leaf in 64", skynet},
	{"spawn", "an actor spawned by a goroutine; 1,000,000 stay idle. Mallocs and bytes: live objects and heap after a collection, an actor's share in the table, all in JSON",
		"of a spawn, one in 64", spawn},
	{"timers", "a timer that fired, of 10,000 that stacks arm again and again for a random 1 to 50 ms; ns/op is the pace that follows from that, not a cost",
		"how late it fired, each", timers},
	{"fair", "a message, of 1 µs, of an actor that always has some; on the same worker 10,000 cold actors get one every 100 µs in all, and 100 connections over loopback ask for an echo every 10 ms",
		"how long a cold actor waits, from the notice to its handling, each", fair},
	{"guest-ask", "an ask by a goroutine, blocking, of an actor on a worker that has nothing else to do, one after the other",
		"from call to return, each", guestAsk},
	{"kv", "a SET or GET (in turn, values of 64 bytes) sent to examples/kv in a process of its own, over loopback TCP, 50 connections, 16 in flight on each. Mallocs and GCs: the server's, by INFO, which counts small objects by the span, so a little late; bytes: how much its heap grew",
		"from the write of 16 requests to the reply, each", kv},
}

// result is what a round measured.
type result struct {
	ops     uint64
	elapsed time.Duration
	p       [4]int64      // p50, p99, p99.9 and max, ns
	used    memory        // during the round; of spawn: live after it
	cpu     time.Duration // of this process during the round; unknown: the system doesn't say
	shares  bool          // the table shows used by operation
	note    string        // what else the reader should know
}

// nsPerOp returns the mean time of an operation.
func (r result) nsPerOp() float64 { return float64(r.elapsed) / float64(r.ops) }
