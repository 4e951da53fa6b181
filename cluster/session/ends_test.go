package session

import (
	"bytes"
	"fmt"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/pool"
)

// end is one end of a session of one track: what it writes and reads, over the connection that
// there is. Its frames are numbered by a byte each, so that the other end sees what is lost, comes
// twice or out of order.
type end struct {
	name  string
	shard *pool.Shard
	out   Outgoing
	in    Incoming

	sizes   []int // of the frames to write
	wrote   int   // how many were
	got     int   // how many came
	want    []int // their sizes: the other end's
	problem string

	// The connection.
	met    bool   // HELLO came
	wire   []byte // to the other end, on its way
	buffer []byte // came, not read
	room   int    // how much wire may hold before it takes no more of the stream
}

// connect begins a new connection: what was on its way over the one before is lost.
func (e *end) connect() {
	h := frame.Hello{Name: []byte(e.name), Session: 1, Tracks: 1, Position: e.in.Begin()}
	e.met, e.buffer = false, e.buffer[:0]
	e.wire = h.Append(e.wire[:0])
}

// write writes what the window takes, and sends what the connection takes.
func (e *end) write() {
	for e.wrote < len(e.sizes) && e.sizes[e.wrote] <= e.out.Room() {
		e.out.Append(e.shard, tell(e.wrote, e.sizes[e.wrote]))
		e.wrote++
	}
	for e.met {
		b := e.out.Unsent(e.room - len(e.wire))
		if len(b) == 0 {
			break
		}
		e.wire = append(e.wire, b...)
		e.out.Sent(len(b))
	}
	if used := e.out.n * e.out.size; used > e.out.window+e.out.size {
		e.fail("%d bytes of memory for a window of %d", used, e.out.window)
	}
}

// acknowledge sends an ACK if one is due.
func (e *end) acknowledge() {
	if e.met && e.in.Due() {
		ack := frame.Ack{Position: e.in.Tell()}
		e.wire = ack.Append(e.wire)
	}
}

// ask asks for an ACK.
func (e *end) ask() {
	if e.met {
		e.wire = (&frame.Ping{Asks: true}).Append(e.wire)
	}
}

// read reads what has come.
func (e *end) read() {
	if !e.met {
		h, n, err := frame.NextHello(e.buffer)
		if err != nil {
			e.fail("HELLO: %v", err)
		}
		if n == 0 {
			return
		}
		if err := e.out.Resume(h.Position); err != nil {
			e.fail("resume at %d: %v", h.Position, err)
		}
		e.met, e.buffer = true, append(e.buffer[:0], e.buffer[n:]...)
	}
	from := 0
	for e.problem == "" {
		f, n, err := frame.Next(e.buffer[from:])
		if err != nil {
			e.fail("%x: %v", e.buffer[from:], err)
		}
		if n == 0 {
			break
		}
		from += n
		e.handle(f)
		e.in.Applied(f)
	}
	e.buffer = append(e.buffer[:0], e.buffer[from:]...)
}

func (e *end) handle(f frame.Raw) {
	switch f.Kind {
	case frame.KindAck:
		var a frame.Ack
		if err := a.Read(f); err != nil {
			e.fail("ACK: %v", err)
		} else if err := e.out.Acknowledge(a.Position); err != nil {
			e.fail("ACK of %d: %v", a.Position, err)
		}
	case frame.KindPing:
	default:
		if e.got == len(e.want) {
			e.fail("a frame that nobody wrote, %x", f.Body)
			return
		}
		if want := tell(e.got, e.want[e.got])[5:]; !bytes.Equal(want, f.Body) {
			e.fail("frame %d is %x, want %x", e.got, f.Body, want)
		}
		e.got++
	}
}

func (e *end) fail(form string, args ...any) {
	if e.problem == "" {
		e.problem = e.name + ": " + fmt.Sprintf(form, args...)
	}
}

// done reports whether all that the end writes and reads has arrived, and was acknowledged.
func (e *end) done() bool {
	left := e.out.Left()
	return e.wrote == len(e.sizes) && e.got == len(e.want) && left.Acknowledged == left.End
}

// pair is the two ends of a session.
type pair struct {
	a, b        *end
	connections int
}

func makePair(window, size, room int, aSizes, bSizes []int) *pair {
	make := func(name string, sizes, want []int) *end {
		return &end{name: name, shard: new(pool.Shard), out: makeOutgoing(window, size), in: MakeIncoming(window), sizes: sizes, want: want, room: room}
	}
	return &pair{a: make("a", aSizes, bSizes), b: make("b", bSizes, aSizes)}
}

func (p *pair) problem() string {
	if p.a.problem != "" {
		return p.a.problem
	}
	return p.b.problem
}

// carry carries n bytes from one end to the other.
func carry(from, to *end, n int) (carried int) {
	n = min(n, len(from.wire))
	to.buffer = append(to.buffer, from.wire[:n]...)
	from.wire = append(from.wire[:0], from.wire[n:]...)
	return n
}

// connect begins a connection between them.
func (p *pair) connect() {
	p.connections++
	p.a.connect()
	p.b.connect()
}

// progress is a number that grows with each frame that comes, and each that is acknowledged.
func (p *pair) progress() uint64 {
	return uint64(p.a.got+p.b.got) + p.a.out.Left().Acknowledged + p.b.out.Left().Acknowledged
}

// finish checks what is left when all is delivered: nothing.
func (p *pair) finish() string {
	for _, e := range []*end{p.a, p.b} {
		if e.problem == "" && !e.done() {
			e.fail("stuck: %d of %d written, %d of %d came, %+v", e.wrote, len(e.sizes), e.got, len(e.want), e.out.Left())
		}
		if e.out.End(); out(e.shard) != 0 {
			e.fail("%d slabs aren't at home", out(e.shard))
		}
	}
	return p.problem()
}
