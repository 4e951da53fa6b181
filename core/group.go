package core

import (
	"errors"

	"github.com/stackhouse-go/stackhouse/stack"
)

// ErrNoMember: a router had nobody to choose from. The group is empty, or all its
// members have stopped.
var ErrNoMember = errors.New("stackhouse: no member")

// Members is who a router chooses from: Replicas, or a *Group.
type Members[A any] interface {
	// All returns those that haven't stopped.
	All() []Address[A]
	members() *roster
}

// Group is actors of one type that join and leave while they are asked. One that
// stops leaves by itself: routers choose no member that has stopped, and what was on
// its way to it is answered with ErrStopped. The zero Group is empty; it must not be
// copied. Any goroutine and any step may call its methods. A change takes memory and
// time in proportion to the number of members; choosing one never waits for it.
type Group[A any] struct {
	roster roster
	_      noCopy
}

// noCopy has go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Join makes a a member, unless it is one or has stopped.
func (g *Group[A]) Join(a Address[A]) {
	if a.house == nil {
		panic("core: nobody joins a Group")
	}
	g.roster.join(a.house)
}

// Leave ends the membership of a, if it is a member. What was routed to a before
// arrives.
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
