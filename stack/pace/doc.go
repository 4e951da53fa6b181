// Package pace says how often a worker that runs houses reads the clock. A reading takes as long as
// one small step, or several. So it is shared by as many messages as take an eighth of a turn's
// time together, at most [Max] of them. Time is an argument.
//
// The stride, the number of messages from one reading to the next, follows from how long the
// messages since the last reading took. It shrinks at once, and grows by doubling, so that slow
// messages among quick ones are remembered for a while. A reading after fewer messages than the
// stride, which took less than a turn's time, changes nothing, as the end of a turn is in it.
package pace
