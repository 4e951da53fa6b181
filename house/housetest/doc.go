// Package housetest tests actors.
//
// A [Sim] is a whole system, several workers included, in the test's own goroutine. It has a
// virtual clock, and draws the order of turns from a seed. The same seed gives the same [Sim.Hash]
// of events: so a failure that one seed in a thousand shows can be repeated. [Untraced] makes a Sim
// without events, whose messages take the shorter ways of a program that has no house.Config.Trace:
// run some of your seeds so.
//
// Functions that block, such as core.Ask, would wait in real time for turns that nobody runs, until
// their deadline: use [Ask], or core.Begin and Sim.Run.
//
// A [Double] stands in for an actor that the one under test asks, a [Recorder] for one that it
// tells.
//
// [ZeroAlloc] requires that a number of operations allocates nothing.
package housetest
