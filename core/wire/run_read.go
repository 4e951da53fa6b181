package wire

import (
	"encoding/binary"
	"reflect"
	"time"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// run reads a value into v, which is zero, as ops say. It reports whether r has no error.
//
//alloc:none
func (r *Reader) run(ops []op, v unsafe.Pointer) bool {
	for i := range ops {
		o := &ops[i]
		p := unsafe.Add(v, o.at)
		switch o.do {
		case opCopy:
			if len(r.in) < o.n {
				r.Fail(ErrTruncated)
				return false
			}
			copy(unsafe.Slice((*byte)(p), o.n), r.in)
			r.in = r.in[o.n:]
			continue
		case opBools:
			r.checkBools(unsafe.Slice((*byte)(p), o.n))
		case opNumber16, opNumber32, opNumber64:
			r.readNumbers(o, p)
		case opInt:
			*(*int)(p) = r.Int()
		case opUint:
			*(*uint)(p) = r.Uint()
		case opString:
			*(*string)(p) = r.String()
		case opBytes:
			*(*[]byte)(p) = r.Bytes()
		case opPoolBytes:
			*(*pool.Bytes)(p) = r.PoolBytes()
		case opTime:
			*(*time.Time)(p) = r.Time()
		case opCoded:
			r.readSized(o, p)
		case opWhole:
			r.readCoded(o.coder, p)
		case opArray:
			for j := range o.n {
				if !r.run(o.sub, unsafe.Add(p, uintptr(j)*o.stride)) {
					return false
				}
			}
		case opSlice:
			r.readList(o, p)
		case opMap:
			r.readMap(o, p)
		case opFiller:
			r.filler()
		}
		if r.err != nil {
			return false
		}
	}
	return true
}

// filler reads what is in place of an element that has no bytes.
func (r *Reader) filler() {
	if r.Uint8() != 0 {
		r.Fail(ErrFiller)
	}
}

// checkBools looks at bytes that are bools. They are no bools if one is above 1, so all become 0.
func (r *Reader) checkBools(b []byte) {
	all := byte(0)
	for _, c := range b {
		all |= c
	}
	if all > 1 {
		clear(b)
		r.Fail(ErrBool)
	}
}

func (r *Reader) readNumbers(o *op, p unsafe.Pointer) {
	for j := range o.n {
		switch o.do {
		case opNumber16:
			*(*uint16)(unsafe.Add(p, 2*j)) = r.Uint16()
		case opNumber32:
			*(*uint32)(unsafe.Add(p, 4*j)) = r.Uint32()
		case opNumber64:
			*(*uint64)(unsafe.Add(p, 8*j)) = r.Uint64()
		}
	}
}

// readSized reads a value that is coded by hand, by a Foreign or by Names behind its length: it
// sees no other bytes.
func (r *Reader) readSized(o *op, p unsafe.Pointer) {
	all := r.sized()
	if r.err != nil {
		return
	}
	behind := r.in
	r.in = all
	r.readCoded(o.coder, p)
	if r.End() == nil {
		r.in = behind
	}
}

// readList makes a slice and reads its elements.
func (r *Reader) readList(o *op, p unsafe.Pointer) {
	n, none := r.Count(o.least, o.stride)
	if none {
		return
	}
	data := makeSlice(o.typ, p, n)
	if o.dense {
		copy(unsafe.Slice((*byte)(data), n*int(o.stride)), r.take(n*int(o.stride)))
		return
	}
	for j := range n {
		if !r.run(o.sub, unsafe.Add(data, uintptr(j)*o.stride)) {
			return
		}
	}
}

// makeSlice makes the slice at p, of type t and nil, n elements long. It takes one malloc: that of
// the elements.
//
//go:noinline
func makeSlice(t reflect.Type, p unsafe.Pointer, n int) unsafe.Pointer {
	if n == 0 {
		*(*[]struct{})(p) = []struct{}{}
		return nil
	}
	s := reflect.NewAt(t, p).Elem()
	s.Grow(n)
	s.SetLen(n)
	s.SetCap(n)
	return s.UnsafePointer()
}

// readMap makes a map and reads its entries.
func (r *Reader) readMap(o *op, p unsafe.Pointer) {
	r.entries(o.typ, p, o.least,
		func(key unsafe.Pointer) { r.run(o.key, key) },
		func(value unsafe.Pointer) { r.run(o.sub, value) })
}

// entries makes the map at p, of type t, and reads its entries. One whose value fails is in the
// map, as it may hold bytes that Release finds.
//
//go:noinline
func (r *Reader) entries(t reflect.Type, p unsafe.Pointer, least int, readKey, readValue func(unsafe.Pointer)) {
	n, none := r.count(least)
	if none || !r.spendMap(n, t) {
		return
	}
	m := reflect.MakeMapWithSize(t, n)
	reflect.NewAt(t, p).Elem().Set(m)
	if n == 0 {
		return
	}
	key, value := reflect.New(t.Key()), reflect.New(t.Elem())
	for range n {
		key.Elem().SetZero()
		value.Elem().SetZero()
		if readKey(key.UnsafePointer()); r.err != nil {
			return
		}
		if m.MapIndex(key.Elem()).IsValid() {
			r.Fail(ErrDuplicate)
			return
		}
		readValue(value.UnsafePointer())
		if m.SetMapIndex(key.Elem(), value.Elem()); r.err != nil {
			return
		}
	}
}

// littleEndian reports whether the memory of numbers is their encoding.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1
