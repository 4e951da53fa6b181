package wire

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
)

// borrowed is a message in a slab, and the stack that carries what is read of it.
type borrowed struct {
	shard   pool.Shard
	slab    pool.Bytes
	carrier pool.Carrier
	r       Reader
}

// lent returns a reader of a message at the offset 3 of a slab of size bytes.
func lent(message []byte, size int) *borrowed {
	b := &borrowed{}
	b.slab = b.shard.Bytes(size)
	n := copy(b.slab.B()[3:], message)
	b.r.Reset(b.slab.B()[3 : 3+n])
	b.r.Lend(b.slab, &b.carrier, &b.shard)
	return b
}

// aliases reports whether p lies in the slab.
func (b *borrowed) aliases(p []byte) bool {
	_, ok := b.slab.Part(p)
	return ok && len(p) > 0
}

// dead reports whether bytes were released.
func dead(b pool.Bytes) (is bool) {
	defer func() { is = recover() != nil }()
	b.Retain().Release()
	return false
}

type holding struct {
	Raw  []byte
	View pool.Bytes
}

type two struct{ A, B pool.Bytes }

// releasing is a message with a Release of its own.
type releasing struct {
	Holding holding
	More    []holding
	By      map[string]two
	Hand    handBytes
}

func (m *releasing) Release() {
	m.Holding.View.Release()
	for _, h := range m.More {
		h.View.Release()
	}
	for _, b := range m.By {
		b.A.Release()
		b.B.Release()
	}
	m.Hand.b.Release()
}

type handBytes struct{ b pool.Bytes }

func (h *handBytes) AppendWire(dst []byte) []byte { return AppendBytes(dst, h.b.B()) }
func (h *handBytes) ReadWire(r *Reader) error {
	h.b = r.PoolBytes()
	return r.Err()
}

// TestBytesLiveAsLongAsTheStack: those of an eighth of the slab alias it, shorter ones are copied,
// and both live until the carrier is released, though the link has let the slab go.
func TestBytesLiveAsLongAsTheStack(t *testing.T) {
	c, err := For[holding]()
	require.NoError(t, err)
	for _, long := range []bool{true, false} {
		n := 128
		if !long {
			n--
		}
		text := strings.Repeat("x", n)
		b := lent(Append(c, nil, &holding{[]byte(text), new(pool.Shard).Copy([]byte(text))}), 1024)
		var h holding
		require.NoError(t, Read(c, &b.r, &h))
		require.NoError(t, b.r.End())
		require.Equal(t, long, b.aliases(h.Raw))
		require.Equal(t, long, b.aliases(h.View.B()))
		require.Equal(t, len(h.Raw), cap(h.Raw))
		b.slab.Release()
		require.Equal(t, !long, dead(b.slab))
		require.False(t, dead(h.View))
		require.Equal(t, text, string(h.Raw))
		require.Equal(t, text, string(h.View.B()))
		b.carrier.Release()
		require.True(t, dead(b.slab))
		require.True(t, dead(h.View))
	}
}

// TestSlabIsHeldOnce, and not at all if nothing aliases it.
func TestSlabIsHeldOnce(t *testing.T) {
	c, err := For[[]holding]()
	require.NoError(t, err)
	text := strings.Repeat("x", 20)
	v := []holding{{[]byte(text), pool.Bytes{}}, {[]byte(text), pool.Bytes{}}}
	b := lent(Append(c, nil, &v), 128)
	var got []holding
	require.NoError(t, Read(c, &b.r, &got))
	require.Equal(t, b.slab.Len(), b.carrier.Size(), "shared once")

	b = lent(Append(c, nil, &[]holding{{[]byte{}, pool.Bytes{}}, {}}), 128)
	got = nil
	require.NoError(t, Read(c, &b.r, &got))
	require.True(t, b.carrier.Empty())
	require.Equal(t, []holding{{Raw: []byte{}}, {}}, got)
	require.NotNil(t, got[0].Raw)
}

