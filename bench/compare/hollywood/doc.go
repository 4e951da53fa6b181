//go:build ignore

// Command hollywood runs one workload as a user of Hollywood writes it, and prints what
// was measured:
//
//	hollywood -run tell-1-1 -n 1000000
//
// Hollywood is no dependency of this module. The tag keeps these files from go build,
// vet and mod tidy; `go run . -hollywood DIR`, in the folder above, compiles them.
//
// The engine is the default one, but for its log, which is silent below warnings. Inboxes
// are the default ones: a ring of 1,024 places, 24 KB, that doubles when it is full, without
// a bound. So spawn, which has 200,000 actors at its end, takes 6 GB. Ids of actors are 63
// random bits, the engine's choice.
//
// Each actor that has messages is a goroutine. A place can't be chosen, and so tell-cross is
// the same program as tell-actor. An ask blocks the goroutine that waits, in an
// actor too: ask-in-actor, ask-cross and ask-cross-1, whose asks don't block, aren't here. Nor is
// timers: there are repeating ones only, a goroutine each.
//
// The engine identifies an ask by 31 random bits and drops one whose number is in use, so one in
// some 30 million of ask-64-1 is never answered. That run fails.
package main
