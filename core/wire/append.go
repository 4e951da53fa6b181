package wire

import (
	"encoding/binary"
	"math"
	"time"
)

// AppendUint8 appends what Reader.Uint8 reads.
//
//alloc:none
func AppendUint8(dst []byte, v uint8) []byte { return append(dst, v) }

// AppendUint16 appends what Reader.Uint16 reads.
//
//alloc:none
func AppendUint16(dst []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(dst, v) }

// AppendUint32 appends what Reader.Uint32 reads.
//
//alloc:none
func AppendUint32(dst []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(dst, v) }

// AppendUint64 appends what Reader.Uint64 reads.
//
//alloc:none
func AppendUint64(dst []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(dst, v) }

// AppendUint appends what Reader.Uint reads: 64 bits.
//
//alloc:none
func AppendUint(dst []byte, v uint) []byte { return AppendUint64(dst, uint64(v)) }

// AppendInt8 appends what Reader.Int8 reads.
//
//alloc:none
func AppendInt8(dst []byte, v int8) []byte { return append(dst, uint8(v)) }

// AppendInt16 appends what Reader.Int16 reads.
//
//alloc:none
func AppendInt16(dst []byte, v int16) []byte { return AppendUint16(dst, uint16(v)) }

// AppendInt32 appends what Reader.Int32 reads.
//
//alloc:none
func AppendInt32(dst []byte, v int32) []byte { return AppendUint32(dst, uint32(v)) }

// AppendInt64 appends what Reader.Int64 reads.
//
//alloc:none
func AppendInt64(dst []byte, v int64) []byte { return AppendUint64(dst, uint64(v)) }

// AppendInt appends what Reader.Int reads: 64 bits.
//
//alloc:none
func AppendInt(dst []byte, v int) []byte { return AppendUint64(dst, uint64(int64(v))) }

// AppendFloat32 appends what Reader.Float32 reads.
//
//alloc:none
func AppendFloat32(dst []byte, v float32) []byte { return AppendUint32(dst, math.Float32bits(v)) }

// AppendFloat64 appends what Reader.Float64 reads.
//
//alloc:none
func AppendFloat64(dst []byte, v float64) []byte { return AppendUint64(dst, math.Float64bits(v)) }

// AppendBool appends what Reader.Bool reads.
//
//alloc:none
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendUvarint appends what Reader.Uvarint reads: 1 to 10 bytes.
//
//alloc:none
func AppendUvarint(dst []byte, v uint64) []byte { return binary.AppendUvarint(dst, v) }

// AppendVarint appends what Reader.Varint reads: 1 to 10 bytes, few if v is near 0.
//
//alloc:none
func AppendVarint(dst []byte, v int64) []byte { return binary.AppendVarint(dst, v) }

// AppendString appends what Reader.String reads.
//
//alloc:none
func AppendString(dst []byte, v string) []byte {
	return append(AppendUvarint(dst, uint64(len(v))), v...)
}

// AppendBytes appends what Reader.Bytes and Reader.PoolBytes read.
//
//alloc:none
func AppendBytes(dst, v []byte) []byte {
	return append(AppendCount(dst, len(v), v == nil), v...)
}

// AppendCount appends what Reader.Count reads: the number of elements that follow, or that there is
// no slice or map at all.
//
//alloc:none
func AppendCount(dst []byte, n int, none bool) []byte {
	if none {
		return append(dst, 0)
	}
	return AppendUvarint(dst, uint64(n)+1)
}

// AppendTime appends what Reader.Time reads. The zone is lost, and what the monotonic clock said.
//
//alloc:none
func AppendTime(dst []byte, v time.Time) []byte {
	return AppendUint32(AppendInt64(dst, v.Unix()), uint32(v.Nanosecond()))
}
