package wire

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
)

// mixed is a message with Release that has both sorts of bytes.
type mixed struct {
	View pool.Bytes
	Raw  []byte
	Last pool.Bytes
}

func (m *mixed) Release() {
	m.View.Release()
	m.Last.Release()
}

// TestRawBytesOfCountedMessages: a []byte has no count, also in a message whose pool.Bytes have: it
// lives as long as the stack, though the message has released its own.
func TestRawBytesOfCountedMessages(t *testing.T) {
	c := mustOf(reflect.TypeFor[mixed](), true)
	view := new(pool.Shard).Copy(make([]byte, 40))
	for _, size := range []int{256, 16 << 10} { // aliases, and copies
		raw := strings.Repeat("x", 40)
		b := lent(Append(c, nil, &mixed{view, []byte(raw), view}), size)
		var got mixed
		require.NoError(t, Read(c, &b.r, &got))
		b.slab.Release()
		got.Release()
		require.False(t, b.carrier.Empty())
		require.Equal(t, size != 256, dead(b.slab))
		require.Equal(t, raw, string(got.Raw))
		b.carrier.Release()
		require.True(t, dead(b.slab))
		require.True(t, dead(got.View))
	}
}

// TestCountedWithoutMemory: a message with Release for whose copies the budget has no room is
// released as far as it was read, at whichever of them that ends.
func TestCountedWithoutMemory(t *testing.T) {
	c := mustOf(reflect.TypeFor[mixed](), true)
	view := new(pool.Shard).Copy(make([]byte, 1000))
	in := Append(c, nil, &mixed{view, make([]byte, 1000), view})
	for copies := range 4 {
		b := lent(in, 64<<10)
		b.r.SetBudget(copies * pool.Size(1024))
		var got mixed
		err := Read(c, &b.r, &got)
		require.Equal(t, copies < 3, err == ErrBudget, copies)
		b.carrier.Release()
		require.Equal(t, copies > 0, got.View.Len() > 0)
		require.Equal(t, copies > 2, got.Last.Len() > 0)
		got.Release()
		for _, v := range []pool.Bytes{got.View, got.Last} {
			require.True(t, v.Len() == 0 || dead(v))
		}
	}
}

// handKey is coded by hand, and has bytes that nobody but itself sees.
type handKey struct {
	n    uint8
	view pool.Bytes
}

func (k *handKey) AppendWire(dst []byte) []byte {
	return AppendBytes(AppendUint8(dst, k.n), k.view.B())
}
func (k *handKey) ReadWire(r *Reader) error {
	k.n, k.view = r.Uint8(), r.PoolBytes()
	return r.Err()
}

// TestKeysThatHideBytes: pool.Bytes are no keys, where a type that is coded by hand has them, too,
// or one that crosses without them.
func TestKeysThatHideBytes(t *testing.T) {
	for _, of := range []reflect.Type{
		reflect.TypeFor[map[handKey]int](), reflect.TypeFor[map[[2]handKey]int](), reflect.TypeFor[map[struct {
			A int
			K handKey
		}]int](),
	} {
		_, err := Of(of)
		require.ErrorContains(t, err, "[key]: pool.Bytes are no keys", "%v", of)
	}
}

// code is a number that is coded by hand, raw bytes with a name, digit a byte with a name.
type (
	code  uint8
	raw   []byte
	digit uint8
	name  string
	flag  bool
)

func (c *code) AppendWire(dst []byte) []byte { return AppendString(dst, strings.Repeat("i", int(*c))) }
func (c *code) ReadWire(r *Reader) error {
	*c = code(len(r.String()))
	return r.Err()
}

