package core

import "github.com/stackhouse-go/stackhouse/stack"

// Place is where an actor can be born: a house.System puts it on any worker, one
// of its workers on that one, Beside and Address.Beside on an actor's.
type Place interface {
	// Settle gives a new house its first owner; the runtime's business.
	Settle(h *stack.House)
}

// Beside is the worker of the actor that runs s: messages between the two cost
// no atomic operation.
func Beside(s Running) Place { return (*beside)(stack.Of(s)) }

// Beside is the worker that runs a when the new actor is born: a step or a guest
// spawns there. It is a place also after a has stopped.
func (a Address[A]) Beside() Place {
	if a.house == nil {
		panic("core: a place beside nobody")
	}
	return (*neighbour)(a.house)
}

type neighbour stack.House

func (n *neighbour) Settle(h *stack.House) {
	w := (*stack.House)(n).Owner()
	w.Driver.Settle(h, w)
}

type beside stack.Stack

func (b *beside) Settle(h *stack.House) {
	w := (*stack.Stack)(b).Worker()
	w.Driver.Settle(h, w)
}

// Starter is implemented by actors that prepare themselves.
type Starter interface {
	// PreStart runs in a turn of the actor's worker, before its first message; an
	// error is reported, with the actor's address, and stops the actor.
	PreStart() error
}

// Stopper is implemented by actors that clean up.
type Stopper interface {
	// PostStop runs once, in a turn of the actor's worker, after every stack of
	// the actor has ended; an error is reported, with the actor's address.
	PostStop() error
}

// Spawn makes an actor and returns its address. The factory, called at once and
// by the caller, makes the actor's struct; a restart would call it again, so it
// must not share state. Any goroutine may spawn; a step spawns Beside itself.
func Spawn[A any](at Place, factory func() *A) Address[A] {
	h := stack.NewHouse(factory)
	_, starts := h.Actor().(Starter)
	_, stops := h.Actor().(Stopper)
	if starts || stops {
		h.Hang(hooks{})
	}
	at.Settle(h)
	if starts {
		h.Start(h.Owner().Guests)
	}
	return Address[A]{h}
}

// hooks calls what an actor implements of its life cycle.
type hooks struct{}

func (hooks) Started(h *stack.House) error { return h.Actor().(Starter).PreStart() }

func (hooks) Stopped(h *stack.House) error {
	if a, ok := h.Actor().(Stopper); ok {
		return a.PostStop()
	}
	return nil
}
