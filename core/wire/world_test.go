package wire

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

type pointer = unsafe.Pointer

// point is coded by hand.
type point struct {
	x, y int32
	note []byte
}

func (p *point) AppendWire(dst []byte) []byte {
	return AppendBytes(AppendInt32(AppendInt32(dst, p.x), p.y), p.note)
}

func (p *point) ReadWire(r *Reader) error {
	p.x, p.y, p.note = r.Int32(), r.Int32(), r.Bytes()
	return r.Err()
}

// leaves are types that have no types within them that a version may change.
var leaves = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[uint](), reflect.TypeFor[int8](), reflect.TypeFor[int16](),
	reflect.TypeFor[int32](), reflect.TypeFor[int64](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](),
	reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[complex64](),
	reflect.TypeFor[complex128](), reflect.TypeFor[string](), reflect.TypeFor[[]byte](), reflect.TypeFor[pool.Bytes](),
	reflect.TypeFor[time.Time](), reflect.TypeFor[time.Duration](), reflect.TypeFor[point](), reflect.TypeFor[[3]bool](),
	reflect.TypeFor[[0]string](), reflect.TypeFor[struct{}](), reflect.TypeFor[[5]uint16](), reflect.TypeFor[[]bool](),
}

// keyTypes are types of keys whose values are equal if their bytes are.
var keyTypes = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[uint64](), reflect.TypeFor[string](),
	reflect.TypeFor[[2]string](), reflect.TypeFor[struct{}](), reflect.TypeFor[struct {
		A uint8
		B int32
	}](),
}

// types makes two versions of a random type. Each has a field that the other one also has with the
// probability of most/8. Its structs have so many fields more.
type types struct {
	r    *rand.Rand
	most int
	wide int
}

func (g types) pair(depth int) (a, b reflect.Type) {
	n := g.r.IntN(10)
	if depth == 0 {
		n = 9
	}
	switch {
	case n < 4:
		return g.structs(depth)
	case n == 4:
		a, b = g.pair(depth - 1)
		size := g.r.IntN(4)
		return reflect.ArrayOf(size, a), reflect.ArrayOf(size, b)
	case n < 7:
		a, b = g.pair(depth - 1)
		return reflect.SliceOf(a), reflect.SliceOf(b)
	case n == 7:
		a, b = g.pair(depth - 1)
		key := keyTypes[g.r.IntN(len(keyTypes))]
		return reflect.MapOf(key, a), reflect.MapOf(key, b)
	}
	leaf := leaves[g.r.IntN(len(leaves))]
	return leaf, leaf
}

func (g types) structs(depth int) (a, b reflect.Type) {
	var as, bs []reflect.StructField
	for i := range g.r.IntN(7) + g.wide {
		name := fmt.Sprintf("F%d", i)
		fa, fb := g.pair(depth - 1)
		if g.r.IntN(8) < g.most {
			as = append(as, reflect.StructField{Name: name, Type: fa})
		}
		field := reflect.StructField{Name: name, Type: fb}
		if g.r.IntN(4) == 0 {
			field.Name, field.Tag = "Renamed"+name, reflect.StructTag(`wire:"`+name+`"`)
		}
		if g.r.IntN(8) < g.most {
			bs = append(bs, field)
		}
		if g.r.IntN(8) == 0 {
			bs = append(bs, reflect.StructField{Name: "Hidden" + name, Type: reflect.TypeFor[func()](), Tag: `wire:"-"`})
		}
	}
	if g.most < 8 {
		g.r.Shuffle(len(bs), func(i, j int) { bs[i], bs[j] = bs[j], bs[i] })
	}
	return reflect.StructOf(as), reflect.StructOf(bs)
}

// fill makes v, which is zero, a random value. Maps have at most entries keys.
func fill(r *rand.Rand, v reflect.Value, entries int) {
	some := func() int { return max(r.IntN(5)-1, 0) }
	switch t := v.Type(); t {
	case timeType:
		v.Set(reflect.ValueOf(time.Unix(r.Int64()-r.Int64(), r.Int64N(1e9)).UTC()))
		return
	case bytesType:
		if n := some() * 9; n > 0 {
			v.Set(reflect.ValueOf(new(pool.Shard).Copy(randomBytes(r, n))))
		}
		return
	case reflect.TypeFor[point]():
		p := point{x: int32(r.Uint32()), y: int32(r.Uint32())}
		if r.IntN(2) == 0 {
			p.note = randomBytes(r, r.IntN(300)) // so that some lengths have two digits
		}
		v.Set(reflect.ValueOf(p))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(r.NormFloat64(), r.NormFloat64()))
	case reflect.String:
		v.SetString(string(randomBytes(r, some()*3)))
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), entries)
		}
	case reflect.Slice:
		if r.IntN(4) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), some(), 5))
		}
		for i := range v.Len() {
			fill(r, v.Index(i), entries)
		}
	case reflect.Map:
		if r.IntN(4) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range r.IntN(entries + 1) {
				key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(r, key, entries)
				fill(r, elem, entries)
				v.SetMapIndex(key, elem)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("wire") != "-" {
				fill(r, v.Field(i), entries)
			}
		}
	}
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// text writes all of v, so that equal texts are equal values, bit for bit.
func text(v reflect.Value) string {
	switch t := v.Type(); {
	case !v.CanInterface():
		return fmt.Sprint(v.IsZero()) // it doesn't cross
	case t == timeType:
		return fmt.Sprintf("%#v", v.Interface())
	case t == bytesType:
		b := v.Interface().(pool.Bytes)
		return fmt.Sprintf("%v %q", b == pool.Bytes{}, b.B())
	case t == reflect.TypeFor[point]():
		p := v.Interface().(point)
		return fmt.Sprintf("%d %d %v %q", p.x, p.y, p.note == nil, p.note)
	}
	var b strings.Builder
	switch v.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return fmt.Sprintf("%x", refAppend(nil, v, true))
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return "nil"
		}
		for i := range v.Len() {
			b.WriteString(text(v.Index(i)) + ", ")
		}
		return "[" + b.String() + "]"
	case reflect.Map:
		if v.IsNil() {
			return "nil"
		}
		all := map[string]string{}
		for it := v.MapRange(); it.Next(); {
			all[text(it.Key())] = text(it.Value())
		}
		return fmt.Sprintf("%q", all) // sorted
	case reflect.Struct:
		for i := range v.NumField() {
			b.WriteString(text(v.Field(i)) + ", ")
		}
		return "{" + b.String() + "}"
	case reflect.Func:
		return fmt.Sprint(v.IsNil())
	}
	return fmt.Sprintf("%#v", v.Interface())
}
