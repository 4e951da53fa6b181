// Command compare measures Stackhouse against goroutines with channels, a struct with a
// mutex, protoactor-go and Erlang, and with Hollywood if it is asked for.
//
//	go run .                                        everything, five times
//	go run . -workload tell-1-1,ring503 -reps 3     some, separated by commas
//	go run . -lib stackhouse,channels -json         an object a line, times in ns
//	go run . -chart compare.svg -check              a chart; exit code 1 if a limit is missed
//	go run . -hollywood ../../../hollywood          Hollywood too, from its source in a folder
//
// It runs itself: each run of a workload by a library is a process of its own, which
// warms up, collects garbage and measures n operations. A round has one run of each, one library
// after the other, and there are five rounds, so that whatever else the machine does
// meets all. Round zero, whose figures nobody sees, finds the n that takes about -seconds.
//
// Times don't carry over from one machine to another; factors do, more or less. A factor
// is ns/op divided by that of channels in the same round, and what is shown is the
// median of the rounds and half their range. Channels run with GOMAXPROCS=1 and with the
// default; the faster of the two, by workload, is what everyone is compared to. So does
// Erlang, with one scheduler and with the default. The others run as they come.
//
// All messages are counted and summed. A wrong sum, or one that is missing, is an error,
// and the exit code is 1.
//
// Hollywood is no dependency. With -hollywood it is compiled into a program of its own, by a
// temporary go.mod, from a folder or, with "fetch", from where the go command gets modules;
// it must be a version with the interface of March 2025. If that fails, it is left out.
//
// The folders measure, stackhouse, channels, mutex, protoactor, hollywood and erlang say what
// they do in their doc.go; workloads.go has what one operation is. PEERS.md has factors of
// libraries that aren't run here; where -check has one of Hollywood that was measured in
// this run, it takes that. This is a module of its own, so that no user of Stackhouse
// carries what it depends on.
package main
