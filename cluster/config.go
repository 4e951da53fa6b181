package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core/wire"
)

// Config is how a node is known, and how it speaks to others. What is zero has its default.
type Config struct {
	// Name is the node's, the same in each of its lives and no other node's. It must not be empty.
	Name string
	// Incarnation tells this life of the node from earlier ones: it must be higher. Default: the
	// time, in ns.
	Incarnation uint64
	// Listen is the address for other nodes, with its host in numbers, as 10.0.0.1:7400. Empty:
	// this node dials others, and nobody dials it.
	Listen string
	// Peers are the addresses of other nodes by their names, with hosts in numbers. Who isn't in
	// here may dial this node, and is known from then on; but if its connections are lost while it
	// waits for nothing, what this node tells it comes only if it dials again within Patience.
	Peers map[string]string
	// TLS secures all connections, both ways. Without it Plaintext must be set.
	TLS *secure.TLS
	// Plaintext is for networks in which nobody else is: names are believed, and all can be read.
	Plaintext bool
	// Window is how many bytes of frames a track keeps that the other end hasn't acknowledged. Who
	// sends more gets core.ErrMailboxFull once mailboxes are full, too. Default 1 MiB, at least 256
	// KiB.
	Window int
	// Tracks is how many streams a link has, each with a connection and a Window of its own: as many
	// as the node of the two that allows fewer. Default 1, at most 5. With one, a call waits for
	// what is on its way to other actors of that node. With more, nodes ask each other over the
	// first, and actors are dealt out over the others. An actor has its calls in one order all the
	// same; but system calls are for fewer calls each, so a few at a time cost more.
	Tracks int
	// Compress has messages of more than 64 KiB compressed, by S2, where that makes them shorter and
	// the other node can read it; each can that knows of it, whatever its own Compress. It takes time
	// of the links' worker: some ms for 4 MiB, and what a Window of messages unfolds to at once.
	Compress bool
	// Timing is when links ping, reset, close and give up; Patience is how long a node may be out of
	// reach, by any track.
	Timing session.Timing
	// Budget is how much memory a message may ask for, by its length, uncompressed.
	Budget wire.Budget
	// Spawners says which kinds of actors other nodes may spawn here, see NewKind, by the names of
	// these nodes. Who isn't in here may spawn none. With Plaintext names are believed.
	Spawners map[string][]string
	// SpawnedMax is how many actors that one other node has spawned live here at most, each. Default
	// 10,000.
	SpawnedMax int
	// Mailbox is how many calls wait at most for an actor of another node. Default:
	// house.Config.MailboxMax.
	Mailbox int
}

// tracksMax is that of Config.Tracks: one for nodes, and a few for actors.
const tracksMax = 5

func (c Config) validate() (Config, error) {
	c.Incarnation = cmp.Or(c.Incarnation, uint64(time.Now().UnixNano()))
	c.Window = cmp.Or(c.Window, session.Window)
	c.Tracks = cmp.Or(c.Tracks, 1)
	c.SpawnedMax = cmp.Or(c.SpawnedMax, 10_000)
	switch {
	case c.Name == "" || len(c.Name) > frame.NameMax:
		return c, fmt.Errorf("cluster: a node's name has 1 to %d bytes", frame.NameMax)
	case c.TLS == nil && !c.Plaintext:
		return c, errors.New("cluster: neither Config.TLS nor Config.Plaintext is set")
	case c.TLS != nil && c.Plaintext:
		return c, errors.New("cluster: both Config.TLS and Config.Plaintext are set")
	case c.Window < 256<<10:
		return c, errors.New("cluster: Config.Window is below 256 KiB")
	case c.Tracks < 1 || c.Tracks > tracksMax:
		return c, fmt.Errorf("cluster: Config.Tracks is not among 1 to %d", tracksMax)
	case c.Mailbox < 0:
		return c, errors.New("cluster: Config.Mailbox is below zero")
	case c.SpawnedMax < 0:
		return c, errors.New("cluster: Config.SpawnedMax is below zero")
	}
	if err := c.Timing.Check(); err != nil {
		return c, fmt.Errorf("cluster: Config.Timing has %w", err)
	}
	for node, all := range c.Spawners {
		for _, kind := range all {
			if _, ok := kinds.Load(kind); !ok || node == c.Name || node == "" {
				return c, fmt.Errorf("cluster: Config.Spawners: %q may spawn %q: no such node or kind", node, kind)
			}
		}
	}
	for name, address := range c.Peers {
		if name == c.Name || name == "" {
			return c, fmt.Errorf("cluster: Config.Peers has %q", name)
		}
		host, _, err := net.SplitHostPort(address)
		if err == nil {
			_, err = netip.ParseAddr(host)
		}
		if err != nil {
			return c, fmt.Errorf("cluster: Config.Peers: %s: %w", name, err)
		}
	}
	return c, nil
}
