package wire

import (
	"reflect"
	"testing"
)

// numbers64 is 64 bytes of numbers.
type numbers64 struct {
	A, B uint64
	C, D float64
	E    [4]int32
	F    [8]uint16
}

// An operation appends, or reads, one struct of 64 bytes.
func BenchmarkNumbers(b *testing.B) {
	c := mustOf(reflect.TypeFor[numbers64](), littleEndian)
	v := &numbers64{A: 1}
	in := Append(c, nil, v)
	b.Run("append", func(b *testing.B) {
		out := make([]byte, 0, 64)
		for b.Loop() {
			out = c.Append(out[:0], pointer(v))
		}
	})
	b.Run("read", func(b *testing.B) {
		var r Reader
		for b.Loop() {
			r.Reset(in)
			if c.Read(&r, pointer(v)) != nil {
				b.Fatal("can't read")
			}
		}
	})
}

// An operation appends, or reads, one struct with bytes, arrays and a hand-coded part.
func BenchmarkOrder(b *testing.B) {
	c := mustOf(reflect.TypeFor[order](), littleEndian)
	v := &order{ID: 1, Raw: make([]byte, 40)}
	in := Append(c, nil, v)
	b.Run("append", func(b *testing.B) {
		out := make([]byte, 0, 1024)
		for b.Loop() {
			out = c.Append(out[:0], pointer(v))
		}
	})
	b.Run("read", func(b *testing.B) {
		var r Reader
		for b.Loop() {
			r.Reset(in)
			*v = order{}
			if c.Read(&r, pointer(v)) != nil {
				b.Fatal("can't read")
			}
		}
	})
}
