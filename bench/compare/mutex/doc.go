// Package mutex is the plain approach: a struct with a mutex, whose methods the
// goroutines call.
//
// What it has none of: messages between two actors, places, rings, idle actors,
// trees of actors, timers of its own. Those workloads are left out.
package mutex