// TestReleaseHasCounts: each pool.Bytes of a message with Release has a count, wherever it stands
// and however far reading came.
func TestReleaseHasCounts(t *testing.T) {
	type next struct { // the type at a peer of another version
		New     []string
		Holding holding
		More    []holding
		By      map[string]struct {
			A   pool.Bytes
			New uint8
			B   pool.Bytes
		}
		Hand handBytes
	}
	c, of := mustOf(reflect.TypeFor[releasing](), true), mustOf(reflect.TypeFor[next](), true)
	other, err := c.Translate(of.AppendSchema(nil))
	require.NoError(t, err)
	text := func(s string) pool.Bytes { return new(pool.Shard).Copy([]byte(strings.Repeat(s, 36))) }
	m := releasing{
		Holding: holding{View: text("a")}, More: []holding{{View: text("b")}, {View: text("c")}},
		By: map[string]two{"x": {text("d"), text("f")}}, Hand: handBytes{text("e")},
	}
	n := next{New: []string{"g"}, Holding: m.Holding, More: m.More, Hand: m.Hand}
	n.By = map[string]struct {
		A   pool.Bytes
		New uint8
		B   pool.Bytes
	}{"x": {m.By["x"].A, 7, m.By["x"].B}}
	for _, size := range []int{256, 16 << 10} { // aliases, and copies
		releaseHasCounts(t, c.Decoder(), Append(c, nil, &m), size)
		releaseHasCounts(t, other, Append(of, nil, &n), size)
	}
}

// releaseHasCounts reads a whole message, and as much of it as there may be, from a slab.
func releaseHasCounts(t *testing.T, d *Decoder, whole []byte, size int) {
	for n := range len(whole) + 1 {
		b := lent(whole[:n], size)
		var got releasing
		err := Read(d, &b.r, &got)
		require.Equal(t, n < len(whole), err != nil)
		views := []pool.Bytes{got.Holding.View, got.By["x"].A, got.By["x"].B, got.Hand.b}
		for _, h := range got.More {
			views = append(views, h.View)
		}
		if size == 256 {
			require.True(t, b.carrier.Empty(), "held for views that have counts")
		}
		b.carrier.Release()
		b.slab.Release()
		for _, view := range views {
			require.Equal(t, view.Len() == 0, view == pool.Bytes{})
			require.True(t, view.Len() == 0 || !dead(view), "released before its message, at %d", n)
		}
		got.Release()
		for _, view := range views {
			require.True(t, view.Len() == 0 || dead(view), "never released, at %d", n)
		}
		require.True(t, dead(b.slab))
	}
}

// TestFieldsWithReleaseHaveNoCounts: nobody calls the Release of a part.
func TestFieldsWithReleaseHaveNoCounts(t *testing.T) {
	c, err := For[[]releasing]()
	require.NoError(t, err)
	v := []releasing{{Holding: holding{View: new(pool.Shard).Copy(make([]byte, 40))}}}
	b := lent(Append(c, nil, &v), 128)
	var got []releasing
	require.NoError(t, Read(c, &b.r, &got))
	b.slab.Release()
	b.carrier.Release()
	require.True(t, dead(got[0].Holding.View))
}

// wrapped is a message without Release whose hand-written half reads one with.
type wrapped struct{ one releasing }

var releasingCodec, _ = For[releasing]()

func (w *wrapped) AppendWire(dst []byte) []byte { return Append(releasingCodec, dst, &w.one) }
func (w *wrapped) ReadWire(r *Reader) error     { return Read(releasingCodec, r, &w.one) }

// TestTheMessageSaysWhetherBytesAreCounted, and not what its ReadWire reads; the next message says
// it anew.
func TestTheMessageSaysWhetherBytesAreCounted(t *testing.T) {
	c, err := For[wrapped]()
	require.NoError(t, err)
	v := wrapped{releasing{Holding: holding{View: new(pool.Shard).Copy(make([]byte, 40))}}}
	b := lent(Append(releasingCodec, Append(c, nil, &v), &v.one), 128)
	var got wrapped
	require.NoError(t, Read(c, &b.r, &got))
	require.False(t, b.carrier.Empty())
	b.carrier.Release()
	var second releasing
	require.NoError(t, Read(releasingCodec, &b.r, &second))
	b.slab.Release()
	require.False(t, dead(second.Holding.View))
	second.Release()
	require.True(t, dead(b.slab))
}

// within is a part of a message, whose hand-written half reads what has no Release.
type within struct{ one holding }

var holdingCodec, _ = For[holding]()

func (w *within) AppendWire(dst []byte) []byte { return Append(holdingCodec, dst, &w.one) }
func (w *within) ReadWire(r *Reader) error     { return Read(holdingCodec, r, &w.one) }

// around is a message with Release, of which a part has none.
type around struct {
	Within within
	View   pool.Bytes
}

func (a *around) Release() {
	a.Within.one.View.Release()
	a.View.Release()
}

