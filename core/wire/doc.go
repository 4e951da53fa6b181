// Package wire makes bytes of values of plain Go types, and values of bytes: what a message is
// between two nodes. Pure functions, no I/O and no goroutines.
//
// [Of] compiles a [Codec] for a type, once, at start-up; it refuses what can't cross, and names the
// field. A type whose pointer has AppendWire and ReadWire, see [Coded], is coded by these, and
// [Reader] and the Append functions make them short; for pointers to types of packages that don't
// know of this one there is [Register]. All others are coded so:
//
//	bool                   a byte, 0 or 1
//	numbers                fixed width, little endian; int and uint have 64 bits
//	string                 its length as a varint, its bytes
//	[]byte, pool.Bytes     0 if nil, or else its length and 1 as a varint, its bytes
//	slice                  0 if nil, or else its length and 1 as a varint, its elements
//	map                    the same, with key and value in turn, in any order
//	array, struct          elements, fields, and nothing else
//	time.Time              seconds since 1970 and nanoseconds, 12 bytes: no zone, it is UTC there
//	hand-coded             its length as a varint, its bytes; no length if it is all of the message
//	references             the same; what the bytes are says Names, see RegisterReferences
//
// Strings are any bytes. The bits of NaNs survive. What is nil comes out nil, what is empty comes
// out empty; but a pool.Bytes without bytes is the zero one. An element of a slice, or an entry of
// a map, that has no bytes is a byte 0, so that few bytes never make many elements. A field with
// the tag `wire:"-"` doesn't cross, one with `wire:"name"` has another name for peers. Keys of a
// map that differ only in what doesn't cross, as in the zone of a time, are ErrDuplicate.
//
// # Bytes from strangers
//
// No bytes make a Reader panic. Lengths are held against the bytes that are there, and all memory
// against a budget, before it is allocated. Truncated input is [ErrTruncated]; that nothing is
// left is for who calls [Reader.End].
//
// # How long what was read lives
//
// A string is copied. A []byte or pool.Bytes aliases the message, or is copied beside it if it
// would hold much memory for few bytes: see [Reader.Lend]. Either lives as long as the stack that
// carries the value. Who keeps it for longer copies a []byte, and retains a pool.Bytes.
//
// # Versions
//
// A peer says by [Codec.AppendSchema] what its type is like, and [Codec.Translate] makes what reads
// its values: fields go by name, unknown ones are skipped, absent ones are zero. A field whose kind
// has changed is refused, be it only a wider integer: give the new one another name.
package wire
