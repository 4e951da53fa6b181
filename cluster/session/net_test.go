package session

import (
	"encoding/binary"
	"fmt"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/pool"
)

// node owns a link in the tests, with the streams of its tracks. A message carries which streams of
// the sender it was written to (its epoch), and its number in them.
type node struct {
	*net
	name   string
	link   Link
	shard  pool.Shard
	tracks []streams
	epoch  uint64
	given  []Reason // why sessions were given up
	log    map[uint64]*fate
	refuse map[error]int
}

// streams is those of one track.
type streams struct {
	out   Outgoing
	in    Incoming
	next  uint64 // number of the next message
	epoch uint64 // of the sender of what came; 0: nothing came
	got   uint64 // number of the next message to come
	line  *line  // over which frames go out
}

// fate is what became of the messages of one epoch, of track 0.
type fate struct{ written, delivered, reported uint64 }

// line is a connection, side 0 of which has dialled.
type line struct {
	track int
	ends  [2]*node
	conn  [2]uint64
	queue [2][][]byte // to each side; nil is the end
	over  [2]bool     // the side has closed, or has heard of the end
	mute  bool        // what is sent gets lost, unheard of
}

// dial is a dial that isn't a connection yet.
type dial struct {
	from  *node
	track int
	conn  uint64
}

// net is two nodes, and what is between them.
type net struct {
	nodes   [2]*node
	now     int64
	cant    string // who knows no address; empty: both do
	dials   []dial
	lines   []*line
	problem string
}

const (
	netWindow = 200
	netSlab   = 40
)

func makeNet(lower, upper int) *net {
	w := &net{}
	w.start(0, 1, lower)
	w.start(1, 1, upper)
	return w
}

var nodeNames = [2]string{"lower", "upper"}

// start begins a life of a node. The one before ends: connections are lost, not heard of here.
func (w *net) start(i int, incarnation uint64, tracks int) {
	n := &node{net: w, name: nodeNames[i], epoch: incarnation * 1000, log: map[uint64]*fate{}, refuse: map[error]int{}}
	n.link = MakeLink(Node{n.name, incarnation}, Node{Name: nodeNames[1-i]}, tracks, Timing{})
	for k := len(w.dials) - 1; k >= 0; k-- {
		if w.dials[k].from == w.nodes[i] {
			w.dials = append(w.dials[:k:k], w.dials[k+1:]...)
		}
	}
	for _, l := range w.lines {
		for side := range 2 {
			if l.ends[side] == w.nodes[i] && !l.over[side] {
				l.send(l.ends[side], nil)
				l.over[side] = true
			}
		}
	}
	w.nodes[i] = n
	n.fresh(tracks)
}

func (n *node) other() *node {
	if n.name == nodeNames[0] {
		return n.nodes[1]
	}
	return n.nodes[0]
}

func (n *node) fail(form string, args ...any) {
	if n.problem == "" {
		n.problem = n.name + ": " + fmt.Sprintf(form, args...)
	}
}

// fresh makes new streams.
func (n *node) fresh(tracks int) {
	n.epoch++
	n.log[n.epoch] = &fate{}
	n.tracks = nil
	for range tracks {
		n.tracks = append(n.tracks, streams{out: makeOutgoing(netWindow, netSlab), in: MakeIncoming(netWindow)})
	}
}

// write writes a message, if there is room.
func (n *node) write(track int) bool {
	s := &n.tracks[track]
	text := binary.AppendUvarint(binary.AppendUvarint(nil, n.epoch), s.next)
	f := (&frame.Tell{To: 1, Message: text}).Append(nil)
	if len(f) > s.out.Room() {
		return false
	}
	s.out.Append(&n.shard, f)
	s.next++
	if track == 0 {
		n.log[n.epoch].written++
	}
	n.settle()
	return true
}

