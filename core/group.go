package core

import (
	"errors"

	"github.com/stackhouse-go/stackhouse/stack"
)

// ErrNoMember: a router had no member to choose. The group is empty, or all its members have
// stopped.
var ErrNoMember = errors.New("stackhouse: no member")

// Members is the actors that a router chooses from: Replicas, or a *Group.
type Members[A any] interface {
	// All returns those that haven't stopped.
	All() []Address[A]
	members() *roster
}

// Group is actors of one type that join and leave while they are asked. A member that stops leaves
// by itself: routers no longer choose it, and asks on their way to it are answered with ErrStopped.
// The zero Group is empty; it must not be copied. Any goroutine and any step may call its methods.
// A change takes memory and time in proportion to the number of members; choosing a member never
// waits for a change.
type Group[A any] struct {
	roster roster
	_      noCopy
}

// noCopy has go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Join makes a a member, unless it is a member already, or has stopped.
func (g *Group[A]) Join(a Address[A]) {
	if a.house == nil {
		panic("core: nobody joins a Group")
	}
	g.roster.join(a.house)
}

// Leave ends the membership of a, if it is a member. Messages that were routed to a before still
// arrive.
func (g *Group[A]) Leave(a Address[A]) { g.roster.leave(a.house) }

// Len returns the number of members.
func (g *Group[A]) Len() int { return len(g.roster.here()) }

// All returns the members in the order in which they joined.
func (g *Group[A]) All() []Address[A] { return addresses[A](g.roster.here()) }

func (g *Group[A]) members() *roster { return &g.roster }

func addresses[A any](houses []*stack.House) []Address[A] {
	all := make([]Address[A], len(houses))
	for i, h := range houses {
		all[i] = Address[A]{h}
	}
	return all
}

// rosterOf returns the roster behind m.
func rosterOf[A any](m Members[A]) *roster {
	if m == nil {
		panic("core: a router without members")
	}
	return m.members()
}
