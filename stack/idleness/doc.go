// Package idleness notes when calls of an actor began, and says what to do when none has begun for
// some time: to tell the actor, again and again, or to let it stop by itself, which it may also do
// after a number of calls. Times are arguments, in ns on the system's clock. A timer looks when
// [State.Next] says, and calls don't move it, so that a call only writes a few fields.
package idleness
