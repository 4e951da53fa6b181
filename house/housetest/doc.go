// Package housetest tests actors.
//
// A [Sim] is a whole system, several workers included, in the test's own goroutine: with a
// virtual clock, and with the order of turns drawn from a seed. The same seed gives the same
// [Sim.Hash] of events, so that a failure that one seed in a thousand shows can be looked at
// again. [Untraced] makes one without events, whose messages take the shorter ways of a program
// that has no house.Config.Trace: run some of your seeds so.
//
// What blocks, such as core.Ask, would wait in real time for turns that nobody takes, until its
// deadline: ask by [Ask], or by core.Begin and Sim.Run.
//
// [ZeroAlloc] requires that a number of operations allocates nothing.
package housetest