// TestTypesWithNames are as those without: but a type that is coded by hand is, be it a number, and
// a slice of such bytes is no []byte.
func TestTypesWithNames(t *testing.T) {
	for _, r := range []struct {
		value         any
		bytes, schema string
	}{
		{code(2), "\x02ii", "\x15"},
		{[]code{1, 0}, "\x03\x02\x01i\x01\x00", "\x12\x15"},
		{[2]code{1, 0}, "\x02\x01i\x01\x00", "\x11\x02\x15"},
		{map[code]code{1: 2}, "\x02\x02\x01i\x03\x02ii", "\x13\x15"},
		{raw{7}, "\x02\x07", "\x10"},
		{raw(nil), "\x00", "\x10"},
		{[]digit{7, 8}, "\x03\x07\x08", "\x10"},
		{[2]digit{7, 8}, "\x07\x08", "\x11\x02\x06"},
		{name("a"), "\x01a", "\x0f"},
		{[]flag{true}, "\x02\x01", "\x12\x01"},
		{map[name]raw{"a": {}}, "\x02\x01a\x01", "\x13\x0f\x10"},
		{time.Second, "\x00\xca\x9a\x3b\x00\x00\x00\x00", "\x05"},
	} {
		v := reflect.New(reflect.TypeOf(r.value))
		v.Elem().Set(reflect.ValueOf(r.value))
		for _, flat := range []bool{true, false} {
			c := mustOf(v.Elem().Type(), flat)
			require.Equal(t, r.bytes, string(c.Append(nil, v.UnsafePointer())), "%T", r.value)
			require.True(t, strings.HasPrefix(string(c.AppendSchema(nil)), "\x01"+r.schema), "%T", r.value)
			got, err := read(c, []byte(r.bytes))
			require.NoError(t, err, "%T", r.value)
			require.Equal(t, r.value, got.Interface())
		}
	}
}

// TestBudgetOfAPeer: what a peer's type needs here is held against the budget as one's own is, to
// the byte, wherever fields are here that the peer doesn't know.
func TestBudgetOfAPeer(t *testing.T) {
	type less struct{ A uint16 }
	type more struct {
		A    uint16
		B    [100]uint64
		Text string
	}
	for _, r := range [][2]any{
		{[]less{{1}, {2}}, 2 * int(reflect.TypeFor[more]().Size())},
		{[][]less{{{1}}, {{2}, {3}}}, 2*int(reflect.TypeFor[[]more]().Size()) + 3*int(reflect.TypeFor[more]().Size())},
		{[3][]less{1: {{1}}}, int(reflect.TypeFor[more]().Size())},
		{map[string][]less{"ab": {{1}}}, 0},
	} {
		to := map[reflect.Type]reflect.Type{
			reflect.TypeFor[[]less]():            reflect.TypeFor[[]more](),
			reflect.TypeFor[[][]less]():          reflect.TypeFor[[][]more](),
			reflect.TypeFor[[3][]less]():         reflect.TypeFor[[3][]more](),
			reflect.TypeFor[map[string][]less](): reflect.TypeFor[map[string][]more](),
		}[reflect.TypeOf(r[0])]
		v := reflect.New(reflect.TypeOf(r[0]))
		v.Elem().Set(reflect.ValueOf(r[0]))
		from := mustOf(v.Elem().Type(), true)
		in := from.Append(nil, v.UnsafePointer())
		d, err := mustOf(to, true).Translate(from.AppendSchema(nil))
		require.NoError(t, err)
		read := func(budget int) (int, error) {
			var reader Reader
			reader.ResetWithin(in, budget)
			err := d.Read(&reader, reflect.New(to).UnsafePointer())
			return reader.Budget(), err
		}
		want := r[1].(int)
		if want == 0 { // a map, its key, and the slice in it
			m := Reader{budget: 1 << 20}
			require.True(t, m.spendMap(1, to))
			want = 1<<20 - m.Budget() + 2 + int(reflect.TypeFor[more]().Size())
		}
		left, err := read(want)
		require.NoError(t, err)
		require.Zero(t, left, "%T", r[0])
		_, err = read(want - 1)
		require.Equal(t, ErrBudget, err, "%T", r[0])
	}
}

