// Package clustertest tests actors on simulated nodes, and what becomes of them when a node dies,
// stops for a while, or can't be reached.
//
// A [Cluster] is n systems, each a node of package cluster, that share one virtual time, one
// network and one seed, in the goroutine of the test. Links, sessions and frames are the code that
// ships. The same seed gives the same [Cluster.Hash]; run some seeds twice and compare.
//
//	c := clustertest.New(t, seed, clustertest.Config{Nodes: []string{"north", "south"}, Start: f})
//	shop, err := c.Find("north", "south", "/user/shop")
//	price, err := housetest.Ask(t, c.Sim, api.Price.At(shop), api.PriceOf{"tea"})
//	c.Cut("north", "south")
//	c.Run(time.Minute)
//
// What [housetest.Sim] has is for nodes, too: probes live on the system of a node, Sim.Net.Faults
// are what goes wrong everywhere, Sim.Net.Lag is how far a node is from another one, by their names
// and each way by itself.
//
// # States
//
// A node is
//
//	up      Pause -> paused; Kill -> dead
//	paused  its workers take no turns; bytes come up to its sockets. Resume -> up; Kill -> dead
//	dead    its sockets are closed, its actors do nothing any more. Start -> up, as another life
//
// and each life is a [Node] of its own: a system, a node of the next incarnation, and the actors
// that Config.Start spawns. The way from a node to another is open or cut, whatever their lives.
package clustertest
