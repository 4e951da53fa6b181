// Command remote measures messages between two processes over loopback: links of Stackhouse beside
// protoactor's remoting, plain TCP, and a C program.
//
//	go run ./remote                     notices and asks, five rounds
//	go run ./remote -seconds 2 -check   longer runs; exit code 1 if a limit is missed
//
// Messages have 64 bytes: eight numbers ("plain"), or bytes in a message of protocol buffers, by
// the code of google.golang.org/protobuf ("protobuf", protoactor, TCP) or by what vtprotobuf
// generates ("vtprotobuf"). Only the contenders with "tls" encrypt. A round has one run of each
// contender, one after the other; each end is a process of its own. A notice counts once the other
// process has counted it. Workers of the contenders with "poll" poll the network before they park,
// by house.Config.BusyPoll; those of all others park, as the C program's threads do.
// Factors are medians over the rounds; half their range stands behind them.
package main
