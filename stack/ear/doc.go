// Package ear is how goroutines that are not workers hear of events: by a channel with room for so
// many. Who publishes never waits. Actors import core, which has the same name.
package ear
