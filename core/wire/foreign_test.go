package wire

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
)

// alien is a type that knows nothing of this package.
type alien struct{ text string }

// alienCodec codes it: an empty text isn't allowed to arrive.
type alienCodec struct{}

var errAlien = errors.New("no text")

func (alienCodec) Name() string { return "an alien" }

func (alienCodec) Append(dst []byte, v any) []byte {
	if a := v.(*alien); a != nil {
		dst = append(dst, a.text...)
	}
	return dst
}

func (alienCodec) Read(r *Reader) any {
	b := r.Rest()
	if len(b) == 0 {
		r.Fail(errAlien)
		return nil
	}
	if string(b) == "other" {
		return new(int)
	}
	return &alien{string(b)}
}

func init() {
	Register(func(t reflect.Type) Foreign {
		if t.Kind() != reflect.Pointer {
			panic("only pointers are asked for")
		}
		if t == reflect.TypeFor[*alien]() {
			return alienCodec{}
		}
		return nil
	})
}

// TestForeign: a type that somebody else codes, as the whole, as a field and as elements.
func TestForeign(t *testing.T) {
	type holder struct {
		N   int16
		One *alien
		All []*alien
	}
	c, err := For[holder]()
	require.NoError(t, err)
	in := holder{1, &alien{"a"}, []*alien{{"b"}, {"c"}}}
	text := Append(c, nil, &in)
	require.Equal(t, "\x01\x00\x01a\x03\x01b\x01c", string(text))
	var r Reader
	var out holder
	r.Reset(text)
	require.NoError(t, Read(c, &r, &out))
	require.NoError(t, r.End())
	require.Equal(t, in, out)
	for n := range text {
		r.Reset(text[:n])
		out = holder{}
		require.Error(t, Read(c, &r, &out))
	}
	r.Reset([]byte("\x01\x00\x00\x00"))
	require.Equal(t, errAlien, Read(c, &r, &out))

	whole, err := For[*alien]()
	require.NoError(t, err)
	a := &alien{"text"}
	require.Equal(t, "text", string(Append(whole, nil, &a)))
	var b *alien
	r.Reset([]byte("text"))
	require.NoError(t, Read(whole, &r, &b))
	require.Equal(t, a, b)
	b = nil
	r.Reset([]byte("other"))
	require.NoError(t, Read(whole, &r, &b))
	require.Nil(t, b, "what is of another type is no value")
	var none *alien
	require.Empty(t, Append(whole, nil, &none))

	_, err = For[**alien]()
	require.ErrorContains(t, err, "no ptr can be sent")
	require.Contains(t, string(whole.AppendSchema(nil)), "an alien")
}

// buffered is as what protoc generates.
type buffered struct {
	_    int
	Text string
}

func (*buffered) ProtoReflect() {}

// TestForeignIsAdvised: whoever sends a message of protocol buffers, and hasn't imported what codes
// it, is told what to import.
func TestForeignIsAdvised(t *testing.T) {
	const advice = ": messages of protocol buffers cross as pointers, where cluster/proto is imported"
	type holder struct{ Of *buffered }
	for _, of := range []reflect.Type{reflect.TypeFor[*buffered](), reflect.TypeFor[holder](), reflect.TypeFor[buffered](), reflect.TypeFor[[]buffered]()} {
		_, err := Of(of)
		require.ErrorContains(t, err, advice, of)
	}
	for _, of := range []reflect.Type{reflect.TypeFor[**buffered](), reflect.TypeFor[*holder](), reflect.TypeFor[struct{ F func() }]()} {
		_, err := Of(of)
		require.Error(t, err)
		require.NotContains(t, err.Error(), advice, of)
	}
}

var thingKind = pool.NewKind("thing", pool.Layout{Size: unsafe.Sizeof(pool.Object{}), Fixed: pool.ObjectSize},
	func() *pool.Object { return &pool.Object{} }, func(*pool.Object) {})

// TestKeep: an object is put with what carries the value.
func TestKeep(t *testing.T) {
	var r Reader
	r.Reset(nil)
	require.Nil(t, r.Keep(thingKind), "nothing is lent")
	var shard pool.Shard
	var c pool.Carrier
	r.Lend(pool.Bytes{}, &c, &shard)
	a := r.Keep(thingKind)
	b := r.Keep(thingKind)
	require.False(t, a == b)
	c.Release()
	again := r.Keep(thingKind)
	require.True(t, again == a || again == b)
	c.Release()
}

// TestLengthsOfForeign: there is room for all digits of a length, however many there are.
func TestLengthsOfForeign(t *testing.T) {
	c, err := For[[1]*alien]()
	require.NoError(t, err)
	for _, n := range []int{1, 1<<7 - 1, 1 << 7, 1<<14 - 1, 1 << 14, 1<<21 - 1, 1 << 21} {
		in := [1]*alien{{strings.Repeat("x", n)}}
		text := Append(c, nil, &in)
		require.Equal(t, len(AppendUvarint(nil, uint64(n)))+n, len(text))
		var r Reader
		var out [1]*alien
		r.Reset(text)
		require.NoError(t, Read(c, &r, &out))
		require.NoError(t, r.End())
		require.True(t, in[0].text == out[0].text, n)
	}
}
