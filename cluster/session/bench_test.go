package session

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/pool"
)

// BenchmarkFrame passes frames of 40 bytes through a stream, 100 at a time. One operation is a
// frame: written, sent, cut, applied, and acknowledged with others.
func BenchmarkFrame(b *testing.B) {
	var shard pool.Shard
	o, in := MakeOutgoing(0), MakeIncoming(0)
	f := tell(1, 40)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		o.Append(&shard, f)
		if n%100 > 0 {
			continue
		}
		for text := o.Unsent(1 << 16); len(text) > 0; text = o.Unsent(1 << 16) {
			o.Sent(len(text))
			for len(text) > 0 {
				r, n, err := frame.Next(text)
				if err != nil {
					b.Fatal(err)
				}
				in.Applied(r)
				text = text[n:]
			}
		}
		if in.Due() {
			if err := o.Acknowledge(in.Tell()); err != nil {
				b.Fatal(err)
			}
		}
	}
	o.End()
}
