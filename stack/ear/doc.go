// Package ear is how goroutines that are not workers hear of events: by a channel with room for a
// given number. Publishers never wait. Actors import core, which has the same name, Listener.
package ear
