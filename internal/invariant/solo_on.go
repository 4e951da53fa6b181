//go:build invariants

package invariant

import "sync/atomic"

// Solo finds two threads at once in what is to have one at a time, which no atomic word of that
// would show. Without the tag "invariants" it is nothing.
type Solo struct {
	inside atomic.Int32
	_      [124]byte
}

// Enter panics with that text if somebody is inside.
func (s *Solo) Enter(text string) {
	if s.inside.Add(1) != 1 {
		panic(text)
	}
}

// Exit ends Enter, and panics if somebody else is inside.
func (s *Solo) Exit(text string) {
	if s.inside.Add(-1) != 0 {
		panic(text)
	}
}
