// Package copied has values that many read and few change: who listens to a topic, whom a router
// chooses from. Value is one, Set several. A reader gets what stands there at that moment, and it
// never changes.
package copied
