package frame

// Limits, in bytes.
const (
	// FrameMax is the longest frame, its head included: what one slab of package pool takes, so that
	// a frame is never in two pieces where it is kept or read.
	FrameMax = 64 << 10
	// LongMax is the longest frame that travels in parts, its head included.
	LongMax = 16 << 20
	// HeadMax is how many bytes of a frame aren't its message, at most: so a message of
	// FrameMax - HeadMax bytes needs no PART, and none may be longer than LongMax - HeadMax. Each
	// has its head, six numbers and two names at most.
	HeadMax = head + 6*numberMax + 2*(NameMax+2)
	// NameMax is the longest name, path or name of a type.
	NameMax = 1 << 10
	// TextMax is the longest text of an error. Append cuts what is longer.
	TextMax = 4 << 10
	// ContextMax is the longest context of an ask: a trace, and pairs.
	ContextMax = 25 + 512

	head      = lengthBytes + 2 // length, kind, flags
	numberMax = 10              // digits of a number of 64 bits
)

// lengthBytes is how wide the length is. It is fixed: so Append needn't know the length of what it
// appends, and three bytes can't say more than LongMax.
const lengthBytes = 3

// Flags say what holds for a frame besides its kind.
type Flags uint8

// The flags. The others are zero.
const (
	// Skip is of kinds that a later version has added: who doesn't know the kind passes over it.
	Skip Flags = 1 << iota
	// Outside is of frames that aren't of the session's stream: they aren't counted, not kept, and
	// not sent again.
	Outside
	// Asks is of a PING that is to be answered by an ACK.
	Asks
)

// Raw is a frame that was cut from its stream: its head was looked at, its body wasn't.
type Raw struct {
	Kind  Kind
	Flags Flags
	Body  []byte // aliases the input
	Len   int    // of the frame, with its head, bytes
}

// Outside reports whether the frame isn't of its session's stream.
func (r Raw) Outside() bool { return r.Flags&Outside != 0 }

// Next cuts the first frame from in, the input not yet consumed: it has n bytes. If not all of it
// has come, n is 0. Errors are ErrLength, ErrKind and ErrFlags; there is no next frame after one. A
// frame whose kind isn't Known is to be skipped. HELLO is an error: it comes first alone, see
// NextHello.
//
//alloc:none
func Next(in []byte) (f Raw, n int, err error) { return cut(in, FrameMax) }

// Long reads a frame that came in parts, and all of them have come. Errors are those of Next, with
// ErrShort if the frame isn't whole, ErrTrailing if bytes follow it, and ErrKind for a kind that
// never comes in parts: PART, and what is outside the stream.
//
//alloc:none
func Long(in []byte) (Raw, error) {
	f, n, err := cut(in, LongMax)
	switch {
	case err != nil:
		return Raw{}, err
	case n == 0:
		return Raw{}, ErrShort
	case n < len(in):
		return Raw{}, ErrTrailing
	case f.Kind == KindPart || f.Outside():
		return Raw{}, ErrKind
	}
	return f, nil
}

// Len returns how long the frame at the start of in is, its head included, by what its first bytes
// say; 0 if these haven't come. It checks nothing.
//
//alloc:none
func Len(in []byte) int {
	if len(in) < lengthBytes {
		return 0
	}
	return lengthBytes + (int(in[0])<<16 | int(in[1])<<8 | int(in[2]))
}

// cut is Next for frames of at most most bytes.
func cut(in []byte, most int) (f Raw, n int, err error) {
	if n = Len(in); n == 0 {
		return Raw{}, 0, nil
	}
	if n < head || n > most {
		return Raw{}, 0, ErrLength
	}
	if len(in) < head {
		return Raw{}, 0, nil
	}
	f = Raw{Kind: Kind(in[3]), Flags: Flags(in[4]), Len: n}
	if err := f.Kind.check(f.Flags); err != nil {
		return Raw{}, 0, err
	}
	if len(in) < n {
		return Raw{}, 0, nil
	}
	f.Body = in[head:n:n]
	return f, n, nil
}

// open appends the head of a frame, whose length closed writes.
func open(dst []byte, k Kind, f Flags) []byte {
	return append(dst, 0, 0, 0, byte(k), byte(f))
}

// closed ends the frame that begins at start. It panics if that has more than LongMax bytes.
func closed(dst []byte, start int) []byte {
	n := len(dst) - start
	if n > LongMax {
		panic("frame: longer than the limit")
	}
	n -= lengthBytes
	dst[start], dst[start+1], dst[start+2] = byte(n>>16), byte(n>>8), byte(n)
	return dst
}
