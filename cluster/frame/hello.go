package frame

import "math"

// Oldest is the oldest version that this package reads and writes. What is newer is written only to
// those who have said that they read it:
//
//	2   TELLS; the name in FAIL; the version in HELLO
const Oldest = 1

// form is that of HELLO, which stays, whatever the versions: what is new stands behind its fields.
const form = 1

// TracksMax is how many tracks a link has at most.
const TracksMax = 64

// magic is how a connection between nodes begins; the form of HELLO follows it. Its first byte
// begins no text, no record of TLS, and no frame: it would be one of 15 MiB.
const magic = "\xf5SH"

// Hello is the first that comes over a connection, from either end: who is there, which track of
// which session the connection is for, and from where on the other end sends.
type Hello struct {
	Name        []byte // of the sender's node, not empty, at most NameMax bytes
	Incarnation uint64 // of the sender's node: a higher one is a later life
	Session     uint64 // between the two incarnations, from 1: a higher one is a later session
	Track       uint64 // below Tracks
	Tracks      uint64 // how many the writer may have, at most TracksMax
	Position    uint64 // how far the sender has read this track's stream, bytes
	Version     uint64 // the newest that the sender reads; if it is Oldest it isn't written
}

// Common returns the newest version that this package and h's sender read.
func (h *Hello) Common() uint64 { return min(h.Version, Version) }

// Append appends magic, version and h. It panics if a field makes no sense.
//
//alloc:none
func (h *Hello) Append(dst []byte) []byte {
	demand(h.sound())
	dst = append(append(dst, magic...), form)
	start := len(dst)
	dst = open(dst, KindHello, Outside)
	dst = appendBytes(dst, h.Name, NameMax)
	dst = appendNumber(dst, h.Incarnation)
	dst = appendNumber(dst, h.Session)
	dst = appendNumber(dst, h.Track)
	dst = appendNumber(dst, h.Tracks)
	dst = appendNumber(dst, h.Position)
	if h.Version > Oldest {
		dst = appendNumber(dst, h.Version)
	}
	return closed(dst, start)
}

// NextHello reads the start of a connection: h has n bytes, magic and version included. If not all
// of it has come, n is 0. It waits for no more than what a HELLO may have; so a stranger is refused
// at his first wrong byte, by ErrMagic or ErrVersion, and no later than at his 2,000th. The name
// aliases in.
//
//alloc:none
func NextHello(in []byte) (h Hello, n int, err error) {
	for i := range min(len(in), len(magic)) {
		if in[i] != magic[i] {
			return Hello{}, 0, ErrMagic
		}
	}
	if len(in) <= len(magic) {
		return Hello{}, 0, nil
	}
	if in[len(magic)] != form {
		return Hello{}, 0, ErrVersion
	}
	const first = len(magic) + 1
	frame := in[first:]
	switch n = Len(frame); {
	case n == 0:
		return Hello{}, 0, nil
	case n < head || n > helloMax:
		return Hello{}, 0, ErrLength
	case len(frame) > 3 && Kind(frame[3]) != KindHello:
		return Hello{}, 0, ErrKind
	case len(frame) > 4 && Flags(frame[4]) != Outside:
		return Hello{}, 0, ErrFlags
	case len(frame) < n:
		return Hello{}, 0, nil
	}
	if err = h.read(frame[head:n:n]); err != nil {
		return Hello{}, 0, err
	}
	return h, first + n, nil
}

// helloMax is the longest frame of a HELLO: with some bytes that later versions may have behind.
const helloMax = head + NameMax + 2 + 6*numberMax + 64

func (h *Hello) read(body []byte) error {
	f := fields{in: body}
	h.Name = f.bytes(NameMax)
	h.Incarnation = f.number()
	h.Session = f.number()
	h.Track = f.number()
	h.Tracks = f.number()
	h.Position = f.number()
	if h.Version = Oldest; len(f.in) > 0 {
		h.Version = f.between(Oldest+1, math.MaxUint64)
	}
	if h.Version > Version {
		f.rest() // of later versions
	}
	f.must(h.sound())
	return f.end()
}

func (h *Hello) sound() bool {
	return len(h.Name) > 0 && len(h.Name) <= NameMax && h.Session > 0 && h.Track < h.Tracks && h.Tracks <= TracksMax
}
