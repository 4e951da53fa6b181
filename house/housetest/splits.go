package housetest

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/stackhouse-go/stackhouse/channel"
)

// Decoder is what a channel.Codec and a channel.ClientCodec have in common: it reads requests, or
// replies.
type Decoder[T any] interface {
	Decode(in []byte, value *T) (n int, err error)
	Need() int
}

// RequireSplits requires that decoders made by create read the same from text wherever it is split
// in two, and byte by byte, as from the whole; and that they decode nothing before they have what
// they need.
func RequireSplits[T any](t testing.TB, create func() Decoder[T], text []byte) {
	t.Helper()
	whole := decodeAll(t, create(), text)
	for i := 1; i < len(text); i++ {
		if got := decodeAll(t, create(), text[:i], text[i:]); !reflect.DeepEqual(got, whole) {
			t.Fatalf("housetest: %.200q is decoded as %v, and split at byte %d as %v", text, whole, i, got)
		}
	}
	var single [][]byte
	for i := range text {
		single = append(single, text[i:i+1])
	}
	if got := decodeAll(t, create(), single...); !reflect.DeepEqual(got, whole) {
		t.Fatalf("housetest: %.200q is decoded as %v, and byte by byte as %v", text, whole, got)
	}
}

// decoded is what a decoder makes of a stream.
type decoded[T any] struct {
	Values []T
	Errors []string // of each value, or "<nil>", and the last one's that ends the stream
	Rest   int      // bytes that are no whole message
}

func decodeAll[T any](t testing.TB, d Decoder[T], pieces ...[]byte) (all decoded[T]) {
	t.Helper()
	var in []byte
	need := 0
	for _, p := range pieces {
		in = append(bytes.Clone(in), p...) // values refer to what was in before
		for len(in) > 0 {
			var value T
			n, err := d.Decode(in, &value)
			switch {
			case uint(n) > uint(len(in)):
				t.Fatalf("housetest: of %d bytes Decode took %d", len(in), n)
			case n > 0 && len(in) < need:
				t.Fatalf("housetest: Need said %d, and Decode took %d of %d bytes", need, n, len(in))
			}
			if need = 0; n == 0 && err == nil {
				if need = d.Need(); need < 1 {
					t.Fatalf("housetest: Need said %d", need)
				}
				break
			}
			if err != channel.ErrSkip && err != channel.ErrEnough || n == 0 {
				all.Errors = append(all.Errors, fmt.Sprint(err))
				if n == 0 {
					return all
				}
				all.Values = append(all.Values, value)
			}
			in = in[n:]
		}
	}
	all.Rest = len(in)
	return all
}
