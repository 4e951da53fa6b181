package stack

import "github.com/stackhouse-go/stackhouse/stack/path"

// This file is where an actor stands in the tree of actors. Its parent and its name never change,
// so any goroutine may read a path.

// Parent returns the house under which h was spawned; nil: none. Any goroutine may ask.
func (h *House) Parent() *House {
	if l := h.life(); l != nil {
		return l.parent
	}
	return nil
}

// Name returns the name that h was given; empty if it has none. Any goroutine may ask.
func (h *House) Name() string {
	if l := h.life(); l != nil {
		return l.name
	}
	return ""
}

// Path returns where h stands, and in which system. Any goroutine may ask.
func (h *House) Path() path.Path {
	var origin path.Path
	if w := h.owner.Load(); w != nil {
		origin = w.Guests.Origin
	}
	return origin.Below(h.Local())
}

// Local returns where h stands in its system, as in "/user/orders/order.42". Any goroutine may ask.
func (h *House) Local() string {
	var up path.Climb
	for ; h != nil; h = h.Parent() {
		up.Add(h.Name(), h.serial)
		if l := h.life(); l != nil && l.system {
			up.System = true
		}
	}
	return up.Local()
}

// life returns the record of the actor's life; nil: there is none, and the actor is up or gone.
// Any goroutine may ask.
func (h *House) life() *life {
	if a := h.annex.Load(); a != nil {
		return a.life.Load()
	}
	return nil
}

// makeLife returns the record of the actor's life, and makes it if there is none. Only the owner
// calls it, or whoever is the only one to know the house.
func (h *House) makeLife() *life {
	a := h.rooms()
	if a.life.Load() == nil {
		a.life.Store(&life{})
	}
	return a.life.Load()
}
