// Package stackhouse has the workloads as a user of Stackhouse writes them.
//
// The system is the default one: house.Config{}, one worker a processor and at
// least two. Actors that a workload's name puts on one worker, or that talk to
// their parent, are born beside it; a partner on another worker is spawned there
// by hand; all others go where the system puts them.
//
// An actor that sends many notices sends them in bursts with an ask behind each,
// which bounds what is under way and tells whether all before it was handled. A goroutine
// that meets a full mailbox yields and tries again, with a count.
package stackhouse
