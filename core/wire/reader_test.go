package wire

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReaderReadsWhatAppendAppends(t *testing.T) {
	at := time.Unix(1e9, 7).UTC()
	var b []byte
	b = AppendUint8(b, 1)
	b = AppendUint16(b, 0xfffe)
	b = AppendUint32(b, 0xfffffffe)
	b = AppendUint64(b, math.MaxUint64-1)
	b = AppendUint(b, math.MaxUint)
	b = AppendInt8(b, -1)
	b = AppendInt16(b, math.MinInt16)
	b = AppendInt32(b, math.MinInt32)
	b = AppendInt64(b, math.MinInt64)
	b = AppendInt(b, math.MinInt)
	b = AppendFloat32(b, 1.5)
	b = AppendFloat64(b, -1.5)
	b = AppendBool(AppendBool(b, true), false)
	b = AppendString(b, "text")
	b = AppendBytes(b, []byte("bytes"))
	b = AppendBytes(AppendBytes(b, nil), []byte{})
	b = AppendBytes(b, []byte("pool"))
	b = AppendTime(b, at)
	b = AppendCount(AppendCount(b, 0, true), 3, false)
	for v := uint64(0); v < 1<<63; v += v/2 + 1 {
		b = AppendVarint(AppendVarint(AppendUvarint(b, v), int64(v)), -int64(v))
	}
	b = AppendVarint(AppendUvarint(b, math.MaxUint64), math.MinInt64)

	var r Reader
	r.Reset(b)
	require.Equal(t, len(b), r.Len())
	require.Equal(t, uint8(1), r.Uint8())
	require.Equal(t, uint16(0xfffe), r.Uint16())
	require.Equal(t, uint32(0xfffffffe), r.Uint32())
	require.Equal(t, uint64(math.MaxUint64-1), r.Uint64())
	require.Equal(t, uint(math.MaxUint), r.Uint())
	require.Equal(t, int8(-1), r.Int8())
	require.Equal(t, int16(math.MinInt16), r.Int16())
	require.Equal(t, int32(math.MinInt32), r.Int32())
	require.Equal(t, int64(math.MinInt64), r.Int64())
	require.Equal(t, math.MinInt, r.Int())
	require.Equal(t, float32(1.5), r.Float32())
	require.Equal(t, -1.5, r.Float64())
	require.True(t, r.Bool())
	require.False(t, r.Bool())
	require.Equal(t, "text", r.String())
	require.Equal(t, "bytes", string(r.Bytes()))
	require.Nil(t, r.Bytes())
	require.Equal(t, []byte{}, r.Bytes())
	require.Equal(t, "pool", string(r.PoolBytes().B()))
	require.Equal(t, at, r.Time())
	n, none := r.Count(1, 1)
	require.Equal(t, 0, n)
	require.True(t, none)
	n, none = r.Count(1, 1)
	require.Equal(t, 3, n)
	require.False(t, none)
	for v := uint64(0); v < 1<<63; v += v/2 + 1 {
		require.Equal(t, v, r.Uvarint())
		require.Equal(t, int64(v), r.Varint())
		require.Equal(t, -int64(v), r.Varint())
	}
	require.Equal(t, uint64(math.MaxUint64), r.Uvarint())
	require.Equal(t, int64(math.MinInt64), r.Varint())
	require.NoError(t, r.End())
}

// TestFirstErrorStays: then all is zero, and nothing is left.
func TestFirstErrorStays(t *testing.T) {
	wrong := errors.New("wrong")
	for _, spoil := range []func(r *Reader) error{
		func(r *Reader) error { r.Fail(wrong); return wrong },
		func(r *Reader) error { r.Bool(); return ErrBool },
		func(r *Reader) error { r.Uint64(); r.Uint64(); return ErrTruncated },
		func(r *Reader) error { require.Equal(t, ErrTrailing, r.End()); return ErrTrailing },
		func(r *Reader) error { r.Uint16(); r.Uvarint(); return ErrVarint },
	} {
		var r Reader
		r.Reset([]byte("\x02\x01\x80\x00\x01\x01\x01\x01\x01\x01"))
		want := spoil(&r)
		require.Equal(t, want, r.Err())
		require.Zero(t, r.Len())
		require.Zero(t, r.Uint8())
		require.Zero(t, r.Uint16())
		require.Zero(t, r.Uint32())
		require.Zero(t, r.Uint64())
		require.Zero(t, r.Int())
		require.Zero(t, r.Uint())
		require.False(t, r.Bool())
		require.Zero(t, r.Uvarint())
		require.Zero(t, r.Varint())
		require.Zero(t, r.Time())
		require.Zero(t, r.String())
		require.Nil(t, r.Bytes())
		require.Zero(t, r.PoolBytes())
		n, none := r.Count(1, 1)
		require.Zero(t, n)
		require.True(t, none)
		r.Fail(errors.New("another"))
		require.Equal(t, want, r.Err())
		require.Equal(t, want, r.End())
	}
	require.PanicsWithValue(t, "wire: Fail with a nil error", func() { new(Reader).Fail(nil) })
}

func TestNumbersThatDontFit(t *testing.T) {
	for _, v := range []int64{math.MinInt32, math.MaxInt32, 0} {
		require.True(t, fitsInt(v, math.MinInt32, math.MaxInt32))
	}
	for _, v := range []int64{math.MinInt32 - 1, math.MaxInt32 + 1, math.MinInt64, math.MaxInt64} {
		require.False(t, fitsInt(v, math.MinInt32, math.MaxInt32))
		var r Reader
		r.Reset(AppendInt64(nil, v))
		if got := r.Int(); narrow {
			require.Equal(t, ErrRange, r.Err())
		} else {
			require.Equal(t, int(v), got)
		}
	}
	require.True(t, fitsUint(math.MaxUint32, math.MaxUint32))
	require.False(t, fitsUint(math.MaxUint32+1, math.MaxUint32))
	var r Reader
	r.Reset(AppendUint64(nil, math.MaxUint64))
	if got := r.Uint(); narrow {
		require.Equal(t, ErrRange, r.Err())
	} else {
		require.Equal(t, uint(math.MaxUint), got)
	}
}

