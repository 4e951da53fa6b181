package table

import (
	"bytes"
	"encoding/binary"
)

// A block is one entry in the arena, seen as the bytes from its start on. All
// numbers are little endian.
//
//	offset  bytes  a block in use
//	0       4      length of the key, k
//	4       4      length of the value, v
//	8       7      1 + position of its deadline, 0 if it has none;
//	               of a field: the number of its nest
//	15      1      its kind
//	16      k      key
//	16+k    v      value; the rest is room to grow in
//
//	offset  bytes  a free block
//	0       4      1 + offset of the next free block of the segment, 0 at the end
//	8       8      blockFree
//
// Its location is one number, the segment's in the upper 32 bits, the offset in
// the lower. There is no segment 0 and so no location 0. The capacity is that of
// the segment's size class, see arena.
type block []byte

const (
	headerBytes = 16
	blockFree   = ^uint64(0)
	noKind      = 1<<56 - 1 // masks the kind
)

func (b block) keyLen() int   { return int(binary.LittleEndian.Uint32(b)) }
func (b block) valueLen() int { return int(binary.LittleEndian.Uint32(b[4:])) }

// size returns how many bytes the entry needs.
func (b block) size() int { return headerBytes + b.keyLen() + b.valueLen() }

func (b block) deadline() uint64     { return binary.LittleEndian.Uint64(b[8:]) & noKind }
func (b block) setDeadline(d uint64) { binary.LittleEndian.PutUint64(b[8:], d|uint64(b[15])<<56) }

func (b block) kind() Kind     { return Kind(b[15]) }
func (b block) setKind(k Kind) { b[15] = byte(k) }

func (b block) isFree() bool { return binary.LittleEndian.Uint64(b[8:]) == blockFree }
func (b block) setFree()     { binary.LittleEndian.PutUint64(b[8:], blockFree) }

func (b block) key() []byte {
	end := headerBytes + b.keyLen()
	return b[headerBytes:end:end]
}

func (b block) value() []byte {
	start := headerBytes + b.keyLen()
	end := start + b.valueLen()
	return b[start:end:end]
}

func (b block) holds(key []byte) bool {
	return b.keyLen() == len(key) && bytes.Equal(b[headerBytes:headerBytes+len(key)], key)
}

// fill writes a whole entry without a deadline.
func (b block) fill(key, value []byte, kind Kind) {
	binary.LittleEndian.PutUint32(b, uint32(len(key)))
	binary.LittleEndian.PutUint64(b[8:], uint64(kind)<<56)
	copy(b[headerBytes:], key)
	b.setValue(value)
}

// setValue writes a value behind the key. It may stem from this very block.
func (b block) setValue(value []byte) {
	b.setValueLen(len(value))
	copy(b[headerBytes+b.keyLen():], value)
}

// setValueLen makes the value end elsewhere; bytes that it gains are any.
func (b block) setValueLen(n int) { binary.LittleEndian.PutUint32(b[4:], uint32(n)) }

// appendValue writes suffix behind the value.
func (b block) appendValue(suffix []byte) {
	n := b.valueLen()
	copy(b[headerBytes+b.keyLen()+n:], suffix)
	b.setValueLen(n + len(suffix))
}
