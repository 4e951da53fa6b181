package proto

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/typepb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/pool"
)

func isFlat(m proto.Message) *flat {
	return flatOf(reflect.TypeOf(m).Elem(), m.ProtoReflect().Descriptor())
}

// TestFlatTypes are these alone.
func TestFlatTypes(t *testing.T) {
	for _, m := range []proto.Message{&Sample{}, &Bytes{}, &Scalars{}, &timestamppb.Timestamp{}, &wrapperspb.BytesValue{}, &wrapperspb.FloatValue{}, &emptypb.Empty{}} {
		require.NotNil(t, isFlat(m), "%T", m)
	}
	for _, m := range []proto.Message{
		&MaybeBytes{}, &Either{}, // may be absent
		&Nest{}, &Counts{}, &structpb.ListValue{}, &typepb.Type{}, // others within
		&Listed{}, &ListedBytes{}, &High{},
		&descriptorpb.FieldOptions{}, &descriptorpb.UninterpretedOption{},
	} {
		require.Nil(t, isFlat(m), "%T", m)
	}
	is := (&Bytes{}).ProtoReflect().Descriptor()
	require.NotNil(t, flatOf(structOf("state", "unknownFields", "sizeCache"), is))
	require.Nil(t, flatOf(structOf("state", "sizeCache"), is), "where are unknown fields?")
	require.Nil(t, flatOf(structOf("state", "unknownFields", "extensions"), is), "who empties the others?")
}

// structOf is the type of a struct with bytes, and others.
func structOf(names ...string) reflect.Type {
	var fields []reflect.StructField
	for _, name := range names {
		fields = append(fields, reflect.StructField{Name: name, PkgPath: "test", Type: reflect.TypeFor[[]byte]()})
	}
	return reflect.StructOf(append(fields, reflect.StructField{Name: "Data", Type: reflect.TypeFor[[]byte](), Tag: `protobuf:"bytes,1,opt,name=data,proto3"`}))
}

// scalars is a message that has all kinds of fields.
func scalars() *Scalars {
	return &Scalars{Yes: true, I32: math.MinInt32, I64: math.MinInt64, U32: math.MaxUint32, U64: math.MaxUint64, S32: math.MinInt32, S64: math.MinInt64,
		F32: 7, F64: 8, Sf32: -9, Sf64: -10, Single: -1.5, Double: math.Inf(1), Text: "a text", Data: []byte("some bytes"), Colour: Colour_RED, More: []byte("more")}
}

// TestFlatReadsAllKinds itself.
func TestFlatReadsAllKinds(t *testing.T) {
	want := scalars()
	text, err := proto.Marshal(want)
	require.NoError(t, err)
	var got Scalars
	require.True(t, isFlat(want).read(text, make([]byte, 0, len(text)), placeOf(&got)))
	require.True(t, proto.Equal(want, &got))
	require.False(t, isFlat(want).read(protowire.AppendTag(nil, flatMax+1, protowire.VarintType), nil, placeOf(&got)))
}

// FuzzFlat: a message is as package proto reads it from any bytes, also into one that is used
// again; so are errors.
func FuzzFlat(f *testing.F) {
	text, err := proto.Marshal(scalars())
	require.NoError(f, err)
	f.Add(text)
	f.Add(text[:len(text)-1])
	for i := range text { // each field as a first one, wrong bytes amid them
		f.Add(text[i:])
		f.Add(append(bytes.Clone(text[:i]), 0xff))
	}
	f.Add(append(bytes.Clone(text), text...))
	f.Add(protowire.AppendVarint(protowire.AppendTag(text, 99, protowire.VarintType), 1))
	between, data := protowire.Number(17), protowire.Number(15)
	f.Add(protowire.AppendVarint(protowire.AppendTag(nil, between, protowire.VarintType), 1))
	f.Add(protowire.AppendVarint(protowire.AppendTag(nil, data, protowire.VarintType), 1))
	f.Add(protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 2))
	f.Add(protowire.AppendString(protowire.AppendTag(nil, 14, protowire.BytesType), "\xff"))
	f.Add(protowire.AppendVarint(protowire.AppendTag(nil, 16, protowire.VarintType), 77))
	f.Add(protowire.AppendVarint(protowire.AppendTag(nil, 6, protowire.VarintType), math.MaxUint64))
	c := codecOf(reflect.TypeOf(&Scalars{})).(*codec)
	require.NotNil(f, c.flat)
	f.Fuzz(func(t *testing.T, text []byte) {
		var want Scalars
		wrong := proto.UnmarshalOptions{Merge: true}.Unmarshal(text, &want)
		used := scalars()
		c.flat.reset(placeOf(used))
		require.True(t, proto.Equal(&Scalars{}, used))
		for _, got := range []*Scalars{{}, used} {
			err := c.read(text, got, nil)
			require.Equal(t, wrong == nil, err == nil, "%v, %v", wrong, err)
			if err == nil {
				require.True(t, proto.Equal(&want, got), "%v, %v", &want, got)
			}
			c.flat.reset(placeOf(got))
			require.True(t, proto.Equal(&Scalars{}, got))
		}
	})
}

