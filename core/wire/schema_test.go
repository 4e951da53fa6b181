package wire

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
)

type described struct {
	A int  `wire:"a"`
	B bool `wire:"-"`
	C []struct{ D [2]string }
	E map[uint8][]byte
	F point
}

func TestSchema(t *testing.T) {
	want := "\x01\x14\x04\x01a\x05\x01C\x12\x14\x01\x01D\x11\x02\x0f\x01E\x13\x06\x10\x01F\x15" +
		"\x33github.com/stackhouse-go/stackhouse/core/wire.point"
	c, err := For[described]()
	require.NoError(t, err)
	require.Equal(t, "before"+want, string(c.AppendSchema([]byte("before"))))
}

// TestSchemaOfKinds: schemas of a kind each, which stay as they are.
func TestSchemaOfKinds(t *testing.T) {
	for _, r := range []struct {
		of     any
		schema string
	}{
		{false, "\x01"}, {int8(0), "\x02"}, {int16(0), "\x03"}, {int32(0), "\x04"}, {int64(0), "\x05"}, {0, "\x05"},
		{uint8(0), "\x06"}, {uint16(0), "\x07"}, {uint32(0), "\x08"}, {uint64(0), "\x09"}, {uint(0), "\x09"},
		{float32(0), "\x0a"}, {0.0, "\x0b"}, {complex64(0), "\x0c"}, {complex128(0), "\x0d"}, {"", "\x0f"},
		{[]byte{}, "\x10"}, {pool.Bytes{}, "\x10"}, {[300]bool{}, "\x11\xac\x02\x01"}, {[]bool{}, "\x12\x01"},
		{map[int8]bool{}, "\x13\x02\x01"}, {struct{}{}, "\x14\x00"}, {[]int8{}, "\x12\x02"},
	} {
		c := mustOf(reflect.TypeOf(r.of), true)
		require.Equal(t, "\x01"+r.schema, string(c.AppendSchema(nil)), "%T", r.of)
		require.NoError(t, checkSchema([]byte("\x01"+r.schema)))
	}
	require.Equal(t, "\x01\x0e", string(mustOf(timeType, true).AppendSchema(nil)))
}

// TestWrongSchemas: a schema is of a stranger.
func TestWrongSchemas(t *testing.T) {
	huge := "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
	for schema, want := range map[string]string{
		"":                                     "wire: truncated",
		"\x01":                                 "wire: truncated",
		"\x02\x01":                             "a schema of another version",
		"\x00\x01":                             "a schema of another version",
		"\x01\x00":                             "no kind has this number",
		"\x01\x16":                             "no kind has this number",
		"\x01\xff":                             "no kind has this number",
		"\x01\x01\x01":                         "wire: bytes behind the end",
		"\x01\x14\x01\x01A":                    "wire: truncated",
		"\x01\x14" + huge:                      "wire: truncated",
		"\x01\x14\x02\x01A\x05\x01A\x05":       "wire: wire.one.A: two fields have this name there",
		"\x01\x11" + huge + "\x01":             "its values are too long",
		"\x01\x11\x81\x80\x80\x80\x04\x01":     "its values are too long",
		"\x01\x11\x80\x80\x80\x80\x01\x0d":     "its values are too long",
		"\x01\x11\x81\x80\x80\x80\x04\x14\x00": "its values are too long",
		"\x01\x11\x80\x80\x04\x11\x80\x80\x04\x01":              "its values are too long",
		"\x01\x15" + huge:                                       "wire: truncated",
		"\x01\x15\x02a":                                         "wire: truncated",
		"\x01" + strings.Repeat("\x12", depthMax) + "\x01":      "it is nested too deeply",
		"\x01" + strings.Repeat("\x12", 1000) + "\x01":          "it is nested too deeply",
		"\x01" + strings.Repeat("\x13\x01", 1000) + "\x01":      "it is nested too deeply",
		"\x01" + strings.Repeat("\x13", 1000):                   "it is nested too deeply",
		"\x01" + strings.Repeat("\x11\x01", 1000):               "it is nested too deeply",
		"\x01" + strings.Repeat("\x14\x01\x00", 1000):           "it is nested too deeply",
		"\x01\x15\x80\x80\x04" + strings.Repeat("a", schemaMax): "it is too long",
	} {
		type one struct{ A int }
		c := mustOf(reflect.TypeFor[one](), true)
		_, err := c.Translate([]byte(schema))
		require.ErrorContains(t, err, want, "%q", schema[:min(len(schema), 100)])
	}
}

