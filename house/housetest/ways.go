package housetest

import (
	"slices"
	"time"
)

// way is from one machine to another, by their names.
type way struct{ from, to string }

// held is what a way that is cut holds.
type held struct {
	to *end
	do func()
}

// Cut cuts the way from a machine to another, for all that is sent from now on: bytes, ends and
// resets of connections, and what opens them. It is as with TCP: nothing of it is lost, it arrives
// behind Heal. What is sent the other way arrives, so one call cuts one way. Who dials waits, until
// it gives up.
//
// What a way holds of a system that is killed is lost: a machine without power is one that is cut
// off, then killed. Nobody hears of its end; who sends to it behind Heal is reset.
func (n *Network) Cut(from, to string) { n.cut[way{from, to}] = true }

// Heal ends a Cut: what was held is on its way now.
func (n *Network) Heal(from, to string) {
	delete(n.cut, way{from, to})
	all := n.held
	n.held = nil
	for _, h := range all {
		n.pass(h.to, h.do)
	}
}

// Lag has all that is sent from a machine to another take longer than Faults.Delay has it, by d.
func (n *Network) Lag(from, to string, d time.Duration) { n.lag[way{from, to}] = int64(d) }

// pass calls do, by which something gets to an end, now or once the way isn't cut. What one end
// sends passes in its order.
func (n *Network) pass(to *end, do func()) {
	if n.cut[to.way()] {
		n.held = append(n.held, held{to, do})
		return
	}
	do()
}

// forget loses what ways hold of a host.
func (n *Network) forget(h *host) {
	n.held = slices.DeleteFunc(n.held, func(held held) bool { return held.to.other.host == h })
}

// way returns the one by which something gets to e.
func (e *end) way() (w way) {
	if from := e.other.host; from != nil {
		w.from = from.name
	}
	if e.host != nil {
		w.to = e.host.name
	}
	return w
}
