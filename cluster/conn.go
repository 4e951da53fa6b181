package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// conn is a connection between two nodes, as its codec: what it decodes are frames, which it has
// done at once, and what it encodes is what there is to be sent. It is
//
//	unmet   the other end has said nothing
//	met     HELLO came. Without a track the connection is refused, and about to be closed
//	up      track is set: frames of its stream pass
//	over    of is nil
type conn struct {
	hub    *hub
	link   *link // nil: it was accepted, and is unmet
	track  *track
	index  int    // of its track
	number uint64 // in link; 0: it has none yet
	of     core.Endpoint[pull]
	met    bool
	said   bool   // HELLO was encoded
	speaks uint64 // the version of frames that both ends speak, once met

	hello   []byte // to be sent before all else
	pings   bool   // a PING is to be sent
	acks    bool   // an ACK is to be sent, though not so much has come that one is due
	ackedAt int64
	full    bool // the connection has refused a push for want of room
	closing bool // it is to be closed
	later   stack.Deferred
	need    int
}

// pull is what is pushed to a connection: that it may encode what is to be sent.
type pull struct{}

var (
	errHello    = errors.New("cluster: frames before HELLO was answered")
	errSelf     = errors.New("cluster: the other end has this node's name")
	errLinks    = errors.New("cluster: too many nodes are known")
	errAnother  = errors.New("cluster: it is of a link to another node, for which this one was dialled")
	errUnheard  = errors.New("cluster: the other end has ended the connection and said no HELLO")
	errNameless = errors.New("cluster: the other end's certificate doesn't have its node's name")
)

func newConn(h *hub, l *link) *conn {
	c := &conn{hub: h, link: l}
	c.later.Run = func(*stack.Deferred) { c.push() }
	return c
}

// Opened implements channel.Sender.
func (c *conn) Opened(of core.Endpoint[pull]) {
	if c.of = of; c.link == nil {
		tell(c.hub, on.greet, c)
	}
}

// Room implements channel.Sender.
func (c *conn) Room() {
	if c.full {
		c.full = false
		c.send()
	}
}

// Closed implements channel.Sender.
func (c *conn) Closed() {
	c.of, c.track = nil, nil
	if c.number != 0 {
		if !c.met && !c.closing {
			c.link.fails(errUnheard)
		}
		c.link.left(c)
	}
}

// greet has HELLO sent.
func (c *conn) greet(session, position uint64) {
	config := &c.hub.node.config
	h := frame.Hello{Name: []byte(config.Name), Incarnation: config.Incarnation, Session: session, Track: uint64(c.index), Tracks: uint64(config.Tracks), Position: position, Version: frame.Version}
	c.hello = h.Append(nil)
	c.send()
}

// shut has the connection closed at the end of the turn, behind what is to be sent.
func (c *conn) shut() {
	if c.track != nil && c.track.conn == c {
		c.track.conn = nil
	}
	c.track, c.closing = nil, true
	c.send()
}

// byeEnds is the code of BYE by which a node says that this life of it ends.
const byeEnds = 1

// send has what is to be sent pushed, at the end of the turn.
func (c *conn) send() {
	if !c.full || c.closing {
		c.hub.w.Defer(&c.later)
	}
}

// push pushes what is to be sent, as far as there is room.
func (c *conn) push() {
	for c.of != nil && !c.full && c.owes() {
		if err := c.of.Push(pull{}); err != nil {
			c.full = err == core.ErrMailboxFull
			break
		}
	}
	if c.of != nil && c.closing {
		c.of.Shut()
	}
}

// owes reports whether anything is to be sent.
func (c *conn) owes() bool {
	return c.hello != nil || c.pings || c.track != nil && (c.acks || c.track.in.Due() || len(c.track.out.Unsent(frame.FrameMax)) > 0)
}

// Size implements channel.Codec.
func (c *conn) Size(*pull, error) int {
	n := len(c.hello) + 64
	if c.track != nil {
		n += len(c.track.out.Unsent(frame.FrameMax))
	}
	return n
}