// TestPartsOfCountedMessages: bytes of a message with Release are counted, whatever reads its
// parts.
func TestPartsOfCountedMessages(t *testing.T) {
	c, err := For[around]()
	require.NoError(t, err)
	view := new(pool.Shard).Copy(make([]byte, 40))
	b := lent(Append(c, nil, &around{within{holding{View: view}}, view}), 128)
	var got around
	require.NoError(t, Read(c, &b.r, &got))
	b.slab.Release()
	b.carrier.Release()
	require.False(t, dead(got.View))
	require.False(t, dead(got.Within.one.View))
	got.Release()
	require.True(t, dead(b.slab))
}

// TestCopiesShareSlabs: a thousand short pieces take about their bytes, not a slab each.
func TestCopiesShareSlabs(t *testing.T) {
	c, err := For[[][]byte]()
	require.NoError(t, err)
	var v [][]byte
	for i := range 1000 {
		v = append(v, []byte(strings.Repeat("x", i%20)))
	}
	b := lent(Append(c, nil, &v), 60_000)
	var got [][]byte
	require.NoError(t, Read(c, &b.r, &got))
	require.Equal(t, v, got)
	require.False(t, dead(b.slab))
	require.Less(t, b.carrier.Size(), 10_000)
	b.slab.Release()
	require.True(t, dead(b.slab))
	require.Equal(t, v, got)

	b = lent(Append(c, nil, &[][]byte{make([]byte, 1100), make([]byte, 500)}), 64<<10)
	got = nil
	require.NoError(t, Read(c, &b.r, &got))
	require.Equal(t, 2048, b.carrier.Size(), "what the first has left is for the second")
}

// TestLendAgain: two messages in one slab, each for a stack of its own.
func TestLendAgain(t *testing.T) {
	c, err := For[holding]()
	require.NoError(t, err)
	for _, size := range []int{128, 4096} {
		v := holding{Raw: []byte(strings.Repeat("x", 30))}
		b := lent(Append(c, Append(c, nil, &v), &v), size)
		var one, two holding
		var second pool.Carrier
		require.NoError(t, Read(c, &b.r, &one))
		b.r.Lend(b.slab, &second, &b.shard)
		require.NoError(t, Read(c, &b.r, &two))
		require.NoError(t, b.r.End())
		require.Equal(t, b.carrier.Size(), second.Size())
		b.slab.Release()
		b.carrier.Release()
		require.Equal(t, v, two)
		require.Equal(t, size == 4096, dead(b.slab))
		second.Release()
		require.True(t, dead(b.slab))
	}
}

// TestNoSlab: a message that lies in no slab is copied.
func TestNoSlab(t *testing.T) {
	c, err := For[holding]()
	require.NoError(t, err)
	in := Append(c, nil, &holding{[]byte("raw"), new(pool.Shard).Copy([]byte("view"))})
	var shard pool.Shard
	var carrier pool.Carrier
	var r Reader
	r.Reset(in)
	r.Lend(pool.Bytes{}, &carrier, &shard)
	var h holding
	require.NoError(t, Read(c, &r, &h))
	clear(in)
	require.Equal(t, "raw", string(h.Raw))
	require.Equal(t, "view", string(h.View.B()))
	carrier.Release()
	require.True(t, dead(h.View))
}

// TestNothingLent: a []byte aliases what Reset got, a pool.Bytes is a copy.
func TestNothingLent(t *testing.T) {
	c, err := For[holding]()
	require.NoError(t, err)
	in := Append(c, nil, &holding{[]byte("raw"), new(pool.Shard).Copy([]byte("view"))})
	var r Reader
	r.Reset(in)
	var h holding
	require.NoError(t, Read(c, &r, &h))
	require.Same(t, &in[1], unsafe.SliceData(h.Raw))
	clear(in)
	require.Equal(t, "view", string(h.View.B()))
	h.View.Release()
}

func TestLendPanics(t *testing.T) {
	var r Reader
	var shard pool.Shard
	var carrier pool.Carrier
	r.Reset([]byte("abc"))
	const without = "wire: Lend without a carrier and a shard"
	require.PanicsWithValue(t, without, func() { r.Lend(pool.Bytes{}, nil, &shard) })
	require.PanicsWithValue(t, without, func() { r.Lend(pool.Bytes{}, &carrier, nil) })
	for _, n := range []int{1, 10} {
		require.PanicsWithValue(t, "wire: the message isn't in its slab", func() { r.Lend(shard.Bytes(n), &carrier, &shard) })
	}
}
