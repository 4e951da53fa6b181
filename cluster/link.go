package cluster

import (
	"slices"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/stack"
)

// link is what a node has of one other: it does what the machine of its sessions says.
type link struct {
	session.Link
	hub     *hub
	name    string
	address string   // empty: it isn't known, so the other node must dial
	dials   []dialer // of each track
	conns   []*conn  // with a number, and not closed
	leftAt  int64    // when the last of them was

	// Of the session that there is, or the next:
	tracks   []*track
	bySerial map[uint64]*standIn
	turn     int // the number of the last stand-in's track

	// Of the sessions between two incarnations that are over, notices: those that this node wrote,
	// and those that came or were reported as missing.
	wrote, got uint64

	waiting int // bytes of calls of the other node that wait beside mailboxes

	settling bool
	ring     int64 // when the next alarm is; 0: there is none
}

func newLink(h *hub, name, address string) *link {
	c, kept := &h.node.config, h.counts.take(name)
	l := &link{hub: h, name: name, address: address, dials: make([]dialer, c.Tracks), wrote: kept.wrote, got: kept.got}
	l.Link = session.MakeLink(session.Node{Name: c.Name, Incarnation: c.Incarnation}, session.Node{Name: name, Incarnation: kept.life}, c.Tracks, c.Timing)
	for i := range l.dials {
		l.dials[i].init(l, i)
	}
	return l
}

// begin makes what a session has.
func (l *link) begin() {
	l.tracks, l.bySerial, l.turn = nil, map[uint64]*standIn{}, 0
	for i := range l.dials {
		l.tracks = append(l.tracks, newTrack(l, i))
	}
}

// control returns the control track: that of what hubs ask each other.
func (l *link) control() *track { return l.tracks[0] }

// next returns the track of the next stand-in: with several, the control track isn't among them.
func (l *link) next() *track {
	if n := l.Tracks(); n > 1 {
		l.turn = l.turn%(n-1) + 1
	}
	return l.tracks[l.turn]
}

// giveUp ends the session, because of err.
func (l *link) giveUp(err error) {
	for _, t := range l.tracks {
		t.giveUp(err)
	}
	l.bySerial = nil
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
	at, ok := l.Wake()
	if at = max(at, l.hub.w.Now); ok && (l.ring == 0 || at < l.ring) {
		l.ring = at
		tell(l.hub, on.alarm, alarm{l, at})
	}
}

func (l *link) do(d session.Duty) {
	c, t := l.conn(d.Conn), l.tracks[d.Track]
	switch d.What {
	case session.Dial:
		l.dials[d.Track].wants(d.Conn)
	case session.SendHello:
		c.greet(d.Session, t.in.Begin())
	case session.Correct:
		c.greet(d.Session, 0)
	case session.Resume:
		other := t.speaks != 0 && t.speaks != c.speaks // version than before
		if t.out.Resume(d.Position) != nil || other {  // one end has forgotten the session
			l.Broken(d.Track, d.Conn)
			return
		}
		c.track, t.conn, t.life, t.speaks = t, c, l.Peer().Incarnation, c.speaks
		t.resumed(d.Position)
		l.hub.node.failed.Delete(l.name)
		c.send()
	case session.SendPing:
		c.pings = true
		c.send()
	case session.Close:
		if c != nil {
			c.shut()
		} else {
			l.dials[d.Track].drops(d.Conn)
		}
	case session.GiveUp:
		err := ErrUnreachable
		if d.Reason == session.Dead {
			err = ErrNodeLost
		}
		l.giveUp(err)
		if d.Reason == session.Dead {
			l.wrote, l.got = 0, 0
		}
		l.begin()
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

// wants says whether a track needs a connection.
func (l *link) wants(track int, is bool) {
	l.Want(track, is, l.hub.w.Now)
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

// joins has the link know a connection, of a track.
func (l *link) joins(c *conn, track int, number uint64) {
	c.link, c.index, c.number = l, track, number
	l.conns = append(l.conns, c)
}

// left is the end of a connection.
func (l *link) left(c *conn) {
	for i, other := range l.conns {
		if other == c {
			l.conns = append(l.conns[:i], l.conns[i+1:]...)
		}
	}
	if t := l.tracks[c.index]; t.conn == c {
		t.conn = nil
	}
	l.leftAt = l.hub.w.Now
	l.Lost(c.index, c.number, l.hub.w.Now)
	l.settle()
}

// isIdle reports whether the other node may be forgotten.
func (l *link) isIdle() bool {
	wanted := func(t *track) bool { return t.wanted }
	return l.address == "" && len(l.conns) == 0 && !slices.ContainsFunc(l.tracks, wanted)
}

// accepted is a HELLO over a connection that the other end has dialled.
func (l *link) accepted(c *conn, h *frame.Hello) error {
	if l.isOfAnother(h) {
		return errAnother
	}
	number, err := l.Accepted(h, l.hub.w.Now)
	if number == 0 {
		return err
	}
	l.joins(c, int(h.Track), number)
	l.settle()
	return nil
}

// isOfAnother reports whether a HELLO is of the other end's link to another node, for which it has
// dialled this one: it has read less of the session than it had, and who dials forgets no session.
func (l *link) isOfAnother(h *frame.Hello) bool {
	return h.Incarnation == l.Peer().Incarnation && h.Session == l.Session() && h.Track < uint64(len(l.tracks)) &&
		l.State(int(h.Track)) != session.Up && h.Position < l.tracks[h.Track].out.Left().Acknowledged
}

// breaks is a frame that can't be: it would come again, and so would what it has done already.
func (l *link) breaks(c *conn) {
	l.Broken(c.index, c.number)
	l.settle()
}

// greeted is a HELLO over a connection that was dialled here.
func (l *link) greeted(c *conn, h *frame.Hello) error {
	err := l.Greeted(c.index, c.number, h, l.hub.w.Now)
	l.settle()
	return err
}
