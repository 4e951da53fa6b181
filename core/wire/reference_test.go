package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/pool"
)

// The reference: a codec by reflection, as plain as the page of the package.

func refAppend(dst []byte, v reflect.Value, top bool) []byte {
	le := binary.LittleEndian
	switch t := v.Type(); t {
	case timeType:
		at := v.Interface().(time.Time)
		return le.AppendUint32(le.AppendUint64(dst, uint64(at.Unix())), uint32(at.Nanosecond()))
	case bytesType:
		if b := v.Interface().(pool.Bytes); b.Len() > 0 {
			return append(binary.AppendUvarint(dst, uint64(b.Len())+1), b.B()...)
		}
		return append(dst, 0)
	case reflect.TypeFor[point]():
		p := v.Interface().(point)
		own := p.AppendWire(nil)
		if !top {
			dst = binary.AppendUvarint(dst, uint64(len(own)))
		}
		return append(dst, own...)
	}
	switch k := v.Kind(); k {
	case reflect.Bool:
		if v.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case reflect.Int, reflect.Int64:
		return le.AppendUint64(dst, uint64(v.Int()))
	case reflect.Int8:
		return append(dst, byte(v.Int()))
	case reflect.Int16:
		return le.AppendUint16(dst, uint16(v.Int()))
	case reflect.Int32:
		return le.AppendUint32(dst, uint32(v.Int()))
	case reflect.Uint, reflect.Uint64:
		return le.AppendUint64(dst, v.Uint())
	case reflect.Uint8:
		return append(dst, byte(v.Uint()))
	case reflect.Uint16:
		return le.AppendUint16(dst, uint16(v.Uint()))
	case reflect.Uint32:
		return le.AppendUint32(dst, uint32(v.Uint()))
	case reflect.Float32:
		return le.AppendUint32(dst, math.Float32bits(float32(v.Float())))
	case reflect.Float64:
		return le.AppendUint64(dst, math.Float64bits(v.Float()))
	case reflect.Complex64:
		c := v.Complex()
		dst = le.AppendUint32(dst, math.Float32bits(float32(real(c))))
		return le.AppendUint32(dst, math.Float32bits(float32(imag(c))))
	case reflect.Complex128:
		c := v.Complex()
		return le.AppendUint64(le.AppendUint64(dst, math.Float64bits(real(c))), math.Float64bits(imag(c)))
	case reflect.String:
		return append(binary.AppendUvarint(dst, uint64(v.Len())), v.String()...)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("wire") != "-" {
				dst = refAppend(dst, v.Field(i), false)
			}
		}
		return dst
	case reflect.Array:
		for i := range v.Len() {
			dst = refAppend(dst, v.Index(i), false)
		}
		return dst
	}
	if v.IsNil() {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(dst, uint64(v.Len())+1)
	entry := func(parts ...reflect.Value) {
		start := len(dst)
		for _, part := range parts {
			dst = refAppend(dst, part, false)
		}
		if len(dst) == start {
			dst = append(dst, 0)
		}
	}
	if v.Kind() == reflect.Map {
		for it := v.MapRange(); it.Next(); {
			entry(it.Key(), it.Value())
		}
		return dst
	}
	for i := range v.Len() {
		entry(v.Index(i))
	}
	return dst
}

// refConvert is what a peer's value is here.
func refConvert(from, to reflect.Value) {
	switch to.Kind() {
	case reflect.Struct:
		if to.Type() == from.Type() {
			break
		}
		for i := range to.NumField() {
			f := to.Type().Field(i)
			name := f.Tag.Get("wire")
			if name == "" {
				name = f.Name
			}
			for j := range from.NumField() {
				g := from.Type().Field(j)
				if g.Tag.Get("wire") == name || g.Tag.Get("wire") == "" && g.Name == name {
					refConvert(from.Field(j), to.Field(i))
				}
			}
		}
		return
	case reflect.Array:
		for i := range to.Len() {
			refConvert(from.Index(i), to.Index(i))
		}
		return
	case reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
			for i := range to.Len() {
				refConvert(from.Index(i), to.Index(i))
			}
		}
		return
	case reflect.Map:
		if !from.IsNil() {
			to.Set(reflect.MakeMap(to.Type()))
			for it := from.MapRange(); it.Next(); {
				elem := reflect.New(to.Type().Elem()).Elem()
				refConvert(it.Value(), elem)
				to.SetMapIndex(it.Key(), elem)
			}
		}
		return
	}
	to.Set(from)
}

