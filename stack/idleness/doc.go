// Package idleness is what is known of when calls of an actor began, and what follows when none has
// for some time: the actor is told, again and again, or stops by itself, as it does after so many
// calls. Times are arguments, in ns on the system's clock, and a timer that isn't moved by calls
// looks when [State.Next] says, so that a call costs a word.
package idleness
