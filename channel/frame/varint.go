package frame

import "encoding/binary"

// Varint is the framing of bytes behind their length in base 128, the lowest digit first, each
// digit but the last with the bit 0x80: as protobuf's delimited messages have it. Frames may be
// empty. The zero Varint has the default limit.
type Varint struct {
	// Max is the longest frame, in bytes, without its length; at most 1 GiB. Default 1 MiB.
	Max int

	need int // bytes of length and body, as far as known; 0 between frames
}

// Decode implements Framing. Its errors are ErrTooLong and, for a length that needs more than 64
// bits or has more digits than it needs, ErrLength.
//
//alloc:none
func (v *Varint) Decode(in []byte, frame *[]byte) (n int, err error) {
	most := limit(v.Max, sizedMax)
	if len(in) < v.Need() {
		return 0, nil
	}
	size, digits := length(in)
	switch {
	case digits == 0:
		v.need = len(in) + 1
		return 0, nil
	case digits < 0:
		v.need = 0
		return 0, ErrLength
	case size > uint64(most):
		v.need = 0
		return 0, ErrTooLong
	}
	n = digits + int(size)
	if len(in) < n {
		v.need = n
		return 0, nil
	}
	v.need = 0
	*frame = in[digits:n:n]
	return n, nil
}

// length reads a length and returns how many digits it has: 0 if the last of them is missing, -1 if
// they are no length.
func length(in []byte) (size uint64, digits int) {
	for i, c := range in {
		if i == binary.MaxVarintLen64-1 && c > 1 { // 9 digits have 63 bits
			return 0, -1
		}
		size |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if c == 0 && i > 0 {
				return 0, -1
			}
			return size, i + 1
		}
	}
	return 0, 0
}

// Need implements Framing.
//
//alloc:none
func (v *Varint) Need() int { return max(v.need, 1) }

// Check implements Framing. Its error is ErrTooLong.
//
//alloc:none
func (v *Varint) Check(payload []byte) error {
	if len(payload) > limit(v.Max, sizedMax) {
		return ErrTooLong
	}
	return nil
}

// Size implements Framing.
//
//alloc:none
func (v *Varint) Size(payload []byte) int { return binary.MaxVarintLen32 + len(payload) }

// Append implements Framing.
//
//alloc:none
func (v *Varint) Append(out, payload []byte) []byte {
	if err := v.Check(payload); err != nil {
		panic(err)
	}
	return append(binary.AppendUvarint(out, uint64(len(payload))), payload...)
}
