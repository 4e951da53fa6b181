package wire

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/pool"
)

// order has what costs no malloc: numbers, arrays, counted bytes and others, a hand-coded part.
type order struct {
	ID    uint64
	Price float64
	Flags [4]bool
	Legs  [3]struct {
		A int16
		B int64
	}
	Raw  []byte
	View pool.Bytes
	At   point
}

// orderByHand is the same by hand.
type orderByHand struct{ order }

func (o *orderByHand) AppendWire(dst []byte) []byte {
	dst = AppendFloat64(AppendUint64(dst, o.ID), o.Price)
	for _, f := range o.Flags {
		dst = AppendBool(dst, f)
	}
	for _, l := range o.Legs {
		dst = AppendInt64(AppendInt16(dst, l.A), l.B)
	}
	dst = AppendBytes(AppendBytes(dst, o.Raw), o.View.B())
	return o.At.AppendWire(dst)
}

func (o *orderByHand) ReadWire(r *Reader) error {
	o.ID, o.Price = r.Uint64(), r.Float64()
	for i := range o.Flags {
		o.Flags[i] = r.Bool()
	}
	for i := range o.Legs {
		o.Legs[i].A, o.Legs[i].B = r.Int16(), r.Int64()
	}
	o.Raw, o.View = r.Bytes(), r.PoolBytes()
	return o.At.ReadWire(r)
}

// TestNoMallocs counts over a million values each way: by plan, by hand, by the plan of machines
// with another order of bytes, and by that for a peer with another version. Bytes alias the slab,
// and are copied.
func TestNoMallocs(t *testing.T) {
	n := 500_000 // of each size of slab
	if housetest.Slow {
		n = 1000
	}
	v := order{ID: 1, Price: 2, Flags: [4]bool{true}, Raw: make([]byte, 40), View: new(pool.Shard).Copy(make([]byte, 40)), At: point{1, 2, []byte("note")}}
	hand := orderByHand{v}
	plan, portable := mustOf(reflect.TypeFor[order](), true), mustOf(reflect.TypeFor[order](), false)
	type peer struct {
		Flags [4]bool
		X     []string
		Raw   []byte
		ID    uint64
		Y     map[string]bool
	}
	sender := mustOf(reflect.TypeFor[peer](), true)
	older, err := plan.Translate(sender.AppendSchema(nil))
	if err != nil {
		t.Fatal(err)
	}
	byHand := mustOf(reflect.TypeFor[orderByHand](), true)
	p := &peer{X: []string{"a", "b"}, Raw: make([]byte, 40), Y: map[string]bool{"a": true}}
	older1 := Append(sender, nil, p)
	for _, way := range []struct {
		name string
		c    *Codec
		v    unsafe.Pointer
		read func(*Reader, unsafe.Pointer) error
		in   []byte
	}{
		{"plan", plan, unsafe.Pointer(&v), plan.Read, nil},
		{"portable", portable, unsafe.Pointer(&v), portable.Read, nil},
		{"hand", byHand, unsafe.Pointer(&hand), byHand.Read, nil},
		{"older", plan, unsafe.Pointer(&v), older.Read, older1},
	} {
		for _, size := range []int{256, 4096} {
			message := way.in
			if message == nil {
				message = way.c.Append(nil, way.v)
			}
			b := lent(message, size)
			in, out, got := b.r.in, make([]byte, 0, 1024), new(orderByHand)
			housetest.ZeroAlloc(t, n, func(n int) {
				for range n {
					out = way.c.Append(out[:0], way.v)
					b.r.Reset(in)
					b.r.Lend(b.slab, &b.carrier, &b.shard)
					*got = orderByHand{}
					if err := way.read(&b.r, unsafe.Pointer(&got.order)); err != nil || b.r.End() != nil {
						panic(way.name)
					}
					b.carrier.Release()
				}
			})
		}
	}
}

// TestMallocsOfWhatNeedsThem: a string takes one, a slice takes one.
func TestMallocsOfWhatNeedsThem(t *testing.T) {
	type three struct {
		A string
		B []uint64
		C []string
	}
	c := mustOf(reflect.TypeFor[three](), true)
	in := Append(c, nil, &three{"a long text", []uint64{1, 2, 3}, []string{"", "a second text"}})
	v := new(three)
	r := new(Reader)
	if n := testing.AllocsPerRun(10_000, func() {
		r.Reset(in)
		*v = three{}
		if Read(c, r, v) != nil {
			panic("can't read")
		}
	}); n != 4 {
		t.Fatalf("%v mallocs", n)
	}
}

// TestErrorsAllocateNothing: what strangers send wrong costs no memory.
func TestErrorsAllocateNothing(t *testing.T) {
	c := mustOf(reflect.TypeFor[order](), true)
	in := append(Append(c, nil, &order{Raw: make([]byte, 40)}), 0)
	bad := append([]byte(nil), in...)
	bad[16] = 2
	v, r := new(order), new(Reader)
	housetest.ZeroAlloc(t, 1000, func(n int) {
		for i := range n {
			r.Reset(in[:i%len(in)])
			*v = order{}
			if Read(c, r, v) != nil && r.End() == nil {
				panic("no error")
			}
			r.Reset(bad)
			*v = order{}
			if Read(c, r, v) != ErrBool {
				panic("another error")
			}
		}
	})
}
