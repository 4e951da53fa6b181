package table

import "errors"

// ErrTooLarge says that a key or a value is longer than the table takes. The
// table is unchanged.
var ErrTooLarge = errors.New("table: key or value too large")

// Config shapes a table. The zero Config is useful, but for its Seed.
type Config struct {
	// Seed keys the hash. Main draws it at random for each process and tells
	// nobody: a client that knows it can make all keys collide. 0 is a seed as
	// any other, for tests.
	Seed uint64

	// SegmentBytes is the size of a full segment: a power of two from 256 to
	// 1 GiB; 0 means 1 MiB. Entries above a fourth of it get segments of their
	// own. Each size class in use may keep one segment that is nearly empty.
	SegmentBytes int

	// IndexMin is below how many slots, of 16 bytes, the index never shrinks: a
	// power of two from 8 to 1<<30; 0 means 64.
	IndexMin int

	// KeyMax and ValueMax are the greatest lengths taken, in bytes. 0 means
	// 512 MiB, as in Redis, which is also the most: lengths are kept in 32 bits.
	KeyMax, ValueMax int

	// PackedFields and PackedBytes are how many fields a hash may have, and how
	// long a field or a value of it may be, to be kept in one block: finding a field
	// then walks over those before it. At most 65535 and 255; 0 means 512 and 64,
	// the defaults of Redis 7.0.
	PackedFields, PackedBytes int
}

const lengthMax = 512 << 20

// validate fills in defaults and panics at nonsense.
func (c *Config) validate() {
	c.SegmentBytes = powerOfTwo(c.SegmentBytes, 1<<20, 256, "table: SegmentBytes is not a power of two from 256 to 1 GiB")
	c.IndexMin = powerOfTwo(c.IndexMin, 64, 8, "table: IndexMin is not a power of two from 8 to 1<<30")
	c.KeyMax = length(c.KeyMax)
	c.ValueMax = length(c.ValueMax)
	c.PackedFields = packedLimit(c.PackedFields, 512, 1<<16-1)
	c.PackedBytes = packedLimit(c.PackedBytes, 64, 1<<8-1)
}

func packedLimit(n, otherwise, most int) int {
	if n == 0 {
		return otherwise
	}
	if n < 0 || n > most {
		panic("table: PackedFields or PackedBytes is out of range")
	}
	return n
}

func powerOfTwo(n, otherwise, least int, complaint string) int {
	if n == 0 {
		return otherwise
	}
	if n < least || n > 1<<30 || n&(n-1) != 0 {
		panic(complaint)
	}
	return n
}

func length(n int) int {
	if n == 0 {
		return lengthMax
	}
	if n < 0 || n > lengthMax {
		panic("table: KeyMax or ValueMax is not from 0 to 512 MiB")
	}
	return n
}
