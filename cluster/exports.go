package cluster

import (
	"maps"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// export lets other nodes declare an actor, and returns its serial. Those that have stopped are
// forgotten once they may be as many as the others, and who knows them hears of it: actors may be
// told of for ever, and most live for a short time.
func (h *hub) export(of *stack.House) uint64 {
	b, serial := &h.served, of.Serial()
	if b.actors[serial] != nil {
		return serial
	}
	if len(b.actors) >= b.sweepAt {
		maps.DeleteFunc(b.actors, func(_ uint64, of *stack.House) bool { return of.Gone() })
		b.sweepAt = 2*len(b.actors) + 64
		tell(h, on.sweep, struct{}{}) // not at once, as a message is being written
	}
	b.exported++
	b.actors[serial] = of
	return serial
}

// sweep says to nodes that are there which of the actors that they know have stopped. Others hear
// of it later.
func (h *hub) sweep(s *core.NoticeStack[struct{}]) core.Yield {
	for _, l := range h.all() {
		for _, t := range l.tracks {
			if t.conn == nil {
				continue
			}
			for _, r := range t.refs {
				if r.house != nil && r.house.Gone() {
					r.ended()
				}
			}
		}
	}
	return s.Return()
}
