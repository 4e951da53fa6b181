package frame

import (
	"bytes"
	"testing"
)

// FuzzFrames reads any bytes as the first frame of a stream: what is read is appended as the same
// bytes, aliases them, and no part of it is a frame.
func FuzzFrames(f *testing.F) {
	for _, b := range samples() {
		f.Add(b.Append(nil))
	}
	f.Add([]byte("\x00\x00\x02\xff\x01"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, n, err := Next(in)
		if n < 0 || n > len(in) || err != nil && n != 0 {
			t.Fatalf("Next(%x): %d, %v", in, n, err)
		}
		if n == 0 || !r.Kind.Known() {
			return
		}
		if _, part, err := Next(in[:n-1]); part != 0 || err != nil {
			t.Fatalf("Next(%x): %d, %v", in[:n-1], part, err)
		}
		b := makers[r.Kind]()
		if err := b.Read(r); err != nil {
			return
		}
		if again := b.Append(nil); !bytes.Equal(again, in[:n]) {
			t.Fatalf("%x is appended as %x", in[:n], again)
		}
		if e, ok := b.(*Tells); ok {
			for _, ok := e.Take(); ok; _, ok = e.Take() {
			}
		}
	})
}

// FuzzHello reads any bytes as the start of a connection.
func FuzzHello(f *testing.F) {
	f.Add(hello.Append(nil))
	f.Add([]byte("\xf5SH\x01\x00\x00\x09\x0d\x02\x01a\x01\x01\x00\x01\x00"))
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		h, n, err := NextHello(in)
		switch {
		case err != nil && n != 0, n < 0 || n > len(in):
			t.Fatalf("NextHello(%x): %d, %v", in, n, err)
		case n > 0 && h.Version <= Version && !bytes.Equal(h.Append(nil), in[:n]):
			t.Fatalf("%x is appended as %x", in[:n], h.Append(nil))
		case n == 0 && err == nil && len(in) > helloMax+len(magic):
			t.Fatalf("NextHello(%x) waits for more than a HELLO has", in)
		}
	})
}

// FuzzLong reads any bytes as a frame that has come in parts.
func FuzzLong(f *testing.F) {
	f.Add((&Tell{To: 1, Method: 2, Message: []byte("abc")}).Append(nil))
	f.Add((&Ping{}).Append(nil))
	f.Add([]byte("\x01\x00\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Long(in)
		if err == nil && (r.Len != len(in) || r.Outside() || len(r.Body) != len(in)-head) {
			t.Fatalf("Long(%x): %+v", in, r)
		}
	})
}
