package wire

import (
	"encoding/binary"
	"math/bits"
	"reflect"
	"time"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// sliceHeader is a slice of any type.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// appendOps appends the value at v as ops say. n codes references.
//
//alloc:none
func appendOps(n Names, dst []byte, ops []op, v unsafe.Pointer) []byte {
	for i := range ops {
		o := &ops[i]
		p := unsafe.Add(v, o.at)
		switch o.do {
		case opCopy:
			dst = append(dst, unsafe.Slice((*byte)(p), o.n)...)
		case opBools:
		case opNumber16, opNumber32, opNumber64:
			dst = appendNumbers(dst, o, p)
		case opInt:
			dst = AppendInt(dst, *(*int)(p))
		case opUint:
			dst = AppendUint(dst, *(*uint)(p))
		case opString:
			dst = AppendString(dst, *(*string)(p))
		case opBytes:
			dst = AppendBytes(dst, *(*[]byte)(p))
		case opPoolBytes:
			dst = appendCounted(dst, (*pool.Bytes)(p))
		case opTime:
			dst = AppendTime(dst, *(*time.Time)(p))
		case opCoded:
			dst = appendCoded(n, dst, o, p)
		case opWhole:
			dst = o.coder.append(n, dst, p)
		case opArray:
			for j := range o.n {
				dst = appendOps(n, dst, o.sub, unsafe.Add(p, uintptr(j)*o.stride))
			}
		case opSlice:
			dst = appendList(n, dst, o, (*sliceHeader)(p))
		case opMap:
			dst = appendMap(n, dst, o, p)
		case opFiller:
			dst = append(dst, 0)
		}
	}
	return dst
}

func appendNumbers(dst []byte, o *op, p unsafe.Pointer) []byte {
	for j := range o.n {
		switch o.do {
		case opNumber16:
			dst = binary.LittleEndian.AppendUint16(dst, *(*uint16)(unsafe.Add(p, 2*j)))
		case opNumber32:
			dst = binary.LittleEndian.AppendUint32(dst, *(*uint32)(unsafe.Add(p, 4*j)))
		case opNumber64:
			dst = binary.LittleEndian.AppendUint64(dst, *(*uint64)(unsafe.Add(p, 8*j)))
		}
	}
	return dst
}

func appendCounted(dst []byte, b *pool.Bytes) []byte {
	if b.Len() == 0 {
		return append(dst, 0)
	}
	return AppendBytes(dst, b.B())
}

func appendList(n Names, dst []byte, o *op, s *sliceHeader) []byte {
	dst = AppendCount(dst, s.len, s.data == nil)
	if o.dense {
		return append(dst, unsafe.Slice((*byte)(s.data), s.len*int(o.stride))...)
	}
	for j := range s.len {
		dst = appendOps(n, dst, o.sub, unsafe.Add(s.data, uintptr(j)*o.stride))
	}
	return dst
}

// appendCoded appends a value that is coded by hand, by a Foreign or by Names behind its length.
// Mostly that is a digit: for others the value moves on.
func appendCoded(by Names, dst []byte, o *op, p unsafe.Pointer) []byte {
	start := len(dst) + 1
	dst = o.coder.append(by, append(dst, 0), p)
	n := len(dst) - start
	if n < 0 {
		panic("wire: AppendWire returns less than it was given")
	}
	if n >= 0x80 {
		more := (bits.Len(uint(n))+6)/7 - 1
		dst = append(dst, make([]byte, more)...)
		copy(dst[start+more:], dst[start:start+n])
	}
	binary.PutUvarint(dst[start-1:], uint64(n))
	return dst
}

// appendMap allocates: keys and values have no place of their own in a map.
//
//go:noinline
func appendMap(n Names, dst []byte, o *op, p unsafe.Pointer) []byte {
	m := reflect.NewAt(o.typ, p).Elem()
	dst = AppendCount(dst, m.Len(), m.IsNil())
	if m.Len() == 0 {
		return dst
	}
	key, value := reflect.New(o.typ.Key()), reflect.New(o.typ.Elem())
	for it := m.MapRange(); it.Next(); {
		key.Elem().SetIterKey(it)
		value.Elem().SetIterValue(it)
		dst = appendOps(n, dst, o.key, key.UnsafePointer())
		dst = appendOps(n, dst, o.sub, value.UnsafePointer())
	}
	return dst
}