func TestCount(t *testing.T) {
	var r Reader
	in := append(AppendCount(nil, 3, false), "abcdef"...)
	for _, c := range []struct {
		least  int
		size   uintptr
		budget int
		err    error
	}{
		{2, 8, 24, nil}, {3, 8, 24, ErrTruncated}, {2, 8, 23, ErrBudget}, {1, 0, 0, nil}, {0, 0, 0, nil},
		{1, math.MaxInt, math.MaxInt, ErrBudget},
	} {
		r.Reset(in)
		r.SetBudget(c.budget)
		n, none := r.Count(c.least, c.size)
		require.Equal(t, c.err, r.Err(), "%+v", c)
		require.Equal(t, c.err != nil, none)
		if c.err == nil {
			require.Equal(t, 3, n)
			require.Equal(t, c.budget-3*int(c.size), r.Budget())
		} else {
			require.Zero(t, n)
		}
	}
}

// failing is coded by hand, and finds its byte wrong.
type failing struct{ b byte }

var errFailing = errors.New("failing")

func (f *failing) AppendWire(dst []byte) []byte { return append(dst, f.b) }
func (f *failing) ReadWire(r *Reader) error {
	if f.b = r.Uint8(); f.b == 9 {
		return errFailing
	}
	return nil // even if r has an error
}

func TestErrorOfReadWire(t *testing.T) {
	c, err := For[[]failing]()
	require.NoError(t, err)
	for in, want := range map[string]error{
		"\x03\x01\x01\x01\x02": nil, "\x03\x01\x09\x01\x02": errFailing, "\x03\x01\x01\x01\x09": errFailing,
		"\x03\x00\x01\x01": ErrTruncated, "\x02\x02\x01\x01": ErrTrailing,
	} {
		_, err := read(c, []byte(in))
		require.Equal(t, want, err, "%q", in)
	}
	top, err := For[failing]()
	require.NoError(t, err)
	_, err = read(top, []byte{9})
	require.Equal(t, errFailing, err)
	_, err = read(top, nil)
	require.Equal(t, ErrTruncated, err)
}

// sparse is coded by hand, and reads no zero into its field.
type sparse struct{ n uint8 }

func (s *sparse) AppendWire(dst []byte) []byte { return AppendUint8(dst, s.n) }
func (s *sparse) ReadWire(r *Reader) error {
	if n := r.Uint8(); n != 0 {
		s.n = n
	}
	return r.Err()
}

func TestReadWireGetsZeros(t *testing.T) {
	c, err := For[map[sparse]sparse]()
	require.NoError(t, err)
	v, err := read(c, []byte("\x04\x01\x01\x01\x01\x01\x00\x01\x00\x01\x02\x01\x02"))
	require.NoError(t, err)
	require.Equal(t, map[sparse]sparse{{1}: {1}, {0}: {0}, {2}: {2}}, v.Interface())
}

// TestLengthsOfCoded: a value of any length is behind its length, in as few digits as there are.
func TestLengthsOfCoded(t *testing.T) {
	c, err := For[[]point]()
	require.NoError(t, err)
	for _, n := range []int{1, 115, 116, 117, 118, 119, 127, 128, 8181, 8182, 8183, 16_373, 16_374, 16_375, 16_384, 70_000} {
		v := []point{{1, 2, make([]byte, n)}, {3, 4, nil}}
		own := v[0].AppendWire(nil)
		want := append(append(AppendUvarint([]byte{3}, uint64(len(own))), own...), "\x09\x03\x00\x00\x00\x04\x00\x00\x00\x00"...)
		require.Equal(t, want, Append(c, nil, &v), n)
		got, err := read(c, want)
		require.NoError(t, err)
		require.Equal(t, v, got.Interface())
	}
}

// outer is coded by hand, but for a field, which has a codec.
type outer struct {
	rest  string
	inner inner
}

type inner struct {
	A uint16
	B []string
}

var innerCodec, _ = For[inner]()

func (o *outer) AppendWire(dst []byte) []byte {
	return AppendString(Append(innerCodec, dst, &o.inner), o.rest)
}

func (o *outer) ReadWire(r *Reader) error {
	_ = Read(innerCodec, r, &o.inner)
	o.rest = r.String()
	return r.Err()
}

func TestCodecWithinReadWire(t *testing.T) {
	c, err := For[[]outer]()
	require.NoError(t, err)
	v := []outer{{"a", inner{1, []string{strings.Repeat("b", 1000)}}}, {"c", inner{2, nil}}}
	got, err := read(c, Append(c, nil, &v))
	require.NoError(t, err)
	require.Equal(t, v, got.Interface())
}

// TestResetForgets all of the message before, also if a ReadWire has panicked in it.
func TestResetForgets(t *testing.T) {
	b := lent(make([]byte, 8), 16)
	r := &b.r
	r.err, r.names, r.chunk, r.used, r.shared, r.reading, r.counted = ErrBool, &book{}, b.slab, 3, true, true, true
	in := []byte{1}
	r.ResetWithin(in, 5)
	require.Equal(t, Reader{in: in, budget: 5}, *r)
}
