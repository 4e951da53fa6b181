package clustertest

// Kill ends a life of a node, as by SIGKILL: without BYE; its machine closes its connections, its
// actors do nothing any more. Cut it off before, and others hear nothing: then it is a machine
// without power. A node that ends in order is closed first. Nothing happens to a node that is dead.
func (c *Cluster) Kill(name string) {
	c.t.Helper()
	n := c.Node(name)
	n.dead = true
	c.Sim.Kill(n.System)
}

// Start begins the next life of a node that is dead.
func (c *Cluster) Start(name string) *Node {
	c.t.Helper()
	i := c.index(name)
	if !c.nodes[i].dead {
		c.t.Fatalf("clustertest: node %s lives: Kill ends it", name)
	}
	c.nodes[i] = c.start(i, c.nodes[i].Life+1)
	return c.nodes[i]
}

// Pause has a node do nothing until Resume, as by SIGSTOP, or as a collector or a hypervisor does:
// its clock goes on, and others' bytes come up to its sockets.
func (c *Cluster) Pause(name string) {
	c.t.Helper()
	c.Sim.Pause(c.Node(name).System)
}

// Resume ends a Pause.
func (c *Cluster) Resume(name string) {
	c.t.Helper()
	c.Sim.Resume(c.Node(name).System)
}

// Cut cuts the ways between two nodes, both ways. A bridge is three nodes of which two are cut.
func (c *Cluster) Cut(a, b string) {
	c.t.Helper()
	c.CutOneWay(a, b)
	c.CutOneWay(b, a)
}

// CutOneWay cuts the way from a node to another: what is sent there waits until Heal, and what the
// other one sends arrives. Who dials waits, as nothing answers.
func (c *Cluster) CutOneWay(from, to string) {
	c.t.Helper()
	c.index(from)
	c.index(to)
	c.Sim.Net.Cut(from, to)
}

// Heal ends all cuts between two nodes: what was held arrives.
func (c *Cluster) Heal(a, b string) {
	c.t.Helper()
	c.index(a)
	c.index(b)
	c.Sim.Net.Heal(a, b)
	c.Sim.Net.Heal(b, a)
}
