//go:build !linux || portable

package netio

const (
	// ringMin is a ring's first size, enough for most requests.
	ringMin = 4 << 10
	// ringMax is how many bytes a ring holds at most: as many as one read or write of package
	// channel takes.
	ringMax = 64 << 10
)

// ring is a bounded queue of bytes. Without the lock that guards the other calls, one writer may
// fill what space returned, and one reader may read what front returned. For bytes move only in
// grow, which the writer calls and which leaves the old slice unchanged.
type ring struct {
	buf        []byte
	head, size int // of the oldest byte; of the bytes. Invariant: size <= len(buf) <= ringMax
}

func (r *ring) free() int { return ringMax - r.size }

// space returns the room behind the youngest byte, as far as it is in one piece; it is empty if the
// ring is full.
func (r *ring) space() []byte {
	if r.size == len(r.buf) {
		if r.size == ringMax {
			return nil
		}
		r.grow()
	}
	if at := r.head + r.size; at < len(r.buf) {
		return r.buf[at:]
	}
	return r.buf[r.head+r.size-len(r.buf) : r.head]
}

// commit appends the first n bytes of space.
func (r *ring) commit(n int) { r.size += n }

// front returns the oldest bytes, as far as they are in one piece.
func (r *ring) front() []byte { return r.buf[r.head:min(r.head+r.size, len(r.buf))] }

// drop removes the n oldest bytes. The start of space doesn't change.
func (r *ring) drop(n int) {
	r.size -= n
	if r.head += n; r.head >= len(r.buf) && n > 0 {
		r.head -= len(r.buf)
	}
}

// put appends as much of p as there is room for.
func (r *ring) put(p []byte) (n int) {
	for n < len(p) {
		space := r.space()
		if len(space) == 0 {
			break
		}
		k := copy(space, p[n:])
		r.commit(k)
		n += k
	}
	return n
}

// take removes the oldest bytes into p.
func (r *ring) take(p []byte) (n int) {
	for n < len(p) && r.size > 0 {
		k := copy(p[n:], r.front())
		r.drop(k)
		n += k
	}
	return n
}

func (r *ring) grow() {
	buf := make([]byte, max(ringMin, 2*len(r.buf)))
	n := copy(buf, r.front())
	copy(buf[n:], r.buf[:r.size-n])
	r.buf, r.head = buf, 0
}
