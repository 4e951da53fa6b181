package session

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
)

// FuzzLink plays any events to a link, with HELLOs of any numbers: it never panics, each connection
// is closed once or was lost, and it doesn't ask for a Tick that changes nothing.
func FuzzLink(f *testing.F) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		events := make([]byte, 4*r.IntN(60))
		for i := range events {
			events[i] = byte(r.UintN(256))
		}
		f.Add(events)
	}
	f.Fuzz(func(t *testing.T, events []byte) {
		o := &owner{link: MakeLink(Node{"m", 5}, Node{Name: "n"}, 2, Timing{}), open: map[uint64]bool{}}
		for ; len(events) >= 4 && o.problem == ""; events = events[4:] {
			o.event(events[0], events[1], events[2], events[3])
			o.settle()
		}
		if o.problem != "" {
			t.Fatal(o.problem)
		}
	})
}

// owner is the owner of a link that knows of its connections only which there are.
type owner struct {
	link    Link
	now     int64
	open    map[uint64]bool // by number; dials, too
	problem string
}

// event is one event. Numbers of sessions and incarnations are low mostly, and may be the highest.
func (o *owner) event(what, a, b, c byte) {
	track := int(a & 1)
	conn := o.link.tracks[track].conn
	if b == 0xff {
		conn = uint64(c) // another, or none
	}
	h := &frame.Hello{Name: []byte("n"), Incarnation: number(a >> 1), Session: max(1, number(b)), Track: uint64(track), Tracks: 2, Position: number(c)}
	switch what % 10 {
	case 0:
		o.link.Want(track, b&1 == 0, o.now)
	case 1:
		o.link.Dialled(track, conn, o.now)
	case 2:
		if o.link.has(track, conn, Dialling) != nil {
			delete(o.open, conn)
		}
		o.link.Failed(track, conn, o.now)
	case 3:
		if o.link.tracks[track].conn == conn && o.link.State(track) >= Greeting {
			delete(o.open, conn)
		}
		o.link.Lost(track, conn, o.now)
	case 4:
		o.link.Heard(track, conn, o.now)
	case 5:
		h.Track = uint64(c & 1)
		_ = o.link.Greeted(track, conn, h, o.now)
	case 6, 7:
		if c > 250 {
			h.Name = []byte("m")
		}
		if conn, err := o.link.Accepted(h, o.now); conn != 0 {
			o.open[conn] = true
		} else if err == nil {
			o.problem = "a connection without a number is accepted"
		}
	case 8:
		o.link.Died(number(a))
	case 9:
		o.now += int64(b) * second / 4
		o.link.Tick(o.now)
		if at, ok := o.link.Wake(); ok && at <= o.now {
			o.problem = fmt.Sprintf("Tick at %d, and again at %d: %+v", o.now, at, o.link)
		}
	}
}

func number(b byte) uint64 {
	if b%16 == 15 {
		return math.MaxUint64 >> (b / 16)
	}
	return uint64(b % 16)
}

// settle does all duties, and compares the connections that there are with those of the link.
func (o *owner) settle() {
	for d := o.link.Next(); d.What != None; d = o.link.Next() {
		switch {
		case d.What == GiveUp:
		case d.What == Dial && o.open[d.Conn], d.What != Dial && !o.open[d.Conn]:
			o.problem = fmt.Sprintf("duty %s, open are %v", d.text(), o.open)
		case d.What == Dial:
			o.open[d.Conn] = true
		case d.What == Close:
			delete(o.open, d.Conn)
		case d.What == SendHello || d.What == Correct: // it mustn't panic
			h := frame.Hello{Name: []byte("m"), Session: d.Session, Track: uint64(d.Track), Tracks: 2}
			h.Append(nil)
		}
	}
	n := 0
	for i, t := range o.link.tracks {
		if (t.state == Down) != (t.conn == 0) || t.conn != 0 && !o.open[t.conn] {
			o.problem = fmt.Sprintf("track %d is %+v, open are %v", i, t, o.open)
		}
		if t.conn != 0 {
			n++
		}
	}
	if n != len(o.open) || o.link.session == 0 || o.link.session > sessionMax+1 {
		o.problem = fmt.Sprintf("%d connections, open are %v; session %d", n, o.open, o.link.session)
	}
}