// settle does duties until there is none, and sends what can be sent.
func (n *node) settle() {
	for i := range n.tracks {
		left := n.tracks[i].out.Left()
		if wanted := left.Acknowledged < left.End; wanted != n.link.tracks[i].wanted {
			n.link.Want(i, wanted, n.now)
		}
	}
	for d := n.link.Next(); d.What != None; d = n.link.Next() {
		n.do(d)
	}
	for i := range n.tracks {
		s := &n.tracks[i]
		for s.line != nil && len(s.out.Unsent(1<<10)) > 0 {
			b := s.out.Unsent(1 << 10)
			for len(b) > 0 {
				one := frame.Len(b)
				s.line.send(n, append([]byte(nil), b[:one]...))
				s.out.Sent(one)
				b = b[one:]
			}
			n.link.Used(n.now)
		}
		if s.line != nil && s.in.Due() {
			s.line.send(n, (&frame.Ack{Position: s.in.Tell()}).Append(nil))
		}
	}
	if at, ok := n.link.Wake(); ok && at < n.now && n.problem == "" {
		n.link.Tick(n.now)
		if at, ok := n.link.Wake(); ok && at <= n.now && n.link.done == len(n.link.duties) {
			n.fail("is awake at %d all the time: %+v", at, n.link.tracks)
		}
		n.settle()
	}
}

func (n *node) do(d Duty) {
	if d.What == GiveUp {
		n.given = append(n.given, d.Reason)
		for i := range n.tracks {
			s := &n.tracks[i]
			first := s.out.Left()
			if i == 0 {
				for at := first.Acknowledged; len(s.out.Kept(at)) > 0; {
					at += uint64(frame.Len(s.out.Kept(at)))
					n.log[n.epoch].reported++
				}
			}
			s.out.End()
		}
		if out(&n.shard) != 0 {
			n.fail("%d slabs aren't at home", out(&n.shard))
		}
		n.fresh(len(n.tracks))
		return
	}
	if d.What == Dial {
		if n.cant != n.name {
			n.dials = append(n.dials, dial{n, d.Track, d.Conn})
		}
		return
	}
	s := &n.tracks[d.Track]
	l, side := n.find(d.Conn)
	switch {
	case d.What == Close && l == nil:
		for i, one := range n.dials {
			if one.from == n && one.conn == d.Conn {
				n.dials = append(n.dials[:i:i], n.dials[i+1:]...)
			}
		}
	case l == nil:
		n.fail("%+v, and there is no such connection", d)
	case d.What == Close:
		n.hang(l, side)
	case d.What == SendHello || d.What == Correct:
		h := frame.Hello{Name: []byte(n.name), Incarnation: n.link.self.Incarnation, Session: d.Session, Track: uint64(d.Track), Tracks: uint64(len(n.tracks))}
		if d.What == SendHello {
			h.Position = s.in.Begin()
		}
		l.send(n, h.Append(nil))
	case d.What == SendPing:
		l.send(n, (&frame.Ping{Asks: true}).Append(nil))
	case d.What == Resume:
		if err := s.out.Resume(d.Position); err != nil {
			n.refuse[err]++
			n.hang(l, side)
			n.link.Lost(d.Track, d.Conn, n.now)
			return
		}
		s.line = l
	}
}

// find returns the connection with that number.
func (n *node) find(conn uint64) (*line, int) {
	for _, l := range n.lines {
		for side := range 2 {
			if l.ends[side] == n && l.conn[side] == conn {
				return l, side
			}
		}
	}
	return nil, 0
}

func (l *line) send(from *node, b []byte) {
	for side := range 2 {
		if l.ends[side] == from && !l.over[side] && !l.mute {
			l.queue[1-side] = append(l.queue[1-side], b)
		}
	}
}

// hang ends a connection at one side; the other hears of it.
func (n *node) hang(l *line, side int) {
	l.send(n, nil)
	l.over[side] = true
	n.off(l)
}

func (n *node) off(l *line) {
	for i := range n.tracks {
		if n.tracks[i].line == l {
			n.tracks[i].line = nil
		}
	}
}

// complete ends a dial, well or not.
func (w *net) complete(i int, well bool) {
	d := w.dials[i]
	w.dials = append(w.dials[:i:i], w.dials[i+1:]...)
	if !well {
		d.from.link.Failed(d.track, d.conn, w.now)
	} else {
		w.lines = append(w.lines, &line{track: d.track, ends: [2]*node{d.from, d.from.other()}, conn: [2]uint64{d.conn, 0}})
		d.from.link.Dialled(d.track, d.conn, w.now)
	}
	d.from.settle()
}

