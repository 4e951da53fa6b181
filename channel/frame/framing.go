package frame

// Framing is one of the framings of this package, or another one. It holds how far the frame under
// way was looked at, so each connection has its own, and each direction of one that decodes both.
type Framing interface {
	// Decode finds the frame at the start of in and returns how many bytes it takes, n; what it
	// carries is in *frame, which aliases in. n = 0 without an error means that its end is missing:
	// the next call must get the same bytes and more. An error means that the stream can't be
	// decoded any further. *frame is written only if n > 0.
	Decode(in []byte, frame *[]byte) (n int, err error)
	// Need returns how many bytes in must have in total before Decode can succeed, as far as the
	// last call of it could tell: at least 1, and beyond the limit only by what a frame has before or
	// behind its bytes.
	Need() int
	// Check returns nil if Append can make a frame of payload, from which Decode makes payload
	// again; otherwise an error of this package.
	Check(payload []byte) error
	// Size returns how many bytes Append appends at most.
	Size(payload []byte) int
	// Append appends the frame of payload to out. It panics with the error of Check, if there is
	// one, and leaves out as it was.
	Append(out, payload []byte) []byte
}

// highest is the highest limit, in bytes. A frame with its header then fits an int of 32 bits.
const highest = 1 << 30

// limit returns a limit, or the default of one that is 0.
func limit(n, whenZero int) int {
	if n == 0 {
		return whenZero
	}
	if uint(n) > highest {
		outOfRange()
	}
	return n
}

//go:noinline
func outOfRange() { panic("frame: a field of a framing is out of range") }
