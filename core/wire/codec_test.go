package wire

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
)

// row is a value, and the bytes that peers of all machines and versions know it by.
type row struct {
	value any
	bytes string
}

func TestBytesOfEachKind(t *testing.T) {
	type inner struct {
		A bool
		B uint16
	}
	type hidden struct {
		A    int8
		_    string `wire:"-"`
		Func func() `wire:"-"`
		Z    uint8
	}
	for _, r := range []row{
		{true, "\x01"},
		{false, "\x00"},
		{int8(-2), "\xfe"},
		{int16(-2), "\xfe\xff"},
		{int32(-2), "\xfe\xff\xff\xff"},
		{int64(-2), "\xfe\xff\xff\xff\xff\xff\xff\xff"},
		{int(-2), "\xfe\xff\xff\xff\xff\xff\xff\xff"},
		{uint8(0xab), "\xab"},
		{uint16(0x0102), "\x02\x01"},
		{uint32(0x01020304), "\x04\x03\x02\x01"},
		{uint64(0x0102030405060708), "\x08\x07\x06\x05\x04\x03\x02\x01"},
		{uint(0x01020304), "\x04\x03\x02\x01\x00\x00\x00\x00"},
		{float32(1), "\x00\x00\x80\x3f"},
		{1.0, "\x00\x00\x00\x00\x00\x00\xf0\x3f"},
		{math.Float64frombits(0x7ff0dead0000beef), "\xef\xbe\x00\x00\xad\xde\xf0\x7f"},
		{complex64(complex(1, -1)), "\x00\x00\x80\x3f\x00\x00\x80\xbf"},
		{complex(1, -1), "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\xf0\xbf"},
		{"", "\x00"},
		{"a\xff", "\x02a\xff"},
		{strings.Repeat("x", 128), "\x80\x01" + strings.Repeat("x", 128)},
		{[]byte(nil), "\x00"},
		{[]byte{}, "\x01"},
		{[]byte("ab"), "\x03ab"},
		{pool.Bytes{}, "\x00"},
		{new(pool.Shard).Copy([]byte("a")), "\x02a"},
		{new(pool.Shard).Copy([]byte("ab")), "\x03ab"},
		{[]uint16(nil), "\x00"},
		{[]uint16{}, "\x01"},
		{[]uint16{1, 2}, "\x03\x01\x00\x02\x00"},
		{[]bool{true, false}, "\x03\x01\x00"},
		{[]string{"a", ""}, "\x03\x01a\x00"},
		{[2]uint16{1, 2}, "\x01\x00\x02\x00"},
		{[0]string{}, ""},
		{[]struct{}{{}, {}}, "\x03\x00\x00"},
		{[][0]int{{}}, "\x02\x00"},
		{map[uint8]uint16(nil), "\x00"},
		{map[uint8]uint16{}, "\x01"},
		{map[uint8]uint16{7: 8}, "\x02\x07\x08\x00"},
		{map[struct{}]struct{}{{}: {}}, "\x02\x00"},
		{map[struct{}]uint8{{}: 5}, "\x02\x05"},
		{inner{true, 0x0102}, "\x01\x02\x01"}, // without what lies between fields in memory
		{[]inner{{true, 1}, {false, 2}}, "\x03\x01\x01\x00\x00\x02\x00"},
		{hidden{A: 1, Z: 2}, "\x01\x02"},
		{time.Unix(1, 2).UTC(), "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00"},
		{time.Unix(-1, 0).UTC(), "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"},
		{time.Time{}, "\x00\x09\x6e\x88\xf1\xff\xff\xff\x00\x00\x00\x00"},
		{time.Duration(3), "\x03\x00\x00\x00\x00\x00\x00\x00"},
		{point{x: 1, y: 2}, "\x01\x00\x00\x00\x02\x00\x00\x00\x00"},
		{[]point{{x: 1, y: 2}}, "\x02\x09\x01\x00\x00\x00\x02\x00\x00\x00\x00"},
	} {
		about := fmt.Sprintf("%T %v", r.value, r.value)
		v := reflect.New(reflect.TypeOf(r.value))
		v.Elem().Set(reflect.ValueOf(r.value))
		for _, flat := range []bool{true, false} {
			c := mustOf(v.Elem().Type(), flat)
			require.Equal(t, r.bytes, string(c.Append(nil, v.UnsafePointer())), about)
			back, err := read(c, []byte(r.bytes))
			require.NoError(t, err, about)
			require.Equal(t, text(v.Elem()), text(back), about)
		}
	}
}

