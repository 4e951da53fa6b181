// Package cluster joins the systems of several processes: an actor of another node has an address,
// and ports, as one of this node has.
//
// A [Node] is a system as others know it. Between it and each other one is a link, which is dialled
// when something is first sent. Messages cross by their contracts, see [core.NewMethod]:
//
//	node, err := cluster.Start(ctx, sys, cluster.Config{Name: "shop", Listen: "10.0.0.1:7400", …})
//	item, err := node.Lookup(ctx, "store", "/user/item.42") // a core.AnyAddress
//	reply, err := core.Ask(ctx, api.Get.At(item), GetReq{…})
//
// # Who owns what
//
// A hub, an actor on one worker, has all links of its node, and whatever belongs to them:
//
//	hub       links by the other node's name; the listener, and what accepted connections begin
//	          with, until HELLO says which link they are for; the asks of other nodes
//	overflow  the calls that wait beside the full mailbox of one actor of this node
//	replies   asks of other nodes that may come more than once, and how they were answered
//	retry     such an ask of this node, until it is answered
//	link      the machine of its sessions (cluster/session), and the connections that have met
//	dialer    how one track comes by a connection
//	track     one stream of a session: stand-ins and asks away, and what the other node has of here
//	conn      a connection, as its codec: it makes steps of the track of what comes, and sends what
//	          the track has written
//
// A session that is given up takes its tracks with it; the link makes others. All of it runs in
// turns of the hub's worker: stand-ins live there, too.
package cluster
