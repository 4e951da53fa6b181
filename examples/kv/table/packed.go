package table

import (
	"bytes"
	"encoding/binary"
)

// packed is the value of a small hash, its fields in the order in which they came.
//
//	bytes  what
//	2      number of fields, little endian
//	       for each field:
//	1      length of its name, n
//	1      length of its value, v
//	n      name
//	v      value
type packed []byte

const packedHead = 2

func (p packed) count() int     { return int(binary.LittleEndian.Uint16(p)) }
func (p packed) setCount(n int) { binary.LittleEndian.PutUint16(p, uint16(n)) }

// at returns the field at an offset, which is below len(p), and the next offset.
func (p packed) at(off int) (name, value []byte, next int) {
	start := off + 2
	middle := start + int(p[off])
	next = middle + int(p[off+1])
	return p[start:middle:middle], p[middle:next:next], next
}

// find returns the offset of a field, or -1.
func (p packed) find(name []byte) int {
	for off := packedHead; off < len(p); {
		n, v := int(p[off]), int(p[off+1])
		start := off + 2
		if n == len(name) && bytes.Equal(p[start:start+n], name) {
			return off
		}
		off = start + n + v
	}
	return -1
}

// put writes a field at an offset where there is room for it.
func (p packed) put(off int, name, value []byte) {
	p[off], p[off+1] = byte(len(name)), byte(len(value))
	copy(p[off+2:], name)
	copy(p[off+2+len(name):], value)
}