// again has a message read, its carrier put, and another one read.
func again[M proto.Message](t *testing.T, in, next M) (out M) {
	Reuse[M]()
	c, err := wire.For[M]()
	require.NoError(t, err)
	var shard pool.Shard
	for _, m := range []M{in, next} {
		var r wire.Reader
		var carrier pool.Carrier
		r.Reset(wire.Append(c, nil, &m))
		r.Lend(pool.Bytes{}, &carrier, &shard)
		require.NoError(t, wire.Read(c, &r, &out))
		require.True(t, proto.Equal(m, out))
		carrier.Release()
	}
	return out
}

// TestUsedAgain: nothing of a message is left for the next one.
func TestUsedAgain(t *testing.T) {
	require.Nil(t, again(t, &Bytes{Data: make([]byte, 512)}, &Bytes{}).Data)
	require.Nil(t, again(t, &MaybeBytes{Data: []byte("some")}, &MaybeBytes{}).Data)
	other := scalars()
	other.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1))
	again(t, other, &Scalars{})
	again(t, scalars(), &Scalars{})
}

// TestRoomIsTheirOwn: bytes of a message have no room behind them, and what somebody puts in their
// place isn't taken for theirs.
func TestRoomIsTheirOwn(t *testing.T) {
	Reuse[*Scalars]()
	c, err := wire.For[*Scalars]()
	require.NoError(t, err)
	var shard pool.Shard
	own := []byte("one's own")
	for i, in := range []*Scalars{{Data: []byte("ab"), More: []byte("cd")}, {Data: []byte("other bytes"), More: []byte("more")}} {
		var r wire.Reader
		var carrier pool.Carrier
		var out *Scalars
		r.Reset(wire.Append(c, nil, &in))
		r.Lend(pool.Bytes{}, &carrier, &shard)
		require.NoError(t, wire.Read(c, &r, &out))
		require.True(t, proto.Equal(in, out))
		if i == 0 {
			_ = append(out.Data, "xy"...)
			require.Equal(t, "cd", string(out.More))
			out.Data = own
		}
		carrier.Release()
	}
	require.Equal(t, "one's own", string(own))
}

// TestRoomIsBounded: a long message leaves none.
func TestRoomIsBounded(t *testing.T) {
	var r reused
	for _, n := range []int{1, 100, keptMax, keptMax + 1, 1 << 20, 100} {
		require.GreaterOrEqual(t, cap(r.roomFor(n)), n)
		require.LessOrEqual(t, cap(r.room), pool.Size(keptMax))
	}
	require.Equal(t, 100, cap((*reused)(nil).roomFor(100)))
}

// TestKeptRoomAllocatesNothing: no malloc for a million messages that are read.
func TestKeptRoomAllocatesNothing(t *testing.T) {
	n := 1_000_000
	if housetest.Slow {
		n = 10_000
	}
	Reuse[*Bytes]()
	c, err := wire.For[*Bytes]()
	require.NoError(t, err)
	in := &Bytes{Data: make([]byte, 64)}
	text := wire.Append(c, nil, &in)
	var shard pool.Shard
	var r wire.Reader
	var carrier pool.Carrier
	var out *Bytes
	housetest.ZeroAlloc(t, n, func(n int) {
		for range n {
			r.Reset(text)
			r.Lend(pool.Bytes{}, &carrier, &shard)
			if err := wire.Read(c, &r, &out); err != nil || len(out.Data) != 64 {
				t.Error(err)
			}
			carrier.Release()
		}
	})
}
