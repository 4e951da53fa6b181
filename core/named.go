package core

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/path"
	"github.com/stackhouse-go/stackhouse/stack/quota"
)

// Named is the actors of one kind, each found by its name and spawned when it is first looked up: a
// bucket for each client, a session for each user. Asks reach them by [ByName], notices by
// [NoticeByName]. A Named is a value, kept in a field or in a package variable.
//
// Such actors mostly passivate: see Props.Passivate. The next look-up makes a fresh actor, so save
// what it must know in PostStop, or earlier.
type Named[A any] struct{ all *named }

// NamedConfig says what the actors of a Named are like.
type NamedConfig[A any] struct {
	// Kind is the first part of their names: an actor of the kind "bucket" stands at
	// /user/bucket.<name>. It must not be empty, nor have a dot.
	Kind string
	// New makes the struct of the actor with the name: first on the goroutine of the step or guest
	// that looks the actor up, and for a restart on a worker. So it must not block. If it panics,
	// whoever looked the actor up gets that as an error.
	New func(name string) *A
	// Max is how many of the actors there may be at once: names often come from the network.
	// Looking up one more fails with ErrOverloaded. 0: 1,000,000.
	Max int
	// Props are the settings of each actor. Their Name must be empty.
	Props Props
}

// namedMax is NamedConfig.Max by default: a gigabyte of small actors.
const namedMax = 1_000_000

// Directory is where actors are born at the top and found by their names: a house.System.
type Directory interface {
	Place
	// FindTop returns the house of the actor /user/kind.id; nil: there is none. TakeKind reports
	// whether it is called for the first time with that kind. Guests returns what the guests of the
	// system share. Only the runtime calls them.
	FindTop(kind, id string) *stack.House
	TakeKind(kind string) bool
	Guests() *stack.Guests
}

// NewNamed returns the actors of one kind in a system. An actor is made when it is first looked up.
// It panics if the config makes no sense, or if the system has a Named of that kind already.
func NewNamed[A any](in Directory, c NamedConfig[A]) Named[A] {
	switch {
	case c.Kind == "" || strings.Contains(c.Kind, ".") || path.CheckName(c.Kind) != nil:
		panic(fmt.Sprintf("core: %q is no kind of actors by name", c.Kind))
	case c.New == nil:
		panic("core: actors by name without a New")
	case c.Props.Name != "":
		panic("core: actors by name have each a name, and their Props none")
	case c.Max < 0:
		panic("core: at most less than no actors by name")
	case c.Max == 0:
		c.Max = namedMax
	}
	c.Props.Passivate.check()
	if !in.TakeKind(c.Kind) {
		panic(fmt.Sprintf("core: there is a Named of the kind %q already", c.Kind))
	}
	n := &named{in: in, kind: c.Kind, of: reflect.TypeFor[A](), quota: quota.New(c.Max)}
	n.spawn = func(name string) (*stack.House, error) {
		p := c.Props
		p.Name = n.kind + "." + name
		a, err := spawnCounted(in, func() *A { return c.New(name) }, p, n.quota)
		return a.house, err
	}
	return Named[A]{n}
}

// Get returns the actor with the name, and spawns it if there is none. The actor may be stopping:
// asks to it then end with ErrStopped, whereas [ByName] waits for its successor. The error says
// what is wrong with the name; or it is ErrOverloaded if there are Max actors already,
// ErrAlreadyExists if an actor of another type has the name, or a *PanicError if New panicked. Any
// goroutine and any step may call it. Get doesn't keep the string name if the actor exists.
func (n Named[A]) Get(name string) (Address[A], error) {
	h, err := n.here().get(nil, name)
	return Address[A]{h}, err
}

// Find is Get without spawning; false if there is no such actor.
func (n Named[A]) Find(name string) (Address[A], bool) {
	all := n.here()
	h := all.in.FindTop(all.kind, name)
	if h == nil || h.Kind() != all.of {
		return Address[A]{}, false
	}
	return Address[A]{h}, true
}

// Len returns how many of the actors exist now. Any goroutine may call it.
func (n Named[A]) Len() int { return n.here().quota.Len() }

func (n Named[A]) here() *named {
	if n.all == nil {
		panic("core: zero Named")
	}
	return n.all
}

// named is Named without its type.
type named struct {
	in    Directory
	kind  string
	of    reflect.Type
	spawn func(name string) (*stack.House, error)
	quota *quota.Quota // of those that haven't gone
}

// get returns the actor with the name, which may be stopping, and makes it if there is none. w is
// the worker of a step that sends, or nil. For a step of another system no actor is made, as the
// step couldn't reach it.
func (n *named) get(w *stack.Engine, name string) (*stack.House, error) {
	if h := n.in.FindTop(n.kind, name); h != nil {
		if h.Kind() != n.of {
			return nil, ErrAlreadyExists
		}
		return h, nil
	}
	if w != nil && w.Guests != n.in.Guests() {
		return nil, ErrOtherSystem
	}
	return n.make(strings.Clone(name))
}

//go:noinline
func (n *named) make(name string) (h *stack.House, err error) {
	if name == "" {
		return nil, fmt.Errorf("core: an actor of the kind %q needs a name", n.kind)
	}
	if err := path.CheckName(n.kind + "." + name); err != nil {
		return nil, err
	}
	if n.quota.Full() { // perhaps by the actor that is looked for: then that can be found now
		switch h = n.in.FindTop(n.kind, name); {
		case h == nil:
			return nil, ErrOverloaded
		case h.Kind() != n.of:
			return nil, ErrAlreadyExists
		}
		return h, nil
	}
	defer func() {
		if v := recover(); v != nil {
			h, err = nil, &PanicError{Actor: n.kind + "." + name, Step: "New", Value: v, Trace: debug.Stack()}
		}
	}()
	h, err = n.spawn(name)
	if errors.Is(err, ErrAlreadyExists) && h != nil { // another goroutine was quicker
		err = nil
	}
	return h, err
}
