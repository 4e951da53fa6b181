package proto

import (
	"bytes"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/pool"
)

// holder has messages within.
type holder struct {
	N    int
	At   *timestamppb.Timestamp
	All  []*wrapperspb.StringValue
	Last *durationpb.Duration
}

// TestMessages: they arrive as they were, as the whole and within others; nil comes out empty.
func TestMessages(t *testing.T) {
	c, err := wire.For[holder]()
	require.NoError(t, err)
	in := holder{7, &timestamppb.Timestamp{Seconds: 5, Nanos: 6}, []*wrapperspb.StringValue{wrapperspb.String("a"), nil, wrapperspb.String(strings.Repeat("b", 1000))}, nil}
	var out holder
	var r wire.Reader
	r.Reset(wire.Append(c, nil, &in))
	require.NoError(t, wire.Read(c, &r, &out))
	require.NoError(t, r.End())
	require.Equal(t, 7, out.N)
	require.True(t, proto.Equal(in.At, out.At))
	require.Len(t, out.All, 3)
	require.Equal(t, "a", out.All[0].Value)
	require.Equal(t, "", out.All[1].Value)
	require.Equal(t, 1000, len(out.All[2].Value))
	require.True(t, proto.Equal(&durationpb.Duration{}, out.Last))

	whole, err := wire.For[*timestamppb.Timestamp]()
	require.NoError(t, err)
	text := wire.Append(whole, nil, &in.At)
	want, err := proto.Marshal(in.At)
	require.NoError(t, err)
	require.Equal(t, want, text, "as anybody writes it")
	var at *timestamppb.Timestamp
	r.Reset(text)
	require.NoError(t, wire.Read(whole, &r, &at))
	require.True(t, proto.Equal(in.At, at))
}

// TestNames: a message is known by its name, whatever Go calls it.
func TestNames(t *testing.T) {
	a, err := wire.For[*timestamppb.Timestamp]()
	require.NoError(t, err)
	b, err := wire.For[*durationpb.Duration]()
	require.NoError(t, err)
	require.Contains(t, string(a.AppendSchema(nil)), "google.protobuf.Timestamp")
	_, err = a.Translate(a.AppendSchema(nil))
	require.NoError(t, err)
	_, err = b.Translate(a.AppendSchema(nil))
	require.ErrorContains(t, err, "google.protobuf.Timestamp")
	_, err = wire.For[*holder]()
	require.ErrorContains(t, err, "no ptr can be sent", "other pointers stay what they were")
}

// TestTextThatIsNoText panics, as AppendWire does that can't: the call ends.
func TestTextThatIsNoText(t *testing.T) {
	c, err := wire.For[*wrapperspb.StringValue]()
	require.NoError(t, err)
	bad := wrapperspb.String("\xff")
	require.Panics(t, func() { wire.Append(c, nil, &bad) })
}

var _ = Reuse[*wrapperspb.UInt64Value]()

// TestReuse: a message is put with what carries it, and used again without what was in it.
func TestReuse(t *testing.T) {
	require.True(t, Reuse[*wrapperspb.UInt64Value](), "a second call changes nothing")
	c, err := wire.For[*wrapperspb.UInt64Value]()
	require.NoError(t, err)
	var shard pool.Shard
	read := func(carrier *pool.Carrier, n uint64) *wrapperspb.UInt64Value {
		in := wrapperspb.UInt64(n)
		var r wire.Reader
		r.Reset(wire.Append(c, nil, &in))
		r.Lend(pool.Bytes{}, carrier, &shard)
		var out *wrapperspb.UInt64Value
		require.NoError(t, wire.Read(c, &r, &out))
		require.Equal(t, n, out.Value)
		return out
	}
	var one, two pool.Carrier
	a := read(&one, 5)
	b := read(&two, 6)
	require.False(t, a == b, "both are in use")
	require.EqualValues(t, 5, a.Value)
	one.Release()
	two.Release()
	first := read(&one, 0)
	require.True(t, first == a || first == b)
	require.Zero(t, first.Value)
	one.Release()

	// Nothing is lent: it is fresh.
	in := wrapperspb.UInt64(7)
	var r wire.Reader
	r.Reset(wire.Append(c, nil, &in))
	var out *wrapperspb.UInt64Value
	require.NoError(t, wire.Read(c, &r, &out))
	require.False(t, out == a || out == b)
}

// FuzzMessage: any bytes are a message or an error, and what is read can be appended.
func FuzzMessage(f *testing.F) {
	c, err := wire.For[*structpb.Value]()
	require.NoError(f, err)
	v, err := structpb.NewValue(map[string]any{"a": []any{1.5, "b", nil, true}})
	require.NoError(f, err)
	f.Add(wire.Append(c, nil, &v))
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, in []byte) {
		var r wire.Reader
		r.Reset(in)
		var out *structpb.Value
		if wire.Read(c, &r, &out) != nil {
			return
		}
		again := wire.Append(c, nil, &out)
		var back *structpb.Value
		r.Reset(again)
		require.NoError(t, wire.Read(c, &r, &back))
		require.True(t, proto.Equal(out, back) || bytes.Contains(again, []byte{0x11})) // NaN isn't itself
	})
}

// TestWorstFactor: how much memory the bytes of a message ask for, at worst. Package proto's budget
// isn't that of core/wire, so its page says it.
func TestWorstFactor(t *testing.T) {
	c, err := wire.For[*structpb.ListValue]()
	require.NoError(t, err)
	in := bytes.Repeat([]byte{0x0a, 0x00}, 100_000) // elements without anything in them
	var r wire.Reader
	var out *structpb.ListValue
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.Reset(in)
	require.NoError(t, wire.Read(c, &r, &out))
	runtime.ReadMemStats(&after)
	require.Len(t, out.Values, 100_000)
	factor := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(in))
	t.Logf("%.1f bytes for each", factor)
	require.Less(t, factor, 64.0)
	require.Equal(t, reflect.TypeFor[*structpb.ListValue](), reflect.TypeOf(out))
}
