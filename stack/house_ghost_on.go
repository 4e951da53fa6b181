//go:build invariants

package stack

import "sync/atomic"

// ghost is 1 while the owner visits the house. It finds two threads in one house, which
// no atomic word would show.
type ghost struct {
	visits atomic.Int32
	_      [124]byte
}

// enter and exit bracket what only the owner may do.
func (h *House) enter(w *Engine) {
	if h.owner.Load() != w {
		panic("stack: a worker visits a house of another")
	}
	if h.ghost.visits.Add(1) != 1 {
		panic("stack: two visits to one house at once")
	}
}

func (h *House) exit() {
	ahead := h.ahead
	if h.lookAhead(); h.ahead != ahead {
		panic("stack: a house is wrong about what goes ahead of calls")
	}
	if h.ghost.visits.Add(-1) != 0 {
		panic("stack: two visits to one house at once")
	}
}
