package frame

// Version is that of the frames that this package reads and writes.
const Version = 1

// TracksMax is how many tracks a link has at most.
const TracksMax = 64

// magic is how a connection between nodes begins; the version follows it. Its first byte begins no
// text, no record of TLS, and no frame: it would be one of 15 MiB.
const magic = "\xf5SH"

// Hello is the first that comes over a connection, from either end: who is there, which track of
// which session the connection is for, and from where on the other end sends.
type Hello struct {
	Name        []byte // of the sender's node, not empty, at most NameMax bytes
	Incarnation uint64 // of the sender's node: a higher one is a later life
	Session     uint64 // between the two incarnations, from 1: a higher one is a later session
	Track       uint64 // below Tracks
	Tracks      uint64 // of the session, at most TracksMax
	Position    uint64 // how far the sender has read this track's stream, bytes
}

// Append appends magic, version and h. It panics if a field makes no sense.
//
//alloc:none
func (h *Hello) Append(dst []byte) []byte {
	demand(h.sound())
	dst = append(append(dst, magic...), Version)
	start := len(dst)
	dst = open(dst, KindHello, Outside)
	dst = appendBytes(dst, h.Name, NameMax)
	dst = appendNumber(dst, h.Incarnation)
	dst = appendNumber(dst, h.Session)
	dst = appendNumber(dst, h.Track)
	dst = appendNumber(dst, h.Tracks)
	return closed(appendNumber(dst, h.Position), start)
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
	if in[len(magic)] != Version {
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

// helloMax is the longest frame of a HELLO.
const helloMax = head + NameMax + 2 + 5*numberMax

func (h *Hello) read(body []byte) error {
	f := fields{in: body}
	h.Name = f.bytes(NameMax)
	h.Incarnation = f.number()
	h.Session = f.number()
	h.Track = f.number()
	h.Tracks = f.number()
	h.Position = f.number()
	f.must(h.sound())
	return f.end()
}

func (h *Hello) sound() bool {
	return len(h.Name) > 0 && len(h.Name) <= NameMax && h.Session > 0 && h.Track < h.Tracks && h.Tracks <= TracksMax
}