// TestWrongBytes: bytes that no codec appends are errors.
func TestWrongBytes(t *testing.T) {
	type flags struct {
		A uint8
		B bool
		C uint8
		D bool
	}
	nine := strings.Repeat("\xff", 9)
	for _, r := range []struct {
		of    any
		bytes string
		err   error
	}{
		{false, "\x02", ErrBool},
		{[2]bool{}, "\x01\x80", ErrBool},
		{[]bool{}, "\x03\x01\x02", ErrBool},
		{flags{}, "\xff\x01\xff\x01", nil},
		{flags{}, "\xff\x02\xff\x01", ErrBool},
		{flags{}, "\xff\x01\xff\x02", ErrBool},
		{"", "\x80\x00", ErrVarint},
		{"", nine + "\x02", ErrVarint},
		{"", nine + "\x81\x00", ErrVarint},
		{"", nine + "\x01", ErrTruncated},
		{"", "\x02a", ErrTruncated},
		{"", "\x80", ErrTruncated},
		{"", "", ErrTruncated},
		{[]byte{}, "\x03a", ErrTruncated},
		{[]byte{}, nine + "\x01", ErrTruncated},
		{pool.Bytes{}, "\x03a", ErrTruncated},
		{[]uint16{}, "\x03\x01\x00\x02", ErrTruncated},
		{[]struct{}{}, "\x03\x00", ErrTruncated},
		{[]struct{}{}, "\x02\x01", ErrFiller},
		{map[struct{}]struct{}{}, "\x03\x00\x00", ErrDuplicate},
		{map[uint8]bool{}, "\x03\x01\x01\x01\x01", ErrDuplicate},
		{map[string]bool{}, "\x03\x01a\x01\x01a\x01", ErrDuplicate},
		{map[uint8]bool{}, "\x03\x01\x01\x02\x02", ErrBool},
		{map[uint8]bool{}, "\x04\x01\x01\x02\x01", ErrTruncated},
		{time.Time{}, "\x01\x00\x00\x00\x00\x00\x00\x00\x00\xca\x9a\x3b", ErrTime},
		{time.Time{}, "\x01\x00\x00\x00\x00\x00\x00\x00\xff\xc9\x9a\x3b", nil},
		{time.Time{}, "\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff", ErrTruncated},
		{point{}, "\x01\x00\x00\x00\x02\x00\x00\x00\x00", nil},
		{point{}, "\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00", ErrTrailing},
		{[1]point{}, "\x09\x01\x00\x00\x00\x02\x00\x00\x00\x00", nil},
		{[1]point{}, "\x0a\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00", ErrTrailing},
		{[1]point{}, "\x08\x01\x00\x00\x00\x02\x00\x00\x00\x00", ErrTruncated}, // though a byte follows
		{[1]point{}, "\x0b\x01\x00\x00\x00\x02\x00\x00\x00\x00", ErrTruncated},
	} {
		for _, flat := range []bool{true, false} {
			v, err := read(mustOf(reflect.TypeOf(r.of), flat), []byte(r.bytes))
			require.Equal(t, r.err, err, "%T %q", r.of, r.bytes)
			if r.err == ErrBool {
				require.NotPanics(t, func() { _ = text(v) })
			}
		}
	}
}

// TestWrongBytesOfOthers: what a peer's type has that differs is no way around.
func TestWrongBytesOfOthers(t *testing.T) {
	nine := strings.Repeat("\xff", 9)
	for _, r := range []struct {
		of    any
		bytes string
		err   error
	}{
		{false, "\x02", ErrBool},
		{[2]bool{}, "\x01\x80", ErrBool},
		{[]bool{}, "\x03\x01\x02", ErrBool},
		{map[uint8]bool{}, "\x03\x01\x01\x02\x02", ErrBool},
		{map[uint8]bool{}, "\x03\x01\x01\x01\x01", ErrDuplicate},
		{"", "\x80\x00", ErrVarint},
		{[]byte{}, nine + "\x02", ErrVarint},
		{[]uint16{}, "\x08\x01\x00\x02", ErrTruncated},
		{[]struct{}{}, "\x02\x01", ErrFiller},
		{time.Time{}, "\x01\x00\x00\x00\x00\x00\x00\x00\x00\xca\x9a\x3b", ErrTime},
	} {
		field := reflect.StructField{Name: "V", Type: reflect.TypeOf(r.of)}
		more := reflect.StructField{Name: "More", Type: reflect.TypeFor[uint8]()}
		own, theirs := []reflect.StructField{field}, []reflect.StructField{field, more}
		d, err := mustOf(reflect.StructOf(own), true).Translate(mustOf(reflect.StructOf(theirs), true).AppendSchema(nil))
		require.NoError(t, err)
		_, err = read(d, []byte(r.bytes+"\x05"))
		require.Equal(t, r.err, err, "%T %q", r.of, r.bytes)
	}
}