// Encode implements channel.Codec.
func (c *conn) Encode(out []byte, _ *pull, _ error) []byte {
	out = c.says(out)
	if c.pings {
		c.pings = false
		out = (&frame.Ping{Asks: true}).Append(out)
	}
	t := c.track
	if t == nil {
		return out
	}
	if t.in.Due() || c.acks || t.in.Untold() && c.hub.w.Now-c.ackedAt >= ackEvery {
		c.acks, c.ackedAt = false, c.hub.w.Now
		out = (&frame.Ack{Position: t.in.Tell()}).Append(out)
	}
	if b := t.out.Unsent(frame.FrameMax); len(b) > 0 {
		t.out.Sent(len(b))
		c.link.Used(c.hub.w.Now)
		out = append(out, b...)
	}
	return out
}

// Refuse implements channel.Codec, and channel.Sender: the other end hears if this node ends.
func (c *conn) Refuse(out []byte, err error) []byte {
	if err == core.ErrStopped && c.met {
		if out = c.says(out); c.said {
			out = (&frame.Bye{Code: byeEnds}).Append(out)
		}
	}
	return out
}

// says appends HELLO, if it is to be sent.
func (c *conn) says(out []byte) []byte {
	if c.hello != nil {
		out, c.hello, c.said = append(out, c.hello...), nil, true
	}
	return out
}

// Need implements channel.Codec.
func (c *conn) Need() int { return max(1, c.need) }

// Decode implements channel.Codec: it does what all whole frames in in say.
func (c *conn) Decode(in []byte, _ *nothing) (n int, err error) {
	if !c.met {
		n, err = c.meet(in)
	} else {
		n, err = c.receive(in)
	}
	switch {
	case n == 0 || err != nil:
	case c.track != nil && c.track.taken >= share:
		c.track.taken, err = 0, channel.ErrEnough
	default:
		err = channel.ErrSkip
	}
	return n, err
}

// meet reads the other end's HELLO.
func (c *conn) meet(in []byte) (n int, err error) {
	h, n, err := frame.NextHello(in)
	if n == 0 || err != nil {
		return 0, err
	}
	c.met, c.speaks = true, h.Common()
	name := string(h.Name)
	switch {
	case !c.isOf(name):
		err = errNameless
	case name == c.hub.node.config.Name:
		err = errSelf
	case c.link == nil:
		if l := c.hub.linkTo(name); l != nil {
			err = l.accepted(c, &h)
		} else {
			err = errLinks
		}
	case c.number == 0:
		err = errHello
	default:
		err = c.link.greeted(c, &h)
	}
	switch err {
	case nil, session.ErrTaken, session.ErrSession, session.ErrTrack: // which are no mistakes
	default:
		c.hub.w.Driver.Broken(fmt.Errorf("cluster: a connection of node %q is refused: %w", name, err))
	}
	return n, err
}

// isOf reports whether the other end is the node that it says it is.
func (c *conn) isOf(name string) bool {
	if c.hub.node.config.Plaintext {
		return true
	}
	state, secured := channel.TLSOf(core.PeerOf[pull](c.of))
	return secured && state.Version >= tls.VersionTLS13 && len(state.VerifiedChains) > 0 &&
		slices.Contains(state.PeerCertificates[0].DNSNames, name)
}

// ackEvery is how long a stream that moves, or has moved while the other one does, goes without an
// ACK at most, ns: where it takes long until one is due, the other end would take this one for
// lost; and where frames come the other way it sends no PING.
const ackEvery = int64(time.Second)

// share is how many messages a connection hands on before it leaves the rest of the turn to others:
// half as many as a worker handles in one. It looks behind each frame. What it hands on waits for
// actors then, and if it handed on all that has come, all that the other end may send would wait
// so, out of the processor's caches.
const share = 128

// receive does what frames say. What comes behind a refusal is passed over.
func (c *conn) receive(in []byte) (n int, err error) {
	if c.track == nil {
		return len(in), nil
	}
	t, now := c.track, c.hub.w.Now
	before := t.in.Position()
	n, err = t.receive(in)
	c.link.Heard(c.index, c.number, now)
	if t.in.Position() != before {
		c.link.Used(now)
		c.acks = c.acks || now-c.ackedAt >= ackEvery
	}
	if err != nil {
		c.link.breaks(c)
		return 0, err
	}
	if c.need = frame.Len(in[n:]); t.in.Due() || c.acks {
		c.send()
	}
	return n, nil
}
