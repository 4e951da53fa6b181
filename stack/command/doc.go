// Package command has what an actor is told about its life: a [Verb]
// for each system message. They go ahead of everything else in its house, and no bound refuses
// them.
package command
