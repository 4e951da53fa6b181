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
// is a client that does what the test says, and [Faults] are what goes wrong.
//
// [Simulate] draws plans of runs from seeds, and makes one that fails as small as it can.
//
// A [Double] stands in for an actor that the one under test asks, a [Recorder] for one that it
// tells.
//
// [Embed] is a codec and its stages without a connection, and [RequireSplits] cuts what a codec
// reads at every byte.
//
// [ZeroAlloc] requires that a number of operations allocates nothing.
package housetest