// TestSchemaOfManyParts: as many as a type may have, and one more.
func TestSchemaOfManyParts(t *testing.T) {
	fields := func(n int) []byte {
		s := AppendUvarint([]byte{schemaVersion, byte(kindStruct)}, uint64(n))
		for i := range n {
			s = append(AppendString(s, string([]byte{byte(i), byte(i >> 8)})), byte(kindBool))
		}
		return s
	}
	require.NoError(t, checkSchema(fields(nodesMax-1)))
	require.ErrorIs(t, checkSchema(fields(nodesMax)), errNodes)
}

// TestSchemasCostLittle: a schema takes twice its own bytes, beside a few words, be it right or
// wrong, however many fields one's own type has.
func TestSchemasCostLittle(t *testing.T) {
	huge := "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
	many := func(of string) string {
		n := min((schemaMax-8)/(len(of)+3), (nodesMax-1)/len(of))
		s := AppendUvarint([]byte("\x01\x14"), uint64(n))
		for i := range n {
			s = append(AppendString(s, string([]byte{byte(i), byte(i >> 8)})), of...)
		}
		return string(s)
	}
	type one struct{ A int }
	c := mustOf(reflect.TypeFor[one](), true)
	var fields []reflect.StructField
	mixed := AppendUvarint([]byte("\x01\x14"), 600) // one that is unknown behind each
	for i := range 300 {
		name := fmt.Sprintf("A%x", i)
		fields = append(fields, reflect.StructField{Name: name, Type: reflect.TypeFor[[]struct{ A, B string }]()})
		mixed = append(AppendString(mixed, name), "\x12\x14\x03\x01B\x0f\x00\x0f\x01A\x0f\x00\x0f"...)
	}
	wide := mustOf(reflect.StructOf(fields), true)
	for _, r := range []struct {
		schema string
		right  bool
	}{
		{string(mixed), true},
		{string(mixed[:len(mixed)-1]), false},
		{"\x01\x14" + huge, false},
		{"\x01\x15" + huge, false},
		{"\x01\x11" + huge + "\x01", false},
		{"\x01" + strings.Repeat("\x13", 60_000), false},
		{"\x01\x14" + huge + strings.Repeat("\x00\x14\x01", 20_000), false},
		{"\x01\x15\x80\x80\x03" + strings.Repeat("\x00", 3<<14), false}, // a name
		{many("\x01"), true},
		{many("\x0f"), true},
		{many("\x10"), true},
		{many("\x11\x02\x0f"), true},
		{many("\x12\x01"), true},
		{many("\x12\x0f"), true},
		{many("\x13\x01\x01"), true},
		{many("\x14\x00"), true},
		{many("\x12\x14\x00"), true},
		{many(strings.Repeat("\x12", depthMax-3) + "\x0f"), true},
		{many(strings.Repeat("\x11\x02", 20) + "\x0f"), true},
	} {
		schema := []byte(r.schema)
		for _, of := range []*Codec{c, wide} {
			var err error
			n := least(func() { _, err = of.Translate(schema) })
			head := r.schema[:min(len(r.schema), 24)]
			require.Equal(t, r.right, err == nil, "%q: %v", head, err)
			most := cap(append([]byte{}, make([]byte, 2*len(schema))...)) // sizes of memory are rounded up
			require.Less(t, n, most+300, "%q", head)
		}
	}
}

