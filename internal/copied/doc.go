// Package copied has values that many read and few change: who listens to a topic, whom a router
// chooses from. A reader gets what stands there at that moment, and it never changes.
package copied