// TestBadBoolIsNoBool: the memory of a bool that is refused is a bool nevertheless.
func TestBadBoolIsNoBool(t *testing.T) {
	v, err := read(mustOf(reflect.TypeFor[[2]bool](), true), []byte{1, 9})
	require.Equal(t, ErrBool, err)
	two := v.Interface().([2]bool)
	require.Equal(t, [2]uint8{}, *(*[2]uint8)(unsafe.Pointer(&two)))
}

type (
	embeds    struct{ point }
	Embedded  = struct{ Point }
	Point     struct{ point }
	appends   struct{}
	reads     struct{}
	recursive struct{ Next []recursive }
	tree      struct{ Sub map[string]tree }
	list      []list
	twice     struct {
		A int `wire:"B"`
		B int
	}
	unexported struct {
		Rows []map[string]struct {
			A int
			b int
		}
	}
	deep1 struct{ A [2][][]deep2 }
	deep2 struct{ F map[int]func() }
)

func (*appends) AppendWire([]byte) []byte { return nil }
func (*reads) ReadWire(*Reader) error     { return nil }

func TestRefused(t *testing.T) {
	for _, r := range []struct {
		of   any
		want string
	}{
		{func() {}, "func(): no func can be sent (func())"},
		{struct{ C chan int }{}, "C: no chan can be sent (chan int)"},
		{struct{ E error }{}, "E: no interface can be sent (error)"},
		{struct{ P *int }{}, "P: no ptr can be sent (*int)"},
		{struct{ P *point }{}, "P: no ptr can be sent (*wire.point)"},
		{struct{ P unsafe.Pointer }{}, "P: no unsafe.Pointer can be sent (unsafe.Pointer)"},
		{struct{ P uintptr }{}, "P: no uintptr can be sent (uintptr)"},
		{struct{ M sync.Mutex }{}, "M: no sync.Mutex can be sent"},
		{struct{ N atomic.Int32 }{}, "N: no atomic.Int32 can be sent"},
		{recursive{}, "wire.recursive.Next[]: wire.recursive is within itself"},
		{tree{}, "wire.tree.Sub[]: wire.tree is within itself"},
		{list{}, "wire.list[]: wire.list is within itself"},
		{unexported{}, "wire.unexported.Rows[][].b: it isn't exported: export it, or give it the tag `wire:\"-\"`"},
		{deep1{}, "wire.deep1.A[][][].F[]: no func can be sent (func())"},
		{map[pool.Bytes]int{}, "[key]: pool.Bytes are no keys"},
		{map[struct{ A [1]pool.Bytes }]int{}, "[key]: pool.Bytes are no keys"},
		{map[*alien]int{}, "[key]: pointers are no keys"},
		{map[struct{ A [1]*alien }]int{}, "[key]: pointers are no keys"},
		{map[any]int{}, "[key]: no interface can be sent"},
		{twice{}, `wire.twice.B: two fields have the name "B"`},
		{embeds{}, "wire.embeds.point: embedded, it would code the whole: give the field a name"},
		{Embedded{}, "Point: embedded, it would code the whole"},
		{appends{}, "wire.appends has AppendWire and no ReadWire"},
		{reads{}, "wire.reads has ReadWire and no AppendWire"},
		{struct {
			A int `wire:"a"`
			b int `wire:"b"`
		}{}, "b: it isn't exported"},
		{reflect.TypeFor[[1<<30 + 1]uint8](), "its values are too long"},
		{reflect.TypeFor[[1 << 29][1][3]uint8](), "its values are too long"},
		{reflect.TypeFor[[1<<30 + 1]struct{}](), "its values are too long"},
		{reflect.TypeFor[struct{ A, B [1<<27 + 1]int32 }](), "its values are too long"},
	} {
		of, ok := r.of.(reflect.Type)
		if !ok {
			of = reflect.TypeOf(r.of)
		}
		_, err := Of(of)
		require.ErrorContains(t, err, r.want, "%T", r.of)
		require.True(t, strings.HasPrefix(err.Error(), "wire: "), err)
	}
	for _, of := range []reflect.Type{
		reflect.TypeFor[[widthMax]uint8](), reflect.TypeFor[struct{ A, B [widthMax / 8]int32 }](),
		reflect.TypeFor[map[int8][widthMax / 8]int64](),
	} {
		_, err := Of(of)
		require.NoError(t, err, "%v", of)
	}
}

