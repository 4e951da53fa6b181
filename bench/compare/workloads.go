package main

// workload is one group of rows of the table.
type workload struct {
	name     string
	op       string // what one operation is
	channels string // what the baseline does
	n        int    // operations of a run; unless fixed, those of round zero, and the least
	fixed    bool   // the size is part of the workload
}

// nMax bounds what a run can queue in mailboxes that have no bound.
const nMax = 5_000_000

const (
	twoAndChannel = "two goroutines, a channel of capacity 1,024"
	roundTrip     = "two goroutines, an unbuffered channel each way"
)

// workloads in the order in which they run.
var workloads = []workload{
	{"tell-1-1", "a message from a goroutine to an actor, handled",
		twoAndChannel, 20_000, false},
	{"tell-8-1", "a message from one of 8 goroutines to an actor, handled",
		"nine goroutines, a channel of capacity 1,024", 20_000, false},
	{"tell-actor", "a message from an actor to another on the same worker, handled; bursts of 128, behind each an ask: one under way, or four where a place can't be chosen",
		twoAndChannel, 20_000, false},
	{"tell-cross", "a message from an actor to another on another worker, handled; bursts of 128, behind each an ask: four under way",
		twoAndChannel, 20_000, false},
	{"fanout-1000", "a message from an actor to one of the 1,000 that it made, round by round, handled",
		"1,001 goroutines, a channel of capacity 1,024 each", 20_000, false},
	{"pingpong-1", "a round trip by two tells between an actor and one that it made",
		roundTrip, 5_000, false},
	{"pingpong-64", "a message, half a round trip, of 64 such pairs",
		"128 goroutines, an unbuffered channel each way for a pair", 5_000, false},
	{"ask-in-actor", "an ask, non-blocking, of an actor on the same worker, one after the other",
		roundTrip, 5_000, false},
	{"ask-cross", "an ask, non-blocking, of an actor on another worker, 64 in flight",
		"64 goroutines and one, an unbuffered channel that they share and one each for answers", 5_000, false},
	{"ask-cross-1", "an ask, non-blocking, of an actor on another worker, one after the other",
		roundTrip, 5_000, false},
	{"ask-guest", "an ask, blocking, by a goroutine of an actor on a system that has nothing else to do, one after the other",
		roundTrip, 5_000, false},
	{"ask-64-1", "an ask, non-blocking, by one of 64 actors of the same actor, one after the other each",
		"64 goroutines and one, an unbuffered channel that they share and one each for answers", 5_000, false},
	{"spawn", "an actor that another made, a burst of 128 at a time, and that has handled one message; bytes: of each, when all are idle",
		"a goroutine with a channel of capacity 16", 100_000, true},
	{"skynet", "a leaf of a tree of 100,000, ten children a node: every node is an actor, made by its parent, and ends when it has answered",
		"a goroutine a node, a channel of capacity 10 a branch", 300_000, true},
	{"ring503", "a hop of a token that 503 actors pass on",
		"503 goroutines, an unbuffered channel each", 5_000, false},
	{"timers", "a timer that was armed and fired, with a message to an actor; all are armed at once, for 1 to 10 ms",
		"time.AfterFunc", 200_000, true},
}
