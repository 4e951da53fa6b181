package frame

// Fixed is the framing of frames that all have the same length. It has no state: connections may
// share one.
type Fixed struct {
	// Bytes is the length of each frame, from 1 to 1 GiB. It has no default: each call panics if it
	// is 0.
	Bytes int
}

// Decode implements Framing. It never fails.
//
//alloc:none
func (f *Fixed) Decode(in []byte, frame *[]byte) (n int, err error) {
	if n = f.Need(); len(in) < n {
		return 0, nil
	}
	*frame = in[:n:n]
	return n, nil
}

// Need implements Framing.
//
//alloc:none
func (f *Fixed) Need() int {
	if f.Bytes == 0 {
		outOfRange()
	}
	return limit(f.Bytes, 0)
}

// Check implements Framing. ErrLength is its error for a payload of another length.
//
//alloc:none
func (f *Fixed) Check(payload []byte) error {
	if len(payload) != f.Need() {
		return ErrLength
	}
	return nil
}

// Size implements Framing.
//
//alloc:none
func (f *Fixed) Size(payload []byte) int { return len(payload) }

// Append implements Framing.
//
//alloc:none
func (f *Fixed) Append(out, payload []byte) []byte {
	if err := f.Check(payload); err != nil {
		panic(err)
	}
	return append(out, payload...)
}
