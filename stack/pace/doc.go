// Package pace says how often a worker that runs houses reads the clock: a read takes as long as a
// small step, or as several, so it is shared by the messages that take an eighth of a turn's time
// together, at most [Max] of them. Time is an argument; whose messages they are it doesn't know.
//
// A stride, the number of messages from one reading to the next, follows from what the messages
// since the last reading took: shorter ones at once, longer ones by doubling, so that among quick
// messages slow ones aren't forgotten at once. What is shorter than a stride and takes less than a
// turn's time says nothing, as the end of a turn is in it.
package pace
