package frame

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestFramesAllocateNothing appends a frame of each kind, and reads it.
func TestFramesAllocateNothing(t *testing.T) {
	all := samples()
	out, envelope := make([]byte, 0, 1<<10), make([]byte, 0, 1<<10)
	into := make([]body, len(all))
	for i, b := range all {
		into[i] = makers[Kind(b.Append(nil)[3])]()
	}
	housetest.ZeroAlloc(t, 16_000, func(n int) {
		for range n / 16 {
			for i, b := range all {
				out = b.Append(out[:0])
				r, n, err := Next(out)
				if err != nil || n != len(out) || into[i].Read(r) != nil {
					panic("a good frame is refused")
				}
				if e, ok := into[i].(*Tells); ok {
					envelope = envelope[:0]
					for m, ok := e.Take(); ok; m, ok = e.Take() {
						envelope = AppendMessage(envelope, m)
					}
				}
			}
			out = hello.Append(out[:0])
			if _, n, err := NextHello(out); n != len(out) || err != nil {
				panic("a good HELLO is refused")
			}
		}
	})
}

// TestErrorsAllocateNothing: what strangers send costs no memory.
func TestErrorsAllocateNothing(t *testing.T) {
	in := [][]byte{[]byte("GET / HTTP/1.1"), []byte("\xf5SH\x02"), []byte("\x00\x00\x02\xff\x00"), []byte("\x00\x00\x03\x01\x00\x80")}
	var tell Tell
	housetest.ZeroAlloc(t, 4000, func(n int) {
		for range n / 4 {
			for _, in := range in {
				r, n, err := Next(in)
				if _, _, stranger := NextHello(in); stranger == nil || err == nil && n > 0 && tell.Read(r) == nil {
					panic("bad bytes are accepted")
				}
			}
		}
	})
}