func TestRefusedForSize(t *testing.T) {
	array := func(of reflect.Type) reflect.Type { return reflect.ArrayOf(1, of) }
	for _, within := range []struct {
		most, one func(reflect.Type) reflect.Type
	}{
		{reflect.SliceOf, reflect.SliceOf},
		{array, array},
		{array, func(of reflect.Type) reflect.Type { return reflect.MapOf(of, reflect.TypeFor[bool]()) }},
		{array, func(of reflect.Type) reflect.Type { return reflect.MapOf(reflect.TypeFor[bool](), of) }},
		{array, func(of reflect.Type) reflect.Type {
			return reflect.StructOf([]reflect.StructField{{Name: "A", Type: of}})
		}},
	} {
		deep := reflect.TypeFor[string]()
		for range depthMax - 2 {
			deep = within.most(deep)
		}
		c, err := Of(within.one(deep))
		require.NoError(t, err)
		require.NoError(t, checkSchema(c.AppendSchema(nil)))
		_, err = Of(within.one(within.most(deep)))
		require.ErrorContains(t, err, errDepth.Error())
	}

	type four struct{ A, B, C, D []string }
	wide := reflect.TypeFor[four]()
	for range 4 {
		wide = reflect.StructOf([]reflect.StructField{{Name: "A", Type: wide}, {Name: "B", Type: wide}, {Name: "C", Type: wide}, {Name: "D", Type: wide}})
	}
	c, err := Of(wide)
	require.NoError(t, err)
	require.NoError(t, checkSchema(c.AppendSchema(nil)))
	_, err = Of(reflect.StructOf([]reflect.StructField{{Name: "A", Type: wide}, {Name: "B", Type: wide}}))
	require.ErrorContains(t, err, errNodes.Error())

	const beside = 7 // bytes of the schema that aren't the name
	long := func(n int) reflect.Type {
		return reflect.StructOf([]reflect.StructField{{Name: strings.Repeat("A", n), Type: reflect.TypeFor[int]()}})
	}
	c, err = Of(long(schemaMax - beside))
	require.NoError(t, err)
	require.Len(t, c.AppendSchema(nil), schemaMax)
	require.NoError(t, checkSchema(c.AppendSchema(nil)))
	_, err = Of(long(schemaMax - beside + 1))
	require.ErrorContains(t, err, errLong.Error())
}

func TestTyped(t *testing.T) {
	c, err := For[point]()
	require.NoError(t, err)
	require.Equal(t, reflect.TypeFor[point](), c.Type())
	in := Append(c, nil, &point{x: 1})
	var r Reader
	var p point
	r.Reset(in)
	require.NoError(t, Read(c, &r, &p))
	require.Equal(t, point{x: 1}, p)
	require.NoError(t, r.End())
	const want = "wire: a codec of another type"
	require.PanicsWithValue(t, want, func() { Append(c, nil, new(int)) })
	require.PanicsWithValue(t, want, func() { AppendBy(c, nil, nil, new(int)) })
	require.PanicsWithValue(t, want, func() { _ = Read(c, &r, new(int)) })
}

// TestSlicesHaveNoRoom: appending to one never writes into what it was read with.
func TestSlicesHaveNoRoom(t *testing.T) {
	for n := range 20 {
		c, err := For[[][3]uint16]()
		require.NoError(t, err)
		v := make([][3]uint16, n)
		got, err := read(c, Append(c, nil, &v))
		require.NoError(t, err)
		require.Equal(t, n, got.Len())
		require.Equal(t, n, got.Cap())
	}
}

type takes struct{ A int }

func (takes) AppendWire([]byte) []byte { return nil }
func (*takes) ReadWire(*Reader) error  { return nil }

func TestAppendWireThatTakesBytesAway(t *testing.T) {
	c, err := For[[1]takes]()
	require.NoError(t, err)
	require.PanicsWithValue(t, "wire: AppendWire returns less than it was given", func() { Append(c, []byte("abc"), new([1]takes)) })
}

