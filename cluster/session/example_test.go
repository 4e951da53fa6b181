package session_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Two frames are sent; a connection is lost after the first has come, and the second comes over the
// next one.
func Example() {
	var shard pool.Shard
	out, in := session.MakeOutgoing(0), session.MakeIncoming(0)
	for i := range 2 {
		tell := frame.Tell{To: 1, Method: 1, Message: fmt.Append(nil, "message ", i)}
		out.Append(&shard, tell.Append(nil))
	}

	receive := func(wire []byte) {
		for len(wire) > 0 {
			f, n, _ := frame.Next(wire)
			if n == 0 {
				break // a part of a frame: dropped with its connection
			}
			var tell frame.Tell
			_ = tell.Read(f)
			fmt.Printf("%s, to byte %d\n", tell.Message, in.Position()+uint64(n))
			in.Applied(f)
			wire = wire[n:]
		}
	}
	wire := out.Unsent(1 << 10)
	out.Sent(len(wire))
	receive(wire[:len(wire)-3])

	_ = out.Resume(in.Begin()) // by the HELLO of the next connection
	wire = out.Unsent(1 << 10)
	out.Sent(len(wire))
	receive(wire)

	_ = out.Acknowledge(in.Tell())
	fmt.Println(out.End())
	// Output:
	// message 0, to byte 16
	// message 1, to byte 32
	// {32 32 32}
}

// A link is dialled when a frame waits, and its connection is lost.
func ExampleLink() {
	self, peer := session.Node{Name: "a", Incarnation: 1}, session.Node{Name: "b"}
	link := session.MakeLink(self, peer, 1, session.Timing{})
	show := func() {
		for d := link.Next(); d.What != session.None; d = link.Next() {
			switch d.What {
			case session.Dial:
				fmt.Println("dial, as connection", d.Conn)
			case session.SendHello:
				fmt.Println("send HELLO, for session", d.Session)
			case session.Resume:
				fmt.Println("send from byte", d.Position)
			}
		}
	}
	link.Want(0, true, 0)
	show()
	link.Dialled(0, 1, 1e6)
	show()
	hello := frame.Hello{Name: []byte("b"), Incarnation: 1, Session: 1, Tracks: 1}
	fmt.Println(link.Greeted(0, 1, &hello, 2e6))
	show()
	link.Lost(0, 1, 3e6)
	at, _ := link.Wake()
	link.Tick(at)
	show()
	// Output:
	// dial, as connection 1
	// send HELLO, for session 1
	// <nil>
	// send from byte 0
	// dial, as connection 2
}
