package wire

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/pool"
)

// rich has a field of each kind.
type rich struct {
	A bool
	B int16
	C int
	D complex64
	E string
	F []byte
	G pool.Bytes
	H [2]bool
	I []struct {
		J uint8
		K []string
	}
	L map[string]map[uint8][]byte
	M time.Time
	N point
	O []point
	P []struct{}
	Q map[struct{}]struct{}
	R [2][]uint32
	S map[float64]float64
	T struct{ U, V uint64 }
	W []failing
}

func richSeeds() (all [][]byte) {
	c := mustOf(reflect.TypeFor[rich](), true)
	full := rich{
		A: true, B: 1, C: -1, D: 1, E: "text", F: []byte("raw"), G: new(pool.Shard).Copy([]byte("view")), H: [2]bool{true},
		L: map[string]map[uint8][]byte{"a": {1: []byte("b")}, "c": nil}, M: time.Unix(5, 6), N: point{1, 2, []byte("note")},
		O: []point{{}}, P: make([]struct{}, 3), Q: map[struct{}]struct{}{{}: {}}, R: [2][]uint32{{1}, {}}, S: map[float64]float64{1: 2},
		W: []failing{{1}},
	}
	full.I = append(full.I, struct {
		J uint8
		K []string
	}{1, []string{"x", ""}})
	return [][]byte{nil, Append(c, nil, new(rich)), Append(c, nil, &full), bytes.Repeat([]byte{1}, 100), bytes.Repeat([]byte{0xff}, 100)}
}

// FuzzRead reads any bytes as a rich type, in either order of bytes in memory: the same comes of
// both, within the budget, and what is read comes back from what is appended.
func FuzzRead(f *testing.F) {
	for _, in := range richSeeds() {
		f.Add(in)
	}
	flat, portable := mustOf(reflect.TypeFor[rich](), true), mustOf(reflect.TypeFor[rich](), false)
	f.Fuzz(func(t *testing.T, in []byte) {
		var v, w rich
		b := lent(in, len(in)+3)
		var err error
		if n := allocated(func() { err = Read(flat, &b.r, &v) }); n > (Budget{}).Of(len(in))*3/2+(1<<20) || b.r.Budget() < 0 {
			t.Fatalf("%d bytes allocated for %d, budget left %d", n, len(in), b.r.Budget())
		}
		var r Reader
		r.Reset(in)
		r.SetBudget(1 << 30)
		if other := Read(portable, &r, &w); err != ErrBudget && other != err {
			t.Fatalf("%v, but %v otherwise", err, other)
		}
		if err != nil {
			return
		}
		if left := b.r.Len(); r.Len() != left || text(reflect.ValueOf(v)) != text(reflect.ValueOf(w)) {
			t.Fatalf("%d bytes left, but %d otherwise:\n%s\n%s", left, r.Len(), text(reflect.ValueOf(v)), text(reflect.ValueOf(w)))
		}
		again := Append(flat, nil, &v)
		back, err := read(flat, again)
		if err != nil || text(back) != text(reflect.ValueOf(v)) {
			t.Fatalf("%v\n%s\n%s", err, text(back), text(reflect.ValueOf(v)))
		}
	})
}

// FuzzSchema takes any bytes as the schema of a peer, and others as a value of it.
func FuzzSchema(f *testing.F) {
	c := mustOf(reflect.TypeFor[rich](), true)
	for _, in := range richSeeds() {
		f.Add(c.AppendSchema(nil), in)
		f.Add([]byte("\x01\x14\x03\x01X\x12\x13\x0f\x10\x01A\x01\x01I\x12\x14\x01\x01K\x12\x0f"), in)
		f.Add([]byte("\x01\x14\x02\x01X\x11\x05\x12\x14\x00\x01P\x12\x14\x01\x01Z\x14\x00"), in)
	}
	for _, of := range leaves {
		f.Add(mustOf(reflect.StructOf([]reflect.StructField{{Name: "Y", Type: of}, {Name: "Z", Type: reflect.SliceOf(of)}}), true).AppendSchema(nil), []byte("\x05\x03\x02\x01\x00"))
	}
	f.Fuzz(func(t *testing.T, schema, in []byte) {
		var d *Decoder
		var err error
		if n := least(func() { d, err = c.Translate(schema) }); n > 2*len(schema)+(16<<10) {
			t.Fatalf("%d bytes allocated for a schema of %d", n, len(schema))
		}
		if err != nil {
			return
		}
		var v rich
		var r Reader
		r.Reset(in)
		if err := Read(d, &r, &v); err != nil {
			return
		}
		back, err := read(c, Append(c, nil, &v))
		if err != nil || text(back) != text(reflect.ValueOf(v)) {
			t.Fatalf("%v\n%s\n%s", err, text(back), text(reflect.ValueOf(v)))
		}
	})
}
