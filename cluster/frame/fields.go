package frame

import "encoding/binary"

// fields reads the fields of a body one after another. After an error all that it returns is zero,
// and end returns the error.
type fields struct {
	in  []byte
	err error
}

// fieldsOf begins to read a frame as one of kind k, which it must be.
func fieldsOf(r Raw, k Kind) fields {
	if r.Kind != k {
		panic("frame: a frame is read as another kind")
	}
	return fields{in: r.Body}
}

// fail keeps the first error.
func (f *fields) fail(err error) {
	if f.err == nil {
		f.err = err
	}
	f.in = nil
}

// number reads a number.
func (f *fields) number() uint64 {
	if f.err != nil {
		return 0
	}
	if len(f.in) > 0 && f.in[0] < 0x80 {
		n := uint64(f.in[0])
		f.in = f.in[1:]
		return n
	}
	n, digits := binary.Uvarint(f.in)
	switch {
	case digits == 0:
		f.fail(ErrShort)
		return 0
	case digits < 0 || f.in[digits-1] == 0:
		f.fail(ErrNumber)
		return 0
	}
	f.in = f.in[digits:]
	return n
}

// between reads a number from low to high.
func (f *fields) between(low, high uint64) uint64 {
	n := f.number()
	if f.err == nil && (n < low || n > high) {
		f.fail(ErrRange)
		return 0
	}
	return n
}

// bytes reads a field of at most most bytes behind its length.
func (f *fields) bytes(most int) []byte {
	if len(f.in) > 0 && f.in[0] < 0x80 { // short, as most are
		if n := int(f.in[0]); n < len(f.in) && n <= most {
			b := f.in[1 : n+1 : n+1]
			f.in = f.in[n+1:]
			return b
		}
	}
	n := f.between(0, uint64(most))
	if f.err == nil && n > uint64(len(f.in)) {
		f.fail(ErrShort)
	}
	if f.err != nil {
		return nil
	}
	b := f.in[:n:n]
	f.in = f.in[n:]
	return b
}

// rest reads the last field, which has no length.
func (f *fields) rest() []byte {
	b := f.in
	f.in = nil
	return b
}

// must notes ErrRange if fields contradict each other.
func (f *fields) must(ok bool) {
	if !ok {
		f.fail(ErrRange)
	}
}

// end returns the first error.
func (f *fields) end() error {
	if f.err == nil && len(f.in) > 0 {
		return ErrTrailing
	}
	return f.err
}

func appendNumber(dst []byte, n uint64) []byte {
	if n < 0x80 {
		return append(dst, byte(n))
	}
	return binary.AppendUvarint(dst, n)
}

// appendBytes appends a field of at most most bytes behind its length.
func appendBytes(dst, b []byte, most int) []byte {
	if len(b) > most {
		panic("frame: a field above its limit")
	}
	return append(appendNumber(dst, uint64(len(b))), b...)
}

// appendText is appendBytes of a text, of which it takes as much as may be.
func appendText(dst, text []byte) []byte {
	return appendBytes(dst, text[:min(len(text), TextMax)], TextMax)
}

// demand panics unless what a caller wants to send makes sense.
func demand(ok bool) {
	if !ok {
		panic("frame: a field is out of its range")
	}
}
