// Package housetest tests actors.
//
// A [Sim] is a whole system, several workers included, in the test's own goroutine. It has a
// virtual clock, and draws the order of turns from a seed. The same seed gives the same [Sim.Hash]
// of events: so a failure that one seed in a thousand shows can be repeated. [Untraced] makes a Sim
// without events, whose messages take the shorter ways of a program that has no house.Config.Trace:
// run some of your seeds so.
//
// Functions that block, such as core.Ask, channel.Listen and Address.StopWait, run turns until they
// have their answer; time passes meanwhile. So does [Ask], which then also runs what is left to do
// at that time. What core.Begin has begun is answered by Sim.Run or Sim.Turn: its Get blocks. All
// of this is for the goroutine of the test; no other may wait for answers.
//
// [Sim.Net] is a network of the simulation's own: servers of package channel listen in it, a [Peer]
// is a client that does what the test says, [Network.Serve] makes a server that does so, and
// [Faults] are what goes wrong.
//
// [Sim.BesideOn] starts another system beside it, on a [Machine] with a clock of its own, which may
// be paused and killed; [Network.Cut] and its kin are what goes wrong between two machines. Package
// cluster/clustertest makes nodes of them.
//
// [Simulate] draws plans of runs from seeds, and makes one that fails as small as it can.
//
// A [Probe] is an actor of the test: it stands in for those that the one under test tells and asks,
// and watches. [Expect] says which message it gets next and within which time, [Probe.ExpectNone]
// that there is none, [ExpectTerminated] that an actor has stopped. Asks of its [Port] are held
// until the test answers them: later, in any order, or never.
//
// [Embed] is a codec and its stages without a connection, and [RequireSplits] cuts what a codec
// reads at every byte.
//
// [ZeroAlloc] requires that a number of operations allocates nothing.
package housetest
