package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// Kind is a kind of actors that other nodes may spawn at nodes of this process, as far as their
// Config.Spawners let them.
type Kind struct {
	name  string
	spawn func(at core.Place, name string) (core.AnyAddress, error)
}

// Name returns the name by which other nodes ask for such actors.
func (k *Kind) Name() string { return k.name }

// kinds are all of this process, by name.
var kinds sync.Map

// NewKind makes a kind. Call it once for each name, in a package variable. The factory is that of
// core.Spawn: it is first called on a worker, so it must not block. The name of the props must be
// empty, as each actor has its own.
func NewKind[A any](name string, factory func() *A, p core.Props) *Kind {
	if name == "" || factory == nil || p.Name != "" {
		panic("cluster: a kind needs a name and a factory, and its props have no name")
	}
	k := &Kind{name: name, spawn: func(at core.Place, name string) (core.AnyAddress, error) {
		p := p
		p.Name = name
		a, err := core.SpawnWith(at, factory, p)
		return a.Any(), err
	}}
	if _, taken := kinds.LoadOrStore(name, k); taken {
		panic("cluster: two kinds have the name " + name)
	}
	return k
}

// Errors of Node.Spawn, beside those of an ask.
var (
	// ErrNotAllowed: the other node's Config.Spawners doesn't let this one spawn such actors.
	ErrNotAllowed = RegisterError("stackhouse.cluster.not-allowed", errors.New("cluster: this node may not spawn such actors there"))
	// ErrNoKind: the other node has no kind of that name. Who may spawn nothing there gets
	// ErrNotAllowed instead.
	ErrNoKind = RegisterError("stackhouse.cluster.no-kind", errors.New("cluster: no kind of actors has that name there"))
)

// Whom says which actor is to be spawned, and where.
type Whom struct {
	Node string // the name of its node
	Kind string // see NewKind
	Name string // as in core.Props; empty: it can't be looked up
}

// Spawn has another node spawn an actor at its top, and returns its address. The actor doesn't end
// with the session, nor with this node: whoever is done with it stops it. Errors: ErrNotAllowed;
// ErrNoKind; core.ErrAlreadyExists, if the name is taken; core.ErrOverloaded, if as many of this
// node's actors live there as may; core.ErrNotFound, if it has stopped by now; ErrNoNode; those of
// the name, of the factory, and of an ask. Behind core.ErrTimeout or core.ErrLost the actor may be
// there all the same. Only goroutines that are no workers may call it.
func (n *Node) Spawn(ctx context.Context, node, kind, name string) (core.AnyAddress, error) {
	return core.Ask(ctx, n.Spawner(), Whom{node, kind, name})
}

// Spawner returns the port that spawns actors at other nodes, for steps; see Spawn.
func (n *Node) Spawner() core.Port[Whom, core.AnyAddress] { return hubSpawn.At(n.hub) }

// spawnActor is what a hub asks another one.
type spawnActor struct{ Kind, Name string }

var spawnMethod = core.NewMethod[spawnActor, core.AnyAddress]("stackhouse.cluster.spawn")

type spawnStep struct {
	core.AskStack[Whom, core.AnyAddress]
	born core.Future[core.AnyAddress]
}

// spawn has the hub of the other node spawn an actor.
func (h *hub) spawn(s *spawnStep) core.Yield {
	l := h.links[s.Req.Node]
	if l == nil {
		return s.Throw(ErrNoNode)
	}
	spawnMethod.At(l.control().hub().any()).Ask(s, &s.born, spawnActor{s.Req.Kind, s.Req.Name})
	return core.Suspend(s, (*hub).spawned)
}

func (h *hub) spawned(s *spawnStep) core.Yield { return there(&s.AskStack, &s.born) }

// bear spawns an actor for another node.
func (h *hub) bear(s *core.AskStack[spawnActor, core.AnyAddress]) core.Yield {
	by := h.served.asks[uint32(stack.Of(s).ID())].track.link.name
	k, err := h.allows(by, s.Req.Kind)
	if err != nil {
		return s.Throw(err)
	}
	if !h.mayBear(by) {
		return s.Throw(core.ErrOverloaded)
	}
	var a core.AnyAddress
	fault.Catch("a kind", k.name, &err, func() (err error) {
		a, err = k.spawn(h.node.system, s.Req.Name)
		return err
	})
	if err != nil {
		return s.Throw(err)
	}
	at, _ := a.Any()
	h.broods[by] = append(h.broods[by], at)
	return s.Return(a)
}

// mayBear reports whether fewer actors that a node has spawned live here than may.
func (h *hub) mayBear(node string) bool {
	if len(h.broods[node]) >= h.node.config.SpawnedMax {
		h.broods[node] = slices.DeleteFunc(h.broods[node], (*stack.House).Gone)
	}
	return len(h.broods[node]) < h.node.config.SpawnedMax
}

// allows returns the kind of a name, if a node may spawn such actors.
func (h *hub) allows(node, name string) (*Kind, error) {
	may := h.node.config.Spawners[node]
	k, ok := kinds.Load(name)
	switch {
	case len(may) == 0:
		return nil, ErrNotAllowed
	case !ok:
		return nil, ErrNoKind
	case !slices.Contains(may, name):
		return nil, ErrNotAllowed
	}
	return k.(*Kind), nil
}

var (
	hubSpawn = core.Handle((*hub).spawn)
	_        = core.Handle((*hub).bear).As(spawnMethod)
)
