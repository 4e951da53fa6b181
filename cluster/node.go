package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/stackhouse-go/stackhouse/core"
)

// System is what a node needs of a house.System.
type System interface {
	core.Place
	core.Finder
}

// Node is a system as other nodes know it. Start makes it. Any goroutine may use it.
type Node struct {
	config Config
	system System
	hub    core.Address[hub]
	self   *hub
	failed sync.Map // why the last dial of each node failed, by name; none since it is connected

	// Gaps tells of notices from other nodes that never came: before anything comes that was sent
	// behind them. A subscriber whose mailbox is full misses it, as any notice: it is a dead letter.
	Gaps core.Topic[Gap]
}

// Gap is notices of another node that never came, as a session was given up: To - From + 1 of them.
// They had been written; those that still waited there for room are dead letters there, and in no
// Gap. Each that comes has a number, from 1 on for these lives of the two, and so has each that is
// reported; From and To are the numbers that these have. A node that knows more than 4,096 others
// forgets some that are away, and their sessions. It keeps these numbers of the last 65,536 of
// those; between it and any other one Gaps may begin at 1, or be missed.
type Gap struct {
	Node     string
	From, To uint64
}

// Start makes system a node. It returns once the node listens. The system must be started. Errors
// are those of the Config and of the listener's socket, and contracts whose types can't cross.
func Start(ctx context.Context, system System, c Config) (*Node, error) {
	c, err := c.validate()
	if err != nil {
		return nil, err
	}
	methods, err := newCatalogue()
	if err != nil {
		return nil, err
	}
	n := &Node{config: c, system: system}
	n.self = newHub(n, methods)
	n.hub, err = core.SpawnWith(system, func() *hub { return n.self }, core.Props{
		Mailbox:   core.Unbounded(), // what it tells itself is bounded by links, and is not to be refused
		OnFailure: &core.Strategy{Decide: func(error) core.Directive { return core.Stop }},
	})
	if err != nil {
		return nil, err
	}
	if _, err = core.Ask(ctx, hubListen.At(n.hub), struct{}{}); err != nil {
		n.hub.Stop()
		return nil, err
	}
	return n, nil
}

// Addr returns the address at which the node listens; empty: it doesn't.
func (n *Node) Addr() string { return n.self.listener.Addr() }

// Name returns the node's name.
func (n *Node) Name() string { return n.config.Name }

// Where says where an actor is.
type Where struct {
	Node string // the name of its node
	Path string // as core.ParsePath reads it
}

// Lookup returns the address of an actor of another node. Errors: core.ErrNotFound, ErrNoNode, and
// those of an ask, for errors.Is; their text has the path, the node, and why no connection to it
// came up. Only goroutines that are no workers may call it.
func (n *Node) Lookup(ctx context.Context, node, path string) (core.AnyAddress, error) {
	at, err := core.Ask(ctx, n.Finder(), Where{node, path})
	if err == nil {
		return at, nil
	}
	if why, ok := n.failed.Load(node); ok {
		return at, fmt.Errorf("cluster: %s at node %q: %w (%v)", path, node, err, why)
	}
	return at, fmt.Errorf("cluster: %s at node %q: %w", path, node, err)
}

// Finder returns the port that finds actors of other nodes, for steps; see Lookup. Its errors are
// as they are.
func (n *Node) Finder() core.Port[Where, core.AnyAddress] { return hubFind.At(n.hub) }

// Close ends the node: its links are over, asks that are away end with ErrUnreachable. Other nodes
// hear of it, and what they have away ends with ErrNodeLost. So does the end of the node's system;
// but Close waits, for a second at most, until notices that have left have come.
func (n *Node) Close(ctx context.Context) error {
	_, err := core.Ask(ctx, hubFlush.At(n.hub), struct{}{})
	if errors.Is(err, core.ErrStopped) {
		err = nil
	}
	return errors.Join(err, n.hub.StopWait(ctx))
}

// Errors, beside those of core.
var (
	// ErrTooLong: as bytes a message, or a reply, would be longer than 16 MiB.
	ErrTooLong = RegisterError("stackhouse.cluster.too-long", errors.New("cluster: message too long"))
	// ErrNoNode: the node is neither in Config.Peers, nor has it dialled this one.
	ErrNoNode = errors.New("cluster: no node of that name is known")
	// ErrUnreachable: no connection to the node of the actor for longer than the link's patience, or
	// that node has given this one up, or a frame came that can't be. It comes with core.ErrLost, or
	// with core.ErrNotSent if no byte of the message has left.
	ErrUnreachable = errors.New("cluster: node unreachable")
	// ErrNodeLost: the node has ended, or begun a new life. It comes as ErrUnreachable does.
	ErrNodeLost = errors.New("cluster: node lost")
)
