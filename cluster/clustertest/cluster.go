package clustertest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/cluster"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// Config says which nodes there are. What is zero but Nodes has its default.
type Config struct {
	// Nodes are the names of the nodes, which all have the addresses of all others.
	Nodes []string
	// Start is called for each life of a node, once it is a node: it spawns its actors. nil: the
	// test does. It may not wait for other nodes.
	Start func(*Node)
	// Rates are how fast the clocks of nodes run beside Run, by name: 2 is twice as fast. Default 1.
	Rates map[string]float64
	// Node, if set, changes how each life of a node is made: its Timing, its Spawners. Its name, its
	// addresses and its incarnation are the cluster's.
	Node func(*cluster.Config)
	// System is how all systems are made, as by housetest.New.
	System house.Config
}

// Cluster is nodes in one simulation. It, and whatever is reached by it, belongs to the goroutine
// of the test.
type Cluster struct {
	// Sim is the time, the network and the seed that the nodes share. Its own system is no node.
	Sim *housetest.Sim

	t      testing.TB
	config Config
	nodes  []*Node // as in Config.Nodes: the present lives, or the last ones
}

// Node is one life of a node. The test doesn't shut it down: the end of the test does.
type Node struct {
	*cluster.Node
	System *house.System // of this life
	Life   uint64        // from 1 on: its incarnation
	dead   bool
}

// New starts a cluster. At the end of the test all of its systems are shut down, the dead ones too,
// and must have nothing left.
func New(t testing.TB, seed uint64, config Config) *Cluster {
	t.Helper()
	c := &Cluster{Sim: housetest.New(t, seed, house.Config{Workers: 1, Logger: config.System.Logger}), t: t, config: config}
	for i := range config.Nodes {
		c.nodes = append(c.nodes, c.start(i, 1))
	}
	return c
}

// address returns where the i-th node listens, in all its lives.
func address(i int) string { return fmt.Sprintf("10.0.%d.%d:7400", i/250, 1+i%250) }

// start begins a life of the i-th node.
func (c *Cluster) start(i int, life uint64) *Node {
	c.t.Helper()
	name, peers := c.config.Nodes[i], map[string]string{}
	for j, other := range c.config.Nodes {
		if j != i {
			peers[other] = address(j)
		}
	}
	n := &Node{Life: life}
	n.System = c.Sim.BesideOn(c.t, housetest.Machine{Name: name, Rate: c.config.Rates[name]}, c.config.System)
	var err error
	of := cluster.Config{Name: name, Incarnation: life, Listen: address(i), Peers: peers, Plaintext: true}
	if c.config.Node != nil {
		c.config.Node(&of)
	}
	n.Node, err = cluster.Start(context.Background(), n.System, of)
	if err != nil {
		c.t.Fatalf("seed %d: node %s: %v", c.Sim.Seed, name, err)
	}
	if c.config.Start != nil {
		c.config.Start(n)
	}
	return n
}

// index returns where a node stands in Config.Nodes.
func (c *Cluster) index(name string) int {
	c.t.Helper()
	i := slices.Index(c.config.Nodes, name)
	if i < 0 {
		c.t.Fatalf("clustertest: no node has the name %q", name)
	}
	return i
}

// Node returns the present life of a node, or the last one if it is dead.
func (c *Cluster) Node(name string) *Node {
	c.t.Helper()
	return c.nodes[c.index(name)]
}

// Run lets d of virtual time pass: see housetest.Sim.
func (c *Cluster) Run(d time.Duration) { c.Sim.Run(d) }

// Hash identifies the events of all nodes so far: the same seed gives the same hash.
func (c *Cluster) Hash() uint64 { return c.Sim.Hash() }

// Find has a node find an actor of another one by its path: see cluster.Node.Lookup. It runs turns
// until there is an answer.
func (c *Cluster) Find(by, node, path string) (core.AnyAddress, error) {
	c.t.Helper()
	return housetest.Ask(c.t, c.Sim, c.Node(by).Finder(), cluster.Where{Node: node, Path: path})
}
