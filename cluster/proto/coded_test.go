package proto

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/typepb"

	"github.com/stackhouse-go/stackhouse/core/wire"
)

// The methods of Sample are what vtprotobuf generates, written by hand; sample_pb_test.go is
// generated from testdata/sample.proto.

var errSample = errors.New("no sample")

// SizeVT implements coded.
func (m *Sample) SizeVT() int {
	if m == nil {
		return 0
	}
	return protowire.SizeTag(1) + protowire.SizeVarint(m.Number) + protowire.SizeTag(2) + protowire.SizeBytes(len(m.Text)) + len(m.unknownFields)
}

// MarshalToSizedBufferVT implements coded: it writes to the end of b.
func (m *Sample) MarshalToSizedBufferVT(b []byte) (int, error) {
	if m == nil {
		return 0, nil
	}
	if m.Text == "none" {
		return 0, errSample
	}
	if m.Text == "less" { // as if another goroutine had written to it
		m.Text = ""
	}
	text := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), m.Number)
	text = protowire.AppendString(protowire.AppendTag(text, 2, protowire.BytesType), m.Text)
	text = append(text, m.unknownFields...)
	return copy(b[len(b)-len(text):], text), nil
}

// UnmarshalVT implements coded.
func (m *Sample) UnmarshalVT(b []byte) error {
	for len(b) > 0 {
		number, _, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errSample
		}
		size := protowire.ConsumeFieldValue(number, protowire.VarintType, b[n:])
		switch number {
		case 1:
			m.Number, size = protowire.ConsumeVarint(b[n:])
		case 2:
			m.Text, size = protowire.ConsumeString(b[n:])
		default:
			m.unknownFields = append(m.unknownFields, b[:n+max(0, size)]...)
		}
		if size < 0 {
			return errSample
		}
		b = b[n+size:]
	}
	return nil
}

func (m *Nest) SizeVT() int                                { panic("it recurs") }
func (m *Nest) MarshalToSizedBufferVT([]byte) (int, error) { panic("it recurs") }
func (m *Nest) UnmarshalVT([]byte) error                   { panic("it recurs") }

// TestCodeOfItsOwn: a type that has generated code is written and read by it, behind whatever is
// there, with the bytes of package proto; what it can't read is an error, and what it can't write
// panics.
func TestCodeOfItsOwn(t *testing.T) {
	type two struct{ A, B *Sample }
	c, err := wire.For[two]()
	require.NoError(t, err)
	for _, room := range []int{0, 3, 100} {
		in := two{&Sample{Number: 1 << 40, Text: "a"}, &Sample{Text: "b"}}
		text := wire.Append(c, make([]byte, 2, 2+room), &in)
		var out two
		var r wire.Reader
		r.Reset(text[2:])
		require.NoError(t, wire.Read(c, &r, &out))
		require.True(t, proto.Equal(in.A, out.A))
		require.True(t, proto.Equal(in.B, out.B))
	}

	whole, err := wire.For[*Sample]()
	require.NoError(t, err)
	m := &Sample{Number: 7, Text: "\xff"} // which package proto refuses
	text := wire.Append(whole, nil, &m)
	var r wire.Reader
	r.Reset(text)
	var out *Sample
	require.NoError(t, wire.Read(whole, &r, &out))
	require.Equal(t, "\xff", out.Text)
	r.Reset(text[:len(text)-1])
	require.ErrorIs(t, wire.Read(whole, &r, &out), errSample)
	m.Text = "none"
	require.PanicsWithValue(t, errSample, func() { wire.Append(whole, nil, &m) })

	m = nil
	r.Reset(wire.Append(whole, nil, &m))
	require.NoError(t, wire.Read(whole, &r, &out))
	require.True(t, proto.Equal(&Sample{}, out), "of a nil pointer")
}

// TestChangedWhileItIsWritten: a message that is shorter than it has said panics, and no bytes are
// taken for its own.
func TestChangedWhileItIsWritten(t *testing.T) {
	c, err := wire.For[*Sample]()
	require.NoError(t, err)
	m := &Sample{Text: "less"}
	require.PanicsWithValue(t, "proto: a message has changed while it was written", func() { wire.Append(c, nil, &m) })
}

// TestStraightTypes: generated code is used for these alone.
func TestStraightTypes(t *testing.T) {
	for _, m := range []proto.Message{&Sample{}, &timestamppb.Timestamp{}, &typepb.EnumValue{}, &typepb.Type{}} {
		require.True(t, isStraight(m), "%T", m)
	}
	for _, m := range []proto.Message{
		&Nest{}, &structpb.Value{}, &structpb.ListValue{}, // within themselves
		&Counts{}, &Deep{}, // a map
		&descriptorpb.FieldOptions{}, // extensions
	} {
		require.False(t, isStraight(m), "%T", m)
	}
}

func isStraight(m proto.Message) bool {
	return straight(m.ProtoReflect().Descriptor(), nil, map[protoreflect.FullName]bool{})
}

// TestTypesThatRecur are read by package proto, which has a limit of how deep they are.
func TestTypesThatRecur(t *testing.T) {
	c, err := wire.For[*Nest]()
	require.NoError(t, err)
	in := &Nest{Nest: &Nest{}}
	var out *Nest
	var r wire.Reader
	r.Reset(wire.Append(c, nil, &in))
	require.NoError(t, wire.Read(c, &r, &out))
	require.True(t, proto.Equal(in, out))

	var sizes []int
	for n := 0; len(sizes) < 20_000; n += protowire.SizeTag(1) + protowire.SizeVarint(uint64(n)) {
		sizes = append(sizes, n)
	}
	var deep []byte
	for _, n := range slices.Backward(sizes) {
		deep = protowire.AppendVarint(protowire.AppendTag(deep, 1, protowire.BytesType), uint64(n))
	}
	r.Reset(deep)
	require.ErrorContains(t, wire.Read(c, &r, &out), "recursion")
}
