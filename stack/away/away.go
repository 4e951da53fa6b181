package away

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/stackhouse-go/stackhouse/stack/command"
)

// Remote is what does the calls of houses that stand in for actors of another process. All its
// methods but Node are called in visits of one worker, its own.
type Remote[House, Call any] interface {
	// Ready reports whether Take may be called. Otherwise the calls of h are held, until they are
	// readmitted.
	Ready(h *House) bool
	// Take takes over a call of h. An ask stays away until it is answered. A notice is read and
	// discarded before Take returns. Codecs are code of users: Take contains their panics.
	Take(h *House, c *Call)
	// Forget says that the asker of an ask that is away has given up: it ends now.
	Forget(h *House, c *Call)
	// Command says what the actor is told beside calls: a verb that Passes.
	Command(h *House, what command.Verb)
	// Node returns the name of the other process. Any goroutine may call it.
	Node() string
	// Await says that somebody here begins to wait for the actor's end, or that nobody does any more.
	Await(h *House, is bool)
}

// Title says which actor is meant, for people: "main.Cache#42", or "main.Cache#42@shop" if it is of
// another process, whose Remote is r. A process may call itself anything: it is quoted if need be.
func Title[House, Call any](kind reflect.Type, serial uint64, r Remote[House, Call]) string {
	if r == nil {
		return fmt.Sprintf("%v#%d", kind, serial)
	}
	node := strconv.Quote(r.Node())
	if plain := node[1 : len(node)-1]; plain == r.Node() {
		node = plain
	}
	return fmt.Sprintf("%v#%d@%s", kind, serial, node)
}

// Server is an actor that asks in the name of other processes.
type Server[Call any] interface {
	// Answered gets an ask that has ended, and discards it. It reports false if the Server has
	// given the ask up: then it isn't the Server's any more.
	Answered(c *Call) bool
}