// TestSkipsNeedNoMoreRoom: no node takes more than twice its bytes as steps; but for a third where
// much is in many lists within lists.
func TestSkipsNeedNoMoreRoom(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("\x12", n) }
	tree := "\x01"
	for range 6 {
		tree = "\x13" + tree + tree
	}
	nodes := []string{nested(depthMax-1) + "\x01", strings.Repeat("\x13\x0d", depthMax-1) + "\x0d", nested(25) + tree,
		"\x13\x13" + strings.Repeat(nested(20)+"\x01", 3), "\x12\x11\x80\x80\x80\x10\x0d"}
	odd := len(nodes)
	for seed := range uint64(5000) {
		nodes = append(nodes, string(anyNode(rand.New(rand.NewPCG(seed, 0)), nil, int(seed%2)*-20)))
	}
	for i, of := range nodes {
		node := []byte(of)
		var by translator
		by.peer.Reset(node)
		by.skip()
		require.NoError(t, by.peer.End())
		by.flush()
		most := 2 * len(node)
		if i < odd {
			most += len(node) / 3
		}
		require.LessOrEqual(t, len(by.steps), most, "%q", node)
	}
}

// TestSkips: whatever a peer's unknown field is, what stands behind it is found.
func TestSkips(t *testing.T) {
	type known struct{ A, B uint8 }
	c := mustOf(reflect.TypeFor[known](), true)
	for seed := range uint64(5000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		x, y := anyNode(rnd, nil, int(seed%2)*-3), anyNode(rnd, nil, 2)
		schema := fmt.Appendf(nil, "\x01\x14\x05\x01X%s\x01A\x06\x01Y%s\x00\x06\x01B\x06", x, y)
		d, err := c.Translate(schema)
		require.NoError(t, err)
		var r schemaReader
		r.Reset(append(x, y...))
		in := anyValue(rnd, append(anyValue(rnd, nil, &r), 1), &r)
		got, err := read(d, append(in, 0xff, 2))
		require.NoError(t, err, "seed %d: %q: %x", seed, schema, in)
		require.Equal(t, known{1, 2}, got.Interface())
	}
}

// anyValue appends any value of the node that r stands before.
func anyValue(rnd *rand.Rand, dst []byte, r *schemaReader) []byte {
	k := kind(r.Uint8())
	each := func(n, nodes int) {
		element := *r
		for range n {
			*r = element
			start := len(dst)
			for range nodes {
				dst = anyValue(rnd, dst, r)
			}
			if len(dst) == start && k != kindArray {
				dst = append(dst, 0) // the filler
			}
		}
		*r = element
		for range nodes {
			r.measure(0)
		}
	}
	n := rnd.IntN(3)
	switch k {
	case kindCoded:
		r.sized()
		dst = append(append(dst, byte(n)), make([]byte, n)...)
	case kindString:
		dst = append(append(dst, byte(n)), make([]byte, n)...)
	case kindBytes:
		dst = append(append(dst, byte(n+1)), make([]byte, n)...)
	case kindArray:
		each(int(r.Uvarint()), 1)
	case kindSlice:
		dst = append(dst, byte(n+1))
		each(n, 1)
	case kindMap:
		dst = append(dst, byte(n+1))
		each(n, 2)
	case kindStruct:
		for range r.Uvarint() {
			r.sized()
			dst = anyValue(rnd, dst, r)
		}
	default:
		dst = append(dst, make([]byte, kinds[k].width)...)
	}
	return dst
}

