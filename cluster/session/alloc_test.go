package session

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/pool"
)

// TestSteadyStreamAllocatesNothing writes, sends, reads and acknowledges frames, and loses the
// connection now and then.
func TestSteadyStreamAllocatesNothing(t *testing.T) {
	var shard pool.Shard
	o, in := MakeOutgoing(1<<18), MakeIncoming(1<<18)
	f := tell(1, 1000)
	wire := make([]byte, 0, 1<<17)
	housetest.ZeroAlloc(t, 20_000, func(n int) {
		for i := range n {
			for o.Room() < len(f) {
				panic("the window is full")
			}
			o.Append(&shard, f)
			if i%50 != 0 {
				continue
			}
			if i%1000 == 0 && o.Resume(in.Begin()) != nil {
				panic("a good HELLO is refused")
			}
			wire = wire[:0]
			for b := o.Unsent(1 << 16); len(b) > 0; b = o.Unsent(1 << 16) {
				wire = append(wire, b...)
				o.Sent(len(b))
			}
			for rest := wire; len(rest) > 0; {
				r, n, err := frame.Next(rest)
				if err != nil || n == 0 {
					panic("the stream is spoiled")
				}
				in.Applied(r)
				rest = rest[n:]
			}
			if in.Due() && o.Acknowledge(in.Tell()) != nil {
				panic("a good ACK is refused")
			}
		}
	})
	o.End()
}

// TestLinkAllocatesNothing dials, greets, keeps alive, loses connections and gives sessions up.
func TestLinkAllocatesNothing(t *testing.T) {
	l := MakeLink(Node{"a", 1}, Node{Name: "b"}, 4, Timing{})
	h := frame.Hello{Name: []byte("b"), Incarnation: 1, Tracks: 4}
	now := int64(0)
	housetest.ZeroAlloc(t, 1000, func(n int) {
		for range n {
			h.Session = l.Session()
			for i := range l.tracks {
				l.Want(i, true, now)
				l.Tick(now)
				l.Dialled(i, l.tracks[i].conn, now)
				h.Track = uint64(i)
				if l.Greeted(i, l.tracks[i].conn, &h, now) != nil || l.State(i) != Up {
					panic("a good HELLO is refused")
				}
			}
			now += second
			l.Tick(now)
			l.Lost(0, l.tracks[0].conn, now)
			for range 100 {
				now += second
				l.Tick(now)
				for l.Next().What != None {
				}
			}
			if l.Session() == h.Session {
				panic("patience doesn't end")
			}
		}
	})
	if cap(l.duties) > 64 {
		t.Errorf("there is room for %d duties", cap(l.duties))
	}
}