// TestKeeps: values refer to the bytes that they were read from if any part of them has bytes, or
// reads itself.
func TestKeeps(t *testing.T) {
	type inner struct{ B []byte }
	for _, c := range []struct {
		typ   reflect.Type
		keeps bool
	}{
		{reflect.TypeFor[int](), false},
		{reflect.TypeFor[string](), false},
		{reflect.TypeFor[struct {
			A [3]uint64
			B []string
			C map[string]time.Time
		}](), false},
		{reflect.TypeFor[[]byte](), true},
		{reflect.TypeFor[inner](), true},
		{reflect.TypeFor[map[string]inner](), true},
		{reflect.TypeFor[map[int][2]inner](), true},
		{reflect.TypeFor[struct{ P pool.Bytes }](), true},
		{reflect.TypeFor[point](), true},
		{reflect.TypeFor[struct{ P []point }](), true},
	} {
		of, err := Of(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		if got := of.Decoder().Keeps(); got != c.keeps {
			t.Errorf("%v: %v", c.typ, got)
		}
	}
}

// TestTranslatedKeeps: so do values of a peer's type, be it one part alone that does.
func TestTranslatedKeeps(t *testing.T) {
	type raw struct {
		A int
		B []byte
		C point
		D int
		E string
	}
	from := mustOf(reflect.TypeFor[raw](), true)
	for _, c := range []struct {
		to           reflect.Type
		keeps, calls bool
	}{
		{reflect.TypeFor[struct{ A, D int }](), false, false},
		{reflect.TypeFor[struct {
			B []byte
			D int
			E string
		}](), true, false},
		{reflect.TypeFor[struct {
			C point
			D int
			E string
		}](), true, true},
	} {
		d, err := mustOf(c.to, true).Translate(from.AppendSchema(nil))
		require.NoError(t, err)
		require.Equal(t, c.keeps, d.Keeps(), "%v", c.to)
		require.Equal(t, c.calls, d.Calls(), "%v", c.to)
	}
}

// TestStepsOfManyPeers: what reads one peer's type stays as it is when others come.
func TestStepsOfManyPeers(t *testing.T) {
	c := mustOf(reflect.TypeFor[struct {
		A int32
		B string
	}](), true)
	var all []*Decoder
	var texts [][]byte
	for i := range 20 {
		var fields []reflect.StructField
		for n := range 20 {
			f := reflect.StructField{Name: fmt.Sprintf("F%d", n), Type: reflect.TypeFor[string]()}
			if n == i {
				fields = append(fields, reflect.StructField{Name: "B", Type: f.Type})
			}
			fields = append(fields, f)
		}
		of := mustOf(reflect.StructOf(fields), true)
		d, err := c.Translate(of.AppendSchema(nil))
		require.NoError(t, err)
		v := reflect.New(of.Type())
		v.Elem().FieldByName("B").SetString("it")
		all, texts = append(all, d), append(texts, of.Append(nil, v.UnsafePointer()))
	}
	for i, d := range all {
		v, err := read(d, texts[i])
		require.NoError(t, err)
		require.Equal(t, "it", v.FieldByName("B").String())
	}
}

// TestCalls: a codec knows whether it calls code of others, however deep that is.
func TestCalls(t *testing.T) {
	type plain struct {
		A int
		B string
		C map[string][]time.Time
		D [3]pool.Bytes
	}
	for _, c := range []struct {
		of   reflect.Type
		want bool
	}{
		{reflect.TypeFor[plain](), false},
		{reflect.TypeFor[takes](), true},
		{reflect.TypeFor[struct {
			A plain
			B takes
		}](), true},
		{reflect.TypeFor[[2]takes](), true},
		{reflect.TypeFor[[]struct{ A []takes }](), true},
		{reflect.TypeFor[map[string]takes](), true},
		{reflect.TypeFor[map[takes]string](), true},
	} {
		codec, err := Of(c.of)
		require.NoError(t, err)
		require.Equal(t, c.want, codec.Decoder().Calls(), "%s", c.of)
	}
	now, err := For[struct{ A takes }]()
	require.NoError(t, err)
	before, err := For[struct{ A int }]()
	require.NoError(t, err)
	_, err = before.Translate(now.AppendSchema(nil))
	require.Error(t, err)
	less, err := For[struct{ B int }]()
	require.NoError(t, err)
	d, err := less.Translate(now.AppendSchema(nil))
	require.NoError(t, err)
	require.False(t, d.Calls(), "what is skipped isn't called")
	none, err := For[struct {
		N [0]struct{ A takes }
		B int
	}]()
	require.NoError(t, err)
	more, err := For[struct {
		N [0]struct{ A takes }
		B int
		C int
	}]()
	require.NoError(t, err)
	d, err = none.Translate(more.AppendSchema(nil))
	require.NoError(t, err)
	require.False(t, d.Calls() || d.Keeps(), "what has no elements is neither")
}