// anyNode appends any node that stands depth deep; below 0, one that is mostly nested further.
func anyNode(rnd *rand.Rand, dst []byte, depth int) []byte {
	k := kind(1 + rnd.IntN(int(kindCoded)))
	nested := kindArray <= k && k <= kindStruct
	if depth > 4 && nested {
		k = kindString
	} else if depth < 0 && !nested && rnd.IntN(4) > 0 {
		k = kindSlice
	}
	dst = append(dst, byte(k))
	switch k {
	case kindArray:
		dst = anyNode(rnd, AppendUvarint(dst, uint64(rnd.IntN(1<<rnd.IntN(6)))), depth+1)
	case kindSlice:
		dst = anyNode(rnd, dst, depth+1)
	case kindMap:
		dst = anyNode(rnd, anyNode(rnd, dst, depth+1), depth+1)
	case kindStruct:
		n := rnd.IntN(4)
		dst = AppendUvarint(dst, uint64(n))
		for i := range n {
			dst = anyNode(rnd, AppendString(dst, strings.Repeat("x", i)), depth+1)
		}
	case kindCoded:
		dst = AppendString(dst, strings.Repeat("x", rnd.IntN(3)))
	}
	return dst
}

// TestFieldsWithoutBytes: one that is unknown here and has no bytes makes no work: what stands
// around it is copied at once, and arrays of nothing cost nothing.
func TestFieldsWithoutBytes(t *testing.T) {
	type flat struct{ A []struct{ B, C uint32 } }
	c := mustOf(reflect.TypeFor[flat](), true)
	with := "\x01\x14\x01\x01A\x12\x14\x04\x01X\x14\x00\x01B\x08\x01Y\x11\x00\x0f\x01C\x08"
	d, err := c.Translate([]byte(with))
	require.NoError(t, err)
	require.Equal(t, []byte{stepWithin, 8, 3, stepCopy, 0, 8}, d.steps)

	type hollow struct{ A [1 << 20]struct{} }
	c = mustOf(reflect.TypeFor[hollow](), true)
	d, err = c.Translate([]byte("\x01\x14\x01\x01A\x11\x80\x80\x40\x14\x01\x01X\x14\x00"))
	require.NoError(t, err)
	require.Empty(t, d.ops)
	require.Empty(t, d.steps)
}

// TestEmptyListsCostLittle: a list, or map, of nothing costs no look at the steps of what would be
// in it, be these as many as they may: a message of many takes no longer than one of as many bytes.
func TestEmptyListsCostLittle(t *testing.T) {
	much := AppendUvarint([]byte("\x14"), 1001) // a struct of lists, and A
	for range 1000 {
		much = append(much, "\x00\x12\x12\x0f"...)
	}
	much = append(much, "\x01A\x05"...)
	type one struct{ A int }
	in := append([]byte{0x81, 0x80, 0x02}, make([]byte, 1<<15)...) // 32,768 elements, all nil
	for _, to := range []*Codec{
		mustOf(reflect.TypeFor[[][]one](), true), mustOf(reflect.TypeFor[[]map[string]one](), true),
		mustOf(reflect.TypeFor[struct{}](), true),
	} {
		schema := "\x01\x12\x12" + string(much)
		switch to.Type().Kind() {
		case reflect.Struct:
			schema = "\x01\x14\x01\x01X\x12\x12" + string(much)
		case reflect.Slice:
			if to.Type().Elem().Kind() == reflect.Map {
				schema = "\x01\x12\x13\x0f" + string(much)
			}
		}
		d, err := to.Translate([]byte(schema))
		require.NoError(t, err)
		begin := time.Now()
		_, err = read(d, in)
		require.NoError(t, err)
		require.Less(t, time.Since(begin), 200*time.Millisecond, "%v", to.Type()) // it is one
	}
}

// TestArraysThatEndEarlyCostLittle: what passes over a peer's array ends with its first error, not
// with its last element.
func TestArraysThatEndEarlyCostLittle(t *testing.T) {
	c := mustOf(reflect.TypeFor[struct{}](), true)
	d, err := c.Translate([]byte("\x01\x14\x01\x01X\x11\x80\x80\x80\x80\x02\x0f")) // 1<<29 strings
	require.NoError(t, err)
	begin := time.Now()
	_, err = read(d, []byte{0})
	require.Equal(t, ErrTruncated, err)
	require.Less(t, time.Since(begin), 200*time.Millisecond) // it is none
}