// deliver lets one side read what comes next.
func (w *net) deliver(l *line, side int) {
	n, b := l.ends[side], l.queue[side][0]
	l.queue[side] = l.queue[side][1:]
	switch {
	case l.over[side]:
		return
	case b == nil:
		l.over[side] = true
		n.off(l)
		n.link.Lost(l.track, l.conn[side], w.now)
	case b[0] == magic0:
		n.greet(l, side, b)
	default:
		n.link.Heard(l.track, l.conn[side], w.now)
		n.read(l, b)
	}
	n.settle()
}

const magic0 = 0xf5 // the first byte of a HELLO

func (n *node) greet(l *line, side int, b []byte) {
	h, _, err := frame.NextHello(b)
	if err != nil {
		n.fail("HELLO: %v", err)
		return
	}
	if side == 0 {
		if err = n.link.Greeted(l.track, l.conn[0], &h, n.now); err != nil {
			n.refuse[err]++
		}
		return
	}
	if l.conn[1], err = n.link.Accepted(&h, n.now); err != nil {
		n.refuse[err]++
		if l.conn[1] == 0 {
			n.hang(l, 1)
		}
	}
}

func (n *node) read(l *line, b []byte) {
	s := &n.tracks[l.track]
	if s.line != l {
		return // it isn't Up: what the other end sends before it knows
	}
	f, _, err := frame.Next(b)
	if err != nil {
		n.fail("%x: %v", b, err)
		return
	}
	if !f.Outside() {
		n.link.Used(n.now)
	}
	switch f.Kind {
	case frame.KindAck:
		var a frame.Ack
		_ = a.Read(f)
		if err := s.out.Acknowledge(a.Position); err != nil {
			n.fail("ACK of %d: %v", a.Position, err)
		}
	case frame.KindTell:
		var tell frame.Tell
		_ = tell.Read(f)
		epoch, digits := binary.Uvarint(tell.Message)
		number, _ := binary.Uvarint(tell.Message[digits:])
		if s.epoch == 0 {
			s.epoch = epoch
		}
		if epoch != s.epoch || number != s.got {
			n.fail("message %d of epoch %d comes where %d of %d should", number, epoch, s.got, s.epoch)
		}
		s.got++
		if l.track == 0 {
			if f := n.other().log[epoch]; f != nil { // otherwise from its life before
				f.delivered++
			}
		}
	}
	s.in.Applied(f)
}

// tick lets time pass up to a moment.
func (w *net) tick(to int64) {
	w.now = max(w.now, to)
	for _, n := range w.nodes {
		n.link.Tick(w.now)
		n.settle()
	}
}

// wake returns when a node is to be woken next.
func (w *net) wake() (at int64, ok bool) {
	for _, n := range w.nodes {
		if a, is := n.link.Wake(); is {
			sooner(&at, &ok, a)
		}
	}
	return at, ok
}

// lively lists what can be delivered: the line and the side that reads.
func (w *net) lively() (all [][2]int) {
	for i, l := range w.lines {
		for side := range 2 {
			if len(l.queue[side]) > 0 {
				all = append(all, [2]int{i, side})
			}
		}
	}
	return all
}

// agree returns what is wrong if the nodes don't have the same connection for a track, or another
// one besides.
func (w *net) agree(track int) string {
	a, b := w.nodes[0], w.nodes[1]
	one, other := a.tracks[track].line, b.tracks[track].line
	if one == nil || one != other || a.link.State(track) != Up || b.link.State(track) != Up || a.link.session != b.link.session {
		return fmt.Sprintf("no common connection: %+v, %+v", a.link.tracks, b.link.tracks)
	}
	for _, l := range w.lines {
		if l.track == track && l != one && !(l.over[0] && (l.over[1] || l.conn[1] == 0)) && !l.mute {
			return fmt.Sprintf("another connection: %v", l.over)
		}
	}
	return ""
}
