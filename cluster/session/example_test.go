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