// TestLeastOfAPeer: elements that have more bytes at the peer than here are refused before
// memory is made for them.
func TestLeastOfAPeer(t *testing.T) {
	type less struct{ A [2]int64 }
	type more struct {
		A [2]int64
		B [100]byte
	}
	in := append([]byte{0xac, 0x02}, make([]byte, 1000)...) // 299 elements
	for _, r := range [][2]reflect.Type{
		{reflect.TypeFor[[]more](), reflect.TypeFor[[]less]()},
		{reflect.TypeFor[[][1]more](), reflect.TypeFor[[][1]less]()},
		{reflect.TypeFor[map[uint64]more](), reflect.TypeFor[map[uint64]less]()},
		{reflect.TypeFor[map[more]uint64](), reflect.TypeFor[map[less]uint64]()},
		{reflect.TypeFor[map[more]string](), reflect.TypeFor[map[less]string]()},
		{reflect.TypeFor[map[more]less](), reflect.TypeFor[map[less]less]()},
	} {
		from, to := mustOf(r[0], true), mustOf(r[1], true)
		d, err := to.Translate(from.AppendSchema(nil))
		require.NoError(t, err)
		require.Less(t, least(func() { _, err = read(d, in) }), 1000)
		require.ErrorIs(t, err, ErrTruncated)
	}
}

// TestTwoOfOneName: a field that comes twice is found among many, and is mixed up with no other.
func TestTwoOfOneName(t *testing.T) {
	const n = 200
	var fields []reflect.StructField
	for i := range n {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: reflect.TypeFor[uint8]()})
	}
	c := mustOf(reflect.StructOf(fields), true)
	schema := func(of ...int) []byte {
		s := AppendUvarint([]byte("\x01\x14"), uint64(len(of)))
		for _, i := range of {
			s = append(AppendString(s, fields[i].Name), byte(kindUint8))
		}
		return s
	}
	for i := range n {
		_, err := c.Translate(schema(i, i))
		require.ErrorContains(t, err, fmt.Sprintf(".F%d: two fields have this name there", i))
	}
	var back []int
	for i := range n {
		back = append(back, n-1-i)
	}
	_, err := c.Translate(schema(back...))
	require.NoError(t, err)
}

// TestTranslatedKeys: keys are matched as values are. Those that differ only in what is unknown
// here are one key.
func TestTranslatedKeys(t *testing.T) {
	type key1 struct {
		A uint8
		X string
	}
	type key2 struct {
		B bool
		A uint8
	}
	from, to := mustOf(reflect.TypeFor[map[key1]string](), true), mustOf(reflect.TypeFor[map[key2]string](), true)
	d, err := to.Translate(from.AppendSchema(nil))
	require.NoError(t, err)
	for _, m := range []map[key1]string{nil, {}, {{1, "x"}: "a", {2, "x"}: "b"}} {
		got, err := read(d, Append(from, nil, &m))
		require.NoError(t, err)
		require.Equal(t, m == nil, got.IsNil())
		require.Equal(t, len(m), got.Len())
		for k, v := range m {
			require.Equal(t, v, got.Interface().(map[key2]string)[key2{A: k.A}])
		}
	}
	_, err = read(d, Append(from, nil, &map[key1]string{{1, "x"}: "a", {1, "y"}: "b"}))
	require.ErrorIs(t, err, ErrDuplicate)
}

type version1 struct {
	ID    uint32
	Name  string
	Tags  []string
	Inner struct{ A, B int16 }
	Gone  map[string][]point
	Flags [3]bool
	Raw   []byte
}

