// Package command has what an actor, or whatever stands in for it, is told about its life: a [Verb]
// for each system message. They go ahead of everything else in its house, and no bound refuses
// them.
package command
