package frame_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
)

// Two frames are sent, and cut from what has come.
func ExampleNext() {
	ask := frame.Ask{Slot: 1, To: 7, Method: 3, Remaining: 2e9, Message: []byte("GET a")}
	ping := frame.Ping{Asks: true}
	in := ping.Append(ask.Append(nil))
	for {
		r, n, err := frame.Next(in)
		if err != nil || n == 0 {
			break
		}
		switch r.Kind {
		case frame.KindAsk:
			var got frame.Ask
			err = got.Read(r)
			fmt.Printf("%s of %d bytes: %s, %v\n", r.Kind, n, got.Message, err)
		case frame.KindPing:
			var got frame.Ping
			err = got.Read(r)
			fmt.Printf("%s of %d bytes, outside the stream: %t, asks: %t, %v\n", r.Kind, n, r.Outside(), got.Asks, err)
		}
		in = in[n:]
	}
	// Output:
	// ASK of 19 bytes: GET a, <nil>
	// PING of 5 bytes, outside the stream: true, asks: true, <nil>
}
