package cluster

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// link is what a node has of one other: it does what the machine of its sessions says.
type link struct {
	session.Link
	hub     *hub
	name    string
	address string // empty: it isn't known, so the other node must dial
	track   *track
	conns   []*conn // with a number, and not closed
	leftAt  int64   // when the last of them was

	dialer   channel.ConnectConfig[hub, nothing, pull]
	dialling bool   // Connect is under way: there is one at a time
	failed   bool   // one has since there was a connection, and the log has why
	opened   *conn  // by it; nil: none yet
	dial     uint64 // the number of the dial that is wanted; 0: none is

	// Of the sessions between two incarnations that are over, notices: those that this node wrote,
	// and those that came or were reported as missing.
	wrote, got uint64

	waiting int // bytes of calls of the other node that wait beside mailboxes

	settling bool
	ring     int64 // when the next alarm is; 0: there is none
}

func newLink(h *hub, name, address string) *link {
	c := &h.node.config
	l := &link{hub: h, name: name, address: address}
	l.Link = session.MakeLink(session.Node{Name: c.Name, Incarnation: c.Incarnation}, session.Node{Name: name}, 1, c.Timing)
	l.dialer.Config = h.wiring(address, func() channel.Codec[nothing, pull] {
		l.opened = newConn(h, l)
		return l.opened
	})
	l.dialer.Handler, l.dialer.ServerName = hubCarry, name
	return l
}

// settle does what the machine says, after each event.
func (l *link) settle() {
	if l.settling {
		return
	}
	l.settling = true
	func() {
		defer func() { l.settling = false }() // whatever panics
		for d := l.Next(); d.What != session.None; d = l.Next() {
			l.do(d)
		}
	}()
	if at, ok := l.Wake(); ok && (l.ring == 0 || at < l.ring) {
		l.ring = at
		tell(l.hub, on.alarm, alarm{l, at})
	}
}

func (l *link) do(d session.Duty) {
	c := l.conn(d.Conn)
	switch d.What {
	case session.Dial:
		if l.dial = d.Conn; l.address != "" { // or the other node dials, or patience ends
			l.beginDial()
		}
	case session.SendHello:
		c.greet(d.Session, l.track.in.Begin())
	case session.Correct:
		c.greet(d.Session, 0)
	case session.Resume:
		other := l.track.speaks != 0 && l.track.speaks != c.speaks // version than before
		if l.track.out.Resume(d.Position) != nil || other {        // one end has forgotten the session
			l.Broken(d.Track, d.Conn)
			return
		}
		c.track, l.track.conn, l.track.life, l.track.speaks = l.track, c, l.Peer().Incarnation, c.speaks
		l.track.resumed(d.Position)
		l.failed = false
		c.send()
	case session.SendPing:
		c.pings = true
		c.send()
	case session.Close:
		if c != nil {
			c.shut()
		} else if l.dial == d.Conn {
			l.dial = 0
		}
	case session.GiveUp:
		err := ErrUnreachable
		if d.Reason == session.Dead {
			err = ErrNodeLost
		}
		l.track.giveUp(err)
		if d.Reason == session.Dead {
			l.wrote, l.got = 0, 0
		}
		l.track = newTrack(l)
	}
}

// misses is a GAP: it tells of the notices that never came.
func (l *link) misses(g *frame.Gap) error {
	if g.Notices > l.got {
		(*stack.Topic[Gap])(&l.hub.node.Gaps).Publish(l.hub.w, Gap{l.name, l.got + 1, g.Notices})
		l.got = g.Notices
	}
	return nil
}

// ends is a BYE: this life of the other node is over.
func (l *link) ends(b *frame.Bye) error {
	if b.Code == byeEnds {
		l.Died(l.Peer().Incarnation)
		l.settle()
	}
	return nil
}

// conn returns the connection with a number; nil: it has none, or is closed.
func (l *link) conn(number uint64) *conn {
	for _, c := range l.conns {
		if c.number == number {
			return c
		}
	}
	return nil
}

// wants says whether the track needs a connection.
func (l *link) wants(is bool) {
	l.Want(0, is, l.hub.w.Now)
	l.settle()
}

// rings is the alarm for a time.
func (l *link) rings(at int64) {
	if l.ring == at {
		l.ring = 0
	}
	l.Tick(l.hub.w.Now)
	l.settle()
}

// beginDial has the hub dial, unless it does.
func (l *link) beginDial() {
	if !l.dialling {
		l.dialling = true
		tell(l.hub, on.dial, dial{l, l.dial})
	}
}

// dials opens a connection.
func (l *link) dials(s core.Running, f *core.Future[core.Peer[pull]]) {
	channel.Connect(s, f, &l.dialer)
}

// dialled is the end of a dial.
func (l *link) dialled(number uint64, err error) {
	c := l.opened
	l.opened, l.dialling = nil, false
	up := err == nil && c != nil && c.of != nil
	switch {
	case l.dial != number: // given up
		if up {
			c.shut()
		}
		if l.dial != 0 {
			l.beginDial()
		}
		return
	case up:
		l.joins(c, number)
		l.Dialled(0, number, l.hub.w.Now)
	default:
		if err != nil && !l.failed {
			l.failed = true
			l.hub.w.Driver.Broken(fmt.Errorf("cluster: node %q can't be reached at %s: %w", l.name, l.address, err))
		}
		l.Failed(0, number, l.hub.w.Now)
	}
	if l.dial == number {
		l.dial = 0
	}
	l.settle()
}

func (l *link) joins(c *conn, number uint64) {
	c.link, c.number = l, number
	l.conns = append(l.conns, c)
}

// left is the end of a connection.
func (l *link) left(c *conn) {
	for i, other := range l.conns {
		if other == c {
			l.conns = append(l.conns[:i], l.conns[i+1:]...)
		}
	}
	if l.track.conn == c {
		l.track.conn = nil
	}
	l.leftAt = l.hub.w.Now
	l.Lost(0, c.number, l.hub.w.Now)
	l.settle()
}

// isIdle reports whether the other node may be forgotten.
func (l *link) isIdle() bool {
	return l.address == "" && len(l.conns) == 0 && !l.dialling && !l.track.wanted
}

// accepted is a HELLO over a connection that the other end has dialled.
func (l *link) accepted(c *conn, h *frame.Hello) error {
	number, err := l.Accepted(h, l.hub.w.Now)
	if number == 0 {
		return err
	}
	l.joins(c, number)
	l.settle()
	return nil
}

// breaks is a frame that can't be: it would come again, and so would what it has done already.
func (l *link) breaks(c *conn) {
	l.Broken(0, c.number)
	l.settle()
}

// greeted is a HELLO over a connection that was dialled here.
func (l *link) greeted(c *conn, h *frame.Hello) error {
	err := l.Greeted(0, c.number, h, l.hub.w.Now)
	l.settle()
	return err
}
