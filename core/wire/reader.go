package wire

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/stackhouse-go/stackhouse/pool"
)

// Reader reads values from the bytes of one message. The first error stays: all methods return
// zeros from then on, so a hand-written ReadWire reads all its fields and returns Err. Reset makes
// a Reader ready. One goroutine at a time may use it.
type Reader struct {
	in  []byte // what is left; nil after an error
	err error
	// Bytes that what is read may still ask for. Invariant: >= 0.
	budget int

	// By Lend: where bytes that are read may live.
	slab    pool.Bytes
	carrier *pool.Carrier
	shard   *pool.Shard
	shared  bool       // carrier holds slab
	chunk   pool.Bytes // of carrier; copies are put there
	used    int        // bytes of chunk

	names Names // of references; nil: there must be none

	reading bool // within Decoder.Read
	counted bool // each pool.Bytes of the value has a count of its own
}

// Reset begins to read in, a whole message, with the budget of the zero Budget. Bytes
// that are read alias in, unless Lend says otherwise.
//
//alloc:none
func (r *Reader) Reset(in []byte) { r.ResetWithin(in, Budget{}.Of(len(in))) }

// ResetWithin is Reset, with so many bytes of memory that what is read may ask for, see SetBudget.
//
//alloc:none
func (r *Reader) ResetWithin(in []byte, budget int) { *r = Reader{in: in, budget: max(budget, 0)} }

// Len returns the number of bytes that are left, in a ReadWire those of its value; 0 after an
// error.
//
//alloc:none
func (r *Reader) Len() int { return len(r.in) }

// Err returns the first error.
//
//alloc:none
func (r *Reader) Err() error { return r.err }

// End returns the first error, or ErrTrailing if bytes are left.
//
//alloc:none
func (r *Reader) End() error {
	if len(r.in) > 0 {
		r.Fail(ErrTrailing)
	}
	return r.err
}

// Fail makes err the error of r, unless it has one: for a ReadWire that finds its fields wrong.
//
//alloc:none
func (r *Reader) Fail(err error) {
	if err == nil {
		panic("wire: Fail with a nil error")
	}
	if r.err == nil {
		r.err = err
	}
	r.in = nil
}

// take returns the next n bytes, or nil and fails. They have no capacity beyond.
//
//alloc:none
func (r *Reader) take(n int) []byte {
	if len(r.in) < n {
		r.Fail(ErrTruncated)
		return nil
	}
	b := r.in[:n:n]
	r.in = r.in[n:]
	return b
}

// Uint8 reads a byte.
//
//alloc:none
func (r *Reader) Uint8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint16 reads 2 bytes.
//
//alloc:none
func (r *Reader) Uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// Uint32 reads 4 bytes.
//
//alloc:none
func (r *Reader) Uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads 8 bytes.
//
//alloc:none
func (r *Reader) Uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Int8 reads a byte.
//
//alloc:none
func (r *Reader) Int8() int8 { return int8(r.Uint8()) }

// Int16 reads 2 bytes.
//
//alloc:none
func (r *Reader) Int16() int16 { return int16(r.Uint16()) }

// Int32 reads 4 bytes.
//
//alloc:none
func (r *Reader) Int32() int32 { return int32(r.Uint32()) }

// Int64 reads 8 bytes.
//
//alloc:none
func (r *Reader) Int64() int64 { return int64(r.Uint64()) }

// Int reads 8 bytes. Its error is ErrRange if an int has 32 bits here and the number more.
//
//alloc:none
func (r *Reader) Int() int {
	v := r.Int64()
	if !fitsInt(v, math.MinInt, math.MaxInt) {
		r.Fail(ErrRange)
		return 0
	}
	return int(v)
}

// Uint reads 8 bytes. Its error is ErrRange if a uint has 32 bits here and the number more.
//
//alloc:none
func (r *Reader) Uint() uint {
	v := r.Uint64()
	if !fitsUint(v, math.MaxUint) {
		r.Fail(ErrRange)
		return 0
	}
	return uint(v)
}

// fitsInt and fitsUint are functions for the sake of tests, whose int has 64 bits.
func fitsInt(v, least, most int64) bool { return least <= v && v <= most }
func fitsUint(v, most uint64) bool      { return v <= most }

// Float32 reads 4 bytes.
//
//alloc:none
func (r *Reader) Float32() float32 { return math.Float32frombits(r.Uint32()) }

// Float64 reads 8 bytes.
//
//alloc:none
func (r *Reader) Float64() float64 { return math.Float64frombits(r.Uint64()) }

// Bool reads a byte. Its error is ErrBool.
//
//alloc:none
func (r *Reader) Bool() bool {
	v := r.Uint8()
	if v > 1 {
		r.Fail(ErrBool)
	}
	return v == 1
}

// Time reads 12 bytes. The time is in UTC. Its error is ErrTime.
//
//alloc:none
func (r *Reader) Time() time.Time {
	sec, nsec := r.Int64(), r.Uint32()
	if nsec >= uint32(time.Second) {
		r.Fail(ErrTime)
	}
	if r.err != nil {
		return time.Time{}
	}
	return time.Unix(sec, int64(nsec)).UTC()
}

// Uvarint reads 1 to 10 bytes. Its error is ErrVarint.
//
//alloc:none
func (r *Reader) Uvarint() uint64 {
	if len(r.in) > 0 && r.in[0] < 0x80 {
		v := r.in[0]
		r.in = r.in[1:]
		return uint64(v)
	}
	return r.uvarint()
}

func (r *Reader) uvarint() (v uint64) {
	for i, c := range r.in {
		if i == binary.MaxVarintLen64-1 && c > 1 || i > 0 && c == 0 { // 9 digits have 63 bits
			r.Fail(ErrVarint)
			return 0
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.in = r.in[i+1:]
			return v
		}
	}
	r.Fail(ErrTruncated)
	return 0
}

// Varint reads 1 to 10 bytes. Its error is ErrVarint.
//
//alloc:none
func (r *Reader) Varint() int64 {
	v := r.Uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// String reads a string, a copy. Its memory is in the budget.
func (r *Reader) String() string {
	b := r.sized()
	if len(b) == 0 || !r.spend(len(b)) {
		return ""
	}
	return string(b)
}

// sized reads a length and as many bytes.
func (r *Reader) sized() []byte {
	n := r.Uvarint()
	if n > uint64(len(r.in)) {
		r.Fail(ErrTruncated)
		return nil
	}
	return r.take(int(n))
}

// Count reads how many elements follow, for a ReadWire that makes a slice or map of them. none says
// that there is no slice or map at all. Each element has least bytes or more, at least 1; fewer
// bytes than that for all are ErrTruncated. Count takes size bytes of memory for each element from
// the budget.
//
//alloc:none
func (r *Reader) Count(least int, size uintptr) (n int, none bool) {
	n, none = r.count(least)
	if !r.spendEach(n, size) {
		return 0, true
	}
	return n, none
}

// count is Count without memory.
func (r *Reader) count(least int) (n int, none bool) {
	v := r.Uvarint()
	if v == 0 {
		return 0, true
	}
	if v-1 > uint64(len(r.in)/max(least, 1)) {
		r.Fail(ErrTruncated)
		return 0, true
	}
	return int(v - 1), false
}