// seeds is how many random types each test takes.
func seeds() int {
	if housetest.Slow {
		return 200
	}
	return 2000
}

func mustOf(t reflect.Type, flat bool) *Codec {
	c, err := compile(t, flat)
	if err != nil {
		panic(err)
	}
	return c
}

// read reads all of in into a new value, and says what went wrong.
func read(d interface {
	Type() reflect.Type
	Read(*Reader, pointer) error
}, in []byte) (reflect.Value, error) {
	var r Reader
	r.Reset(in)
	r.SetBudget(1 << 20)
	v := reflect.New(d.Type())
	if err := d.Read(&r, v.UnsafePointer()); err != nil {
		return v.Elem(), err
	}
	return v.Elem(), r.End()
}

// TestAgainstReflection: values of random types have the bytes that the reference makes of them,
// and come back as they were, on machines of either order of bytes; a shorter input is truncated.
func TestAgainstReflection(t *testing.T) {
	for seed := range uint64(seeds()) {
		r := rand.New(rand.NewPCG(seed, 1))
		of, _ := types{r: r, most: 8}.pair(4)
		entries := int(seed%2) * 4
		v := reflect.New(of)
		fill(r, v.Elem(), max(entries, 1))
		want := refAppend(nil, v.Elem(), true)
		for _, flat := range []bool{true, false} {
			c := mustOf(of, flat)
			about := fmt.Sprintf("seed %d, flat %v, %v", seed, flat, of)
			got := c.Append([]byte("before"), v.UnsafePointer())
			if len(got) != len("before")+len(want) || entries == 0 && !bytes.Equal(got[len("before"):], want) {
				t.Fatalf("%s:\n got %x\nwant %x", about, got[len("before"):], want)
			}
			got = got[len("before"):]
			back, err := read(c, got)
			if err != nil || text(back) != text(v.Elem()) {
				t.Fatalf("%s: %v\n got %s\nwant %s", about, err, text(back), text(v.Elem()))
			}
			if len(got) > 0 {
				if _, err := read(c, got[:r.IntN(len(got))]); err != ErrTruncated {
					t.Fatalf("%s: truncated: %v", about, err)
				}
			}
			if _, err := read(c, append(got, 0)); err != ErrTrailing {
				t.Fatalf("%s: trailing: %v", about, err)
			}
		}
	}
}

// TestVersionsAgainstReflection: of two versions of a random type, each reads what the other one
// sends as the reference says, and a third that knows no field skips it all.
func TestVersionsAgainstReflection(t *testing.T) {
	for seed := range uint64(seeds()) {
		r := rand.New(rand.NewPCG(seed, 2))
		a, b := types{r: r, most: 5}.structs(4)
		if seed%20 == 0 { // numbers of leaves of one byte, and of more
			a, b = types{r: r, most: 6, wide: r.IntN(300)}.structs(1)
		}
		for _, pair := range [][2]reflect.Type{{a, b}, {b, a}, {a, reflect.TypeFor[struct{}]()}, {a, a}} {
			about := fmt.Sprintf("seed %d: %v read as %v", seed, pair[0], pair[1])
			from, to := mustOf(pair[0], true), mustOf(pair[1], seed%2 == 0)
			d, err := to.Translate(from.AppendSchema(nil))
			if err != nil {
				t.Fatalf("%s: %v", about, err)
			}
			if same := d == &to.own; same != bytes.Equal(from.AppendSchema(nil), to.AppendSchema(nil)) {
				t.Fatalf("%s: the plain plan: %v", about, same)
			}
			if n := len(d.steps); n > 2*len(from.schema) {
				t.Fatalf("%s: %d bytes of steps for a schema of %d", about, n, len(from.schema))
			}
			v, want := reflect.New(pair[0]), reflect.New(pair[1]).Elem()
			fill(r, v.Elem(), 4)
			refConvert(v.Elem(), want)
			sent := from.Append(nil, v.UnsafePointer())
			got, err := read(d, sent)
			if err != nil || text(got) != text(want) {
				t.Fatalf("%s: %v\n got %s\nwant %s", about, err, text(got), text(want))
			}
			if len(sent) > 0 {
				if _, err := read(d, sent[:r.IntN(len(sent))]); err != ErrTruncated {
					t.Fatalf("%s: truncated: %v", about, err)
				}
			}
		}
	}
}
