// Package api is what a counter and those who ask it have in common: names and types, no actor.
package api

import "github.com/stackhouse-go/stackhouse/core"

// Add adds to the counter.
type Add struct{ By int }

// Sum is what it has come to.
type Sum struct {
	Of    int
	Calls int
}

// CounterAdd is answered by counters.
var CounterAdd = core.NewMethod[Add, Sum]("example.counter.add")