type version2 struct {
	Flags [3]bool
	Raw   pool.Bytes
	New   []string
	Inner struct{ B, C int16 }
	Count int64 `wire:"ID"`
}

type version3 struct {
	Label string `wire:"Name"`
	Raw   pool.Bytes
	ID    uint32
	Inner struct{ B, C int16 }
	Since []string
}

func TestTranslate(t *testing.T) {
	one, two, three := mustOf(reflect.TypeFor[version1](), true), mustOf(reflect.TypeFor[version2](), true), mustOf(reflect.TypeFor[version3](), true)
	_, err := two.Translate(one.AppendSchema(nil))
	require.EqualError(t, err, "wire: wire.version2.ID: uint32 there, int64 here")

	d, err := three.Translate(one.AppendSchema(nil))
	require.NoError(t, err)
	require.Equal(t, three.Type(), d.Type())
	v := version1{ID: 7, Name: "name", Tags: []string{"a"}, Gone: map[string][]point{"x": {{x: 1}}}, Raw: []byte("raw")}
	v.Inner.A, v.Inner.B = 1, 2
	got, err := read(d, Append(one, nil, &v))
	require.NoError(t, err)
	g := got.Interface().(version3)
	require.Equal(t, "raw", string(g.Raw.B()))
	g.Raw = pool.Bytes{}
	want := version3{Label: "name", ID: 7}
	want.Inner.B = 2
	require.Equal(t, want, g)

	d, err = one.Translate(one.AppendSchema(nil))
	require.NoError(t, err)
	require.Same(t, &one.own, d)
}

// TestTranslateRefuses: what is of another kind, and says where.
func TestTranslateRefuses(t *testing.T) {
	for _, r := range []struct {
		from, to any
		want     string
	}{
		{int32(0), int64(0), "wire: int64: int32 there, int64 here"},
		{int64(0), int32(0), "wire: int32: int64 there, int32 here"},
		{uint8(0), int8(0), "wire: int8: uint8 there, int8 here"},
		{float32(0), 0.0, "wire: float64: float32 there, float64 here"},
		{"", []byte{}, "wire: []uint8: string there, bytes here"},
		{[]int8{}, []byte{}, "wire: []uint8: slice there, bytes here"},
		{[2]int8{}, [3]int8{}, "wire: [3]int8: an array of 2 there, of 3 here"},
		{[]int8{}, []int16{}, "wire: []int16[]: int8 there, int16 here"},
		{[1]int8{}, [1]int16{}, "wire: [1]int16[]: int8 there, int16 here"},
		{map[int8]int{}, map[int16]int{}, "wire: map[int16]int[key]: int8 there, int16 here"},
		{map[int8]int{}, map[int8]bool{}, "wire: map[int8]bool[]: int64 there, bool here"},
		{point{}, failing{}, `wire: wire.failing: "github.com/stackhouse-go/stackhouse/core/wire.point" there, ` +
			`"github.com/stackhouse-go/stackhouse/core/wire.failing" here`},
		{struct{ A, B int32 }{}, point{}, "wire: wire.point: struct there, hand-coded here"},
		{point{}, struct{ A, B int32 }{}, "hand-coded there, struct here"},
		{struct{ A []struct{ B string } }{}, struct{ A []struct{ B int } }{}, ".A[].B: string there, int64 here"},
	} {
		from, to := mustOf(reflect.TypeOf(r.from), true), mustOf(reflect.TypeOf(r.to), true)
		_, err := to.Translate(from.AppendSchema(nil))
		require.ErrorContains(t, err, r.want)
	}
	same := [][2]any{{int64(0), 0}, {uint(0), uint64(0)}, {[]byte{}, pool.Bytes{}}}
	for _, pair := range same {
		from, to := mustOf(reflect.TypeOf(pair[0]), true), mustOf(reflect.TypeOf(pair[1]), true)
		_, err := to.Translate(from.AppendSchema(nil))
		require.NoError(t, err)
	}
}
