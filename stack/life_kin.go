package stack

import (
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/idleness"
	"github.com/stackhouse-go/stackhouse/stack/lifecycle"
	"github.com/stackhouse-go/stackhouse/stack/quota"
	"github.com/stackhouse-go/stackhouse/stack/siblings"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// Actors form a tree. The owner of a parent keeps its children in a list, in the order of their
// birth. A child that is gone tells its parent by a system message. It never changes its parent, so
// any goroutine may read its path.

// Bear makes child, which nobody knows yet, a child of h. Only a step of h may call it.
func (h *House) Bear(child *House) {
	l, c := h.makeLife(), child.makeLife()
	c.parent = h
	l.Bear()
	l.children.Add(child, siblingsOf)
}

func siblingsOf(h *House) *siblings.Links[House] { return &h.life().siblings }

// Disown takes back Bear of a child that nobody got to know, or that is closed from birth. Only a
// step of h may call it.
func (h *House) Disown(child *House) {
	l := h.life()
	l.children.Remove(child, siblingsOf)
	l.Disown()
}

// Props are what a new actor is given beside its struct.
type Props struct {
	Name  string                // the last part of its path; empty: it has none
	Hooks *Hooks                // of its life; nil: none
	Own   *supervision.Strategy // for its failures; nil: its parent's Below
	Below *supervision.Strategy // for failures of its children; nil: the default
	Alone bool                  // none of its calls begins while a stack of it is suspended
	Idle  int64                 // how long it may be idle before it stops, ns; 0: for ever
	Calls int64                 // after how many calls it stops; 0: never
	Quota *quota.Quota          // of its kind; nil: none. Only an actor with a Name has one
}

// Give gives h, which nobody knows yet, its props. Only the maker of the house calls it.
func (h *House) Give(p Props) {
	if p.Idle > 0 || p.Calls > 0 {
		h.rooms().quiet = newQuiet(h, idleness.New(p.Idle, p.Calls))
		h.flags.Set(flags.Noted)
	}
	if p.Name != "" || p.Hooks != nil || p.Own != nil || p.Below != nil || p.Idle > 0 {
		l := h.makeLife()
		l.name, l.hooks, l.own, l.below, l.quota = p.Name, p.Hooks, p.Own, p.Below, p.Quota
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

// Passivates reports whether h counts from its spawn how long it is idle. Only the maker of the
// house may ask, while nobody else knows the house.
func (h *House) Passivates() bool {
	a := h.annex.Load()
	return a != nil && a.quiet != nil && a.quiet.Idles()
}

// Quota returns how many of the kind of h, which has a name, there may be; nil: any number.
func (h *House) Quota() *quota.Quota { return h.life().quota }

// Guard puts h, which nobody knows yet and which has no parent, below /system, the guardian of the
// runtime's own actors. Engine.Supervise is for its failures, as for all actors without a parent.
func (h *House) Guard() { h.makeLife().system = true }
