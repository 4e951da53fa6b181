package stack

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/stackhouse-go/stackhouse/stack/path"
)

// This file is where an actor stands in the tree of actors. Who its parent is, and its name, never
// change, so any goroutine reads a path.

// Parent returns the actor under which h was spawned; nil: none. Any goroutine may ask.
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

// Path returns where h stands. Any goroutine may ask.
func (h *House) Path() path.Path {
	var origin path.Path
	if w := h.owner.Load(); w != nil {
		origin = w.Guests.Origin
	}
	return origin.Below(h.Local())
}

// Local returns where h stands in its system, as in "/user/orders/order.42". Any goroutine may ask.
func (h *House) Local() string {
	var parts []string
	root := path.User
	for ; h != nil; h = h.Parent() {
		parts = append(parts, h.segment())
		if l := h.life(); l != nil && l.system {
			root = path.System
		}
	}
	parts = append(parts, root)
	slices.Reverse(parts)
	return "/" + strings.Join(parts, "/")
}

// segment is the last part of the path.
func (h *House) segment() string {
	if name := h.Name(); name != "" {
		return name
	}
	return fmt.Sprintf("$%d", h.serial)
}

// Is reports whether h, which has a name, is the house of a *t. Any goroutine may ask.
func (h *House) Is(t reflect.Type) bool { return h.life().of == t }

// life returns the record; nil: there is none, and the actor is up or gone. Any goroutine may ask.
func (h *House) life() *life {
	if a := h.annex.Load(); a != nil {
		return a.life.Load()
	}
	return nil
}

// makeLife returns the record, and makes it if there is none. Only the owner calls it, or who knows
// the house alone.
func (h *House) makeLife() *life {
	a := h.rooms()
	if a.life.Load() == nil {
		a.life.Store(&life{})
	}
	return a.life.Load()
}
