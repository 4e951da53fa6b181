package core

import (
	"fmt"
	"reflect"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/path"
	"github.com/stackhouse-go/stackhouse/stack/quota"
)

// Place is where an actor can be born. A house.System puts it on any of its workers; a house.Worker
// puts it on itself, where it stays; Beside and Address.Beside put it on an actor's worker; Under
// also makes it a child.
type Place interface {
	// Register gives a new house its first owner. If its name is taken, it returns the house that
	// has it, and if its quota is used up, h itself. Only the runtime calls it.
	Register(h *stack.House, make stack.Factory) (taken *stack.House)
}

// Beside is the worker of the actor that runs s: messages between the two actors cost no atomic
// operation, until one of them moves (see package house). To keep actors together, spawn them on
// one of house.System.Workers.
func Beside(s Running) Place { return (*beside)(stack.Of(s)) }

// Under is Beside, and the new actor is a child of the one that runs s: it stops before its
// parent does, and its failures are its parent's concern.
func Under(s Running) Place { return (*under)(stack.Of(s)) }

// Beside is the worker that runs a at the moment when the new actor is born. Steps and guests may
// spawn there. It remains a place after a has stopped.
func (a Address[A]) Beside() Place {
	if a.house == nil {
		panic("core: a place beside nobody")
	}
	return (*neighbour)(a.house)
}

type neighbour stack.House

func (n *neighbour) Register(h *stack.House, make stack.Factory) *stack.House {
	w := (*stack.House)(n).Owner()
	return w.Driver.Register(h, make, w)
}

type beside stack.Stack

func (b *beside) Register(h *stack.House, make stack.Factory) *stack.House {
	w := (*stack.Stack)(b).Engine()
	return w.Driver.Register(h, make, w)
}

type under stack.Stack

func (u *under) Register(h *stack.House, make stack.Factory) *stack.House {
	s := (*stack.Stack)(u)
	w, parent := s.Engine(), s.House()
	parent.Bear(h)
	taken := w.Driver.Register(h, make, w)
	if taken != nil || h.Gone() { // refused: the parent must not wait for h
		parent.Disown(h)
		return taken
	}
	if parent.Gone() {
		h.Stop(w.Guests) // the parent has stopped meanwhile, and didn't know h
	}
	return nil
}

// Spawn makes an actor and returns its address. The factory makes the actor's struct: first at
// once, on the caller's goroutine, and for each restart on a worker. So it must neither share state
// between instances nor block. Any goroutine may call Spawn; a step calls it with Beside or Under.
func Spawn[A any](at Place, factory func() *A) Address[A] {
	h, make := stack.NewHouse(factory)
	if hooks := hooksOf[A](h.Actor()); hooks != nil {
		h.Give(stack.Props{Hooks: hooks})
	}
	at.Register(h, make) // without a name it is never refused
	return begin[A](h, false)
}

// begin starts an actor whose house was just registered.
func begin[A any](h *stack.House, passivates bool) Address[A] {
	starts := h.Starts()
	if !starts {
		h.TellStarted(reflect.TypeFor[A]())
	}
	if starts || passivates {
		h.Start(h.Owner().Guests)
	}
	return Address[A]{h}
}

// SpawnWith is Spawn with props. If the name is taken, it returns ErrAlreadyExists and the address
// of the actor that has it, the zero Address if that is no A; the factory has then been called in
// vain. Whether PreStart fails is known only later: Watch and Events tell of it.
func SpawnWith[A any](at Place, factory func() *A, p Props) (Address[A], error) {
	return spawnCounted(at, factory, p, nil)
}

// spawnCounted is SpawnWith of an actor that joins a quota, unless that is nil: if it is used up
// the error is ErrOverloaded.
func spawnCounted[A any](at Place, factory func() *A, p Props, of *quota.Quota) (Address[A], error) {
	if p.Name != "" {
		if err := path.CheckName(p.Name); err != nil {
			return Address[A]{}, err
		}
	}
	p.Passivate.check()
	h, make := stack.NewHouse(factory)
	h.Mailbox(p.Mailbox.mail)
	h.Give(stack.Props{Name: p.Name, Hooks: hooksOf[A](h.Actor()), Own: p.OnFailure, Below: p.Children, Alone: p.Serial, Quota: of,
		Idle: int64(p.Passivate.Idle), Calls: int64(p.Passivate.Messages)})
	passivates := h.Passivates() // read now: once registered, h is its owner's
	if taken := at.Register(h, make); taken != nil {
		if taken == h {
			return Address[A]{}, ErrOverloaded
		}
		if taken.Kind() == reflect.TypeFor[A]() {
			return Address[A]{taken}, ErrAlreadyExists
		}
		return Address[A]{}, ErrAlreadyExists
	}
	return begin[A](h, passivates), nil
}

// Path is where an actor stands; see ParsePath.
type Path = path.Path

// ParsePath reads a path: "stackhouse://shop@10.0.0.7:7400/user/orders/order.42", without the "@"
// and the address if other systems can't reach this one; or "/user/orders/order.42", in any system.
// It accepts what Path.String returns, and nothing else.
func ParsePath(text string) (Path, error) { return path.Parse(text) }

// Finder finds actors by their paths: a house.System.
type Finder interface {
	// Find returns the house with the path. Only the runtime calls it.
	Find(p Path) *stack.House
}

// Lookup returns the address of the actor with the path at, in any form that ParsePath reads. The
// error is ErrNotFound if no actor of this system has the path, if it has stopped, or if it is no
// A. Actors without a name can't be looked up. Any goroutine and any step may call it.
func Lookup[A any](in Finder, at string) (Address[A], error) {
	p, err := path.Parse(at)
	if err != nil {
		return Address[A]{}, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	h := in.Find(p)
	if h == nil {
		return Address[A]{}, ErrNotFound
	}
	if h.Kind() != reflect.TypeFor[A]() {
		return Address[A]{}, fmt.Errorf("%w: the actor at %s is no %v", ErrNotFound, at, reflect.TypeFor[A]())
	}
	return Address[A]{h}, nil
}
