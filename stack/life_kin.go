package stack

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/idleness"
	"github.com/stackhouse-go/stackhouse/stack/lifecycle"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// Actors form a tree. A parent's owner keeps its children in a list, in the order of their birth;
// a child that has gone says so by a system message. A child never changes its parent, so a path
// can be read by anybody.

// Bear makes child, which nobody knows yet, a child of h. Only a step of h may call it.
func (h *House) Bear(child *House) {
	l, c := h.makeLife(), child.makeLife()
	c.parent = h
	l.Bear()
	c.prev = l.last
	if l.last == nil {
		l.first = child
	} else {
		l.last.life().next = child
	}
	l.last = child
}

// unlink takes child out of the list.
func (l *life) unlink(child *House) {
	c := child.life()
	if c.prev == nil {
		l.first = c.next
	} else {
		c.prev.life().next = c.next
	}
	if c.next == nil {
		l.last = c.prev
	} else {
		c.next.life().prev = c.prev
	}
	c.prev, c.next = nil, nil
}

// Disown takes back Bear, if nobody got to know child, or it has stopped from birth.
func (h *House) Disown(child *House) {
	l := h.life()
	l.unlink(child)
	l.Disown()
}

// Props are what a new actor is given beside its struct.
type Props struct {
	Name  string                // the last part of its path; empty: its type and number
	Hooks *Hooks                // of its life; nil: none
	Own   *supervision.Strategy // what becomes of its failures; nil: what its parent says
	Below *supervision.Strategy // what becomes of its children's; nil: the default
	Alone bool                  // nothing of it begins while a stack of it is suspended
	Idle  int64                 // how long it may be idle before it stops, ns; 0: for ever
	Calls int64                 // after how many calls it stops; 0: never
	// one less when it has gone; nil: nobody counts. It has a Name
	Living *atomic.Int64
}

// Give writes the props of h, which nobody knows yet.
func (h *House) Give(p Props) {
	if p.Idle > 0 || p.Calls > 0 {
		h.rooms().quiet = newQuiet(h, idleness.New(p.Idle, p.Calls))
		h.flags.Set(flags.Noted)
	}
	if p.Name != "" || p.Hooks != nil || p.Own != nil || p.Below != nil || p.Idle > 0 {
		l := h.makeLife()
		l.of = h.kind()
		l.name, l.hooks, l.own, l.below, l.living = p.Name, p.Hooks, p.Own, p.Below, p.Living
		l.Machine = lifecycle.New(p.Hooks.kinds())
		if l.Starts() {
			h.hold(heldByLife)
		}
	}
	if p.Alone {
		h.flags.Set(flags.Alone)
	}
}

// Starts reports whether h has a hook to run before its first message.
func (h *House) Starts() bool {
	l := h.life()
	return l != nil && l.Starts()
}

// Passivates reports whether h is to count from its spawn how long it is idle. Who knows the
// house alone may ask.
func (h *House) Passivates() bool {
	a := h.annex.Load()
	return a != nil && a.quiet != nil && a.quiet.Idles()
}

// Guard puts h, which nobody knows yet and which has no parent, below the guardian of what is the
// runtime's own. What becomes of the failures of those at the top, Engine.Supervise says.
func (h *House) Guard() { h.makeLife().system = true }