// TestLongNamesInErrors: the error for a peer's type that is coded by hand has no more of its name
// than people read, as a stranger may give it one of any length.
func TestLongNamesInErrors(t *testing.T) {
	c := mustOf(reflect.TypeFor[[]point](), true)
	_, err := c.Translate(AppendString([]byte("\x01\x12\x15"), strings.Repeat("a", 60_000)))
	require.ErrorContains(t, err, "wire: []wire.point[]: \"aaaa")
	require.Less(t, len(err.Error()), 1000)
}

// TestKeysThatKeep: a value refers to its bytes by a key, too, that reads itself.
func TestKeysThatKeep(t *testing.T) {
	c := mustOf(reflect.TypeFor[map[code]struct{ A int }](), true)
	require.True(t, c.Decoder().Keeps())
	d, err := c.Translate(mustOf(reflect.TypeFor[map[code]struct{ A, B int }](), true).AppendSchema(nil))
	require.NoError(t, err)
	require.True(t, d.Keeps() && d.Calls())
}

// TestEmptyBytesOfAPeer: []byte and pool.Bytes are one kind; what is empty there and can't be here
// is the zero pool.Bytes, behind others, too, and holds nothing; what is zero there is nil here.
func TestEmptyBytesOfAPeer(t *testing.T) {
	type slices struct{ View, Raw, Last []byte }
	type views struct{ View, Raw, Last pool.Bytes }
	raws, counted, plain := mustOf(reflect.TypeFor[slices](), true), mustOf(reflect.TypeFor[mixed](), true), mustOf(reflect.TypeFor[views](), true)
	in := Append(raws, nil, &slices{[]byte("abc"), []byte{}, []byte{}})
	for _, size := range []int{16, 16 << 10} { // aliases, and copies
		b := lent(in, size)
		var m mixed
		require.NoError(t, Read(counted, &b.r, &m))
		require.Equal(t, "abc", string(m.View.B()))
		require.Equal(t, []byte{}, m.Raw)
		require.Equal(t, pool.Bytes{}, m.Last)
		b.carrier.Release()
		b.slab.Release()
		require.False(t, dead(m.View))
		m.Release()
		require.True(t, dead(m.View))

		b = lent(in, size)
		var v views
		require.NoError(t, Read(plain, &b.r, &v))
		require.Equal(t, views{View: v.View}, v)
		b.carrier.Release()
	}
	got, err := read(raws, Append(plain, nil, &views{}))
	require.NoError(t, err)
	require.Equal(t, slices{}, got.Interface())
	got, err = read(plain, in)
	require.NoError(t, err)
	require.Equal(t, pool.Bytes{}, got.Interface().(views).Last)
}

// pairs is a message with Release whose bytes are in a map alone.
type pairs struct{ By map[string]two }

func (m *pairs) Release() {
	for _, b := range m.By {
		b.A.Release()
		b.B.Release()
	}
}

// TestDuplicatesLeaveNoCounts: of a key that comes twice only the first value has counts, which
// Release drops.
func TestDuplicatesLeaveNoCounts(t *testing.T) {
	type otherTwo struct {
		A   pool.Bytes
		New uint8
		B   pool.Bytes
	}
	own, other := mustOf(reflect.TypeFor[pairs](), true), mustOf(reflect.TypeFor[struct{ By map[string]otherTwo }](), true)
	d, err := own.Translate(other.AppendSchema(nil))
	require.NoError(t, err)
	text := AppendBytes(nil, make([]byte, 40))
	for between, d := range map[string]*Decoder{"": own.Decoder(), "\x07": d} {
		value := string(text) + between + string(text)
		for _, size := range []int{256, 16 << 10} { // aliases, and copies
			b := lent([]byte("\x03\x01x"+value+"\x01x"+value), size)
			var got pairs
			require.Equal(t, ErrDuplicate, Read(d, &b.r, &got))
			view := got.By["x"].A
			require.Equal(t, 40, view.Len())
			b.carrier.Release()
			b.slab.Release()
			require.False(t, dead(view))
			got.Release()
			require.True(t, dead(view))
		}
	}
}
