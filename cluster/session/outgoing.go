package session

import (
	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Window is how many bytes a track keeps at most, if nothing else is said: of its stream, written
// and not acknowledged. It is the credit of whoever writes.
const Window = 1 << 20

// Outgoing is one direction of a track, at the end that writes. A byte of its stream is
//
//	unsent        by Append, until Sent. Unsent returns it
//	in flight     by Sent, until Acknowledge, or a Resume at a position behind it: acknowledged;
//	              or a Resume before it: unsent
//	acknowledged  forgotten
//
// and by End all of it is forgotten. Frames are kept in slabs, and none is in two of them. So
// slabs are mostly not quite full: there is always as much memory as the window and a slab, at
// most, but with frames of more than half a slab the window may seem half as large.
//
// Outgoing belongs to one worker, whose shard Append gets. MakeOutgoing makes it.
type Outgoing struct {
	window int
	size   int    // of a slab, bytes
	slabs  []slab // a ring. Invariant: len(slabs)*size <= window + size
	first  int    // the oldest in use
	n      int    // in use
	over   bool

	// Positions. Invariant: acknowledged <= sent <= written <= end <= acknowledged + window, and
	// each is the end of a frame.
	acknowledged uint64
	sent         uint64 // over this connection
	written      uint64 // over any connection
	end          uint64
	tail         uint64 // where the last frame begins. Only while written <= tail may it change
}

// slab is the frames from a position on.
type slab struct {
	bytes pool.Bytes
	used  int
	from  uint64 // Invariant: from + used is the from of the next one
}

func (s *slab) to() uint64 { return s.from + uint64(s.used) }

// Left is where a stream stands. What lies before Acknowledged was delivered; up to Written it may
// have been; up to End it was not.
type Left struct {
	Acknowledged, Written, End uint64 // positions
}

// MakeOutgoing returns a stream without frames that keeps window bytes at most; 0: Window. It
// panics if fewer than four slabs of 64 KiB are in a window: whoever writes might have to wait then
// though no ACK is due.
func MakeOutgoing(window int) Outgoing {
	if window == 0 {
		window = Window
	}
	if window < 4*pool.SlabMax {
		panic("session: a window of less than 256 KiB")
	}
	return makeOutgoing(window, pool.SlabMax)
}

func makeOutgoing(window, size int) Outgoing {
	if size <= 0 || size > window {
		panic("session: a window that makes no sense")
	}
	return Outgoing{window: window, size: size, slabs: make([]slab, window/size+1)}
}

// Room returns how long a frame may be that is appended now, bytes.
//
//alloc:none
func (o *Outgoing) Room() int {
	space := o.size
	switch {
	case o.over:
		return 0
	case o.n == len(o.slabs):
		space -= o.last().used
	}
	return min(space, o.window-int(o.end-o.acknowledged))
}

// Append writes a frame, of which it keeps a copy in a slab of s. It panics beyond Room, and if
// these bytes aren't one frame of a stream.
//
//alloc:none
func (o *Outgoing) Append(s *pool.Shard, f []byte) {
	if len(f) > o.Room() {
		panic("session: a frame beyond the room")
	}
	if r, n, err := frame.Next(f); err != nil || n == 0 || n != len(f) || r.Outside() {
		panic("session: bytes that are no frame of a stream")
	}
	if o.n == 0 || o.last().used+len(f) > o.size {
		o.n++
		*o.last() = slab{bytes: s.Bytes(o.size), from: o.end}
	}
	b := o.last()
	b.used += copy(b.bytes.B()[b.used:], f)
	o.tail = o.end
	o.end += uint64(len(f))
}

// Join writes a notice as a part of the last frame, if that has room for it, is of notices of the
// same method to the same actor, and no byte of it has ever left. If it reports false nothing was
// written: the notice needs a frame of its own. So a run of notices is one frame, which at each
// moment is whole and has its place in the stream.
//
//alloc:none
func (o *Outgoing) Join(t *frame.Tell) bool {
	if o.n == 0 || o.tail < o.written {
		return false
	}
	b := o.last()
	most := min(o.size, b.used+o.window-int(o.end-o.acknowledged))
	f, ok := t.Join(b.bytes.B()[o.tail-b.from : b.used : most])
	if ok {
		b.used = int(o.tail-b.from) + len(f)
		o.end = b.to()
	}
	return ok
}

// Unsent returns frames that come next over the connection: whole ones, of at most most bytes in
// all. It is empty if there are none, or the first is longer. The bytes are valid until the next
// Acknowledge, Resume or End. After the last of them there may be more: call it again after Sent.
//
//alloc:none
func (o *Outgoing) Unsent(most int) []byte {
	b := o.Kept(o.sent)
	if len(b) <= most {
		return b
	}
	n := 0
	for next := frame.Len(b); n+next <= most; next = frame.Len(b[n:]) {
		n += next
	}
	return b[:n:n]
}

// Sent says that the connection has taken n bytes of what Unsent has returned: frames that are
// whole. It panics if there aren't as many.
//
//alloc:none
func (o *Outgoing) Sent(n int) {
	if n < 0 || n > len(o.Kept(o.sent)) {
		panic("session: more is sent than there is")
	}
	if invariant.Enabled && !o.ends(o.sent+uint64(n)) {
		panic("session: a part of a frame is sent")
	}
	o.sent += uint64(n)
	o.written = max(o.written, o.sent)
}

// Acknowledge says that the other end has read up to a position, as an ACK over this connection
// has told. Slabs that nobody needs any more go home. Errors are ErrNeverSent, ErrBack, ErrInside
// and ErrOver.
//
//alloc:none
func (o *Outgoing) Acknowledge(position uint64) error {
	if err := o.check(position, o.sent); err != nil {
		return err
	}
	o.forget(position)
	return nil
}

// Resume begins a new connection: the other end has read up to a position, as its HELLO says, and
// what comes after it is to be sent, or sent again. Errors are those of Acknowledge.
//
//alloc:none
func (o *Outgoing) Resume(position uint64) error {
	if err := o.check(position, o.written); err != nil {
		return err
	}
	o.sent = position
	o.forget(position)
	return nil
}

// Left returns where the stream stands.
func (o *Outgoing) Left() Left { return Left{o.acknowledged, o.written, o.end} }

// Kept returns frames from a position on, which is the end of a frame and not acknowledged: as many
// as stand side by side, none at the end. So whoever gives a session up reads what is left, before
// End. The bytes are valid until the next Acknowledge, Resume or End.
//
//alloc:none
func (o *Outgoing) Kept(position uint64) []byte {
	for i := range o.n {
		if s := o.at(i); position >= s.from && position < s.to() {
			return s.bytes.B()[position-s.from : s.used : s.used]
		}
	}
	return nil
}

// End gives the session up: all slabs go home, and what was not acknowledged is returned as
// positions. Nothing can be written any more, and each position of the other end is ErrOver.
func (o *Outgoing) End() Left {
	left := o.Left()
	for o.n > 0 {
		o.drop()
	}
	o.over = true
	return left
}

// check returns what is wrong with a position that the other end tells, if most was sent.
func (o *Outgoing) check(position, most uint64) error {
	switch {
	case o.over:
		return ErrOver
	case position < o.acknowledged:
		return ErrBack
	case position > most:
		return ErrNeverSent
	case !o.ends(position):
		return ErrInside
	}
	return nil
}

// ends reports whether a frame ends at a position that isn't before what was acknowledged. It looks
// at no frame before that, so that all calls of Acknowledge look at each about once.
func (o *Outgoing) ends(position uint64) bool {
	for i := range o.n {
		s := o.at(i)
		if position < s.from || position >= s.to() {
			continue
		}
		at, data := max(s.from, o.acknowledged), s.bytes.B()
		for at < position {
			at += uint64(frame.Len(data[at-s.from : s.used]))
		}
		return at == position
	}
	return position == o.end
}

// forget lets go what lies before a position.
func (o *Outgoing) forget(position uint64) {
	o.acknowledged = position
	for o.n > 0 && o.at(0).to() <= position {
		o.drop()
	}
}

// drop sends the oldest slab home.
func (o *Outgoing) drop() {
	s := o.at(0)
	s.bytes.Release()
	*s = slab{}
	o.first = (o.first + 1) % len(o.slabs)
	o.n--
}

// at returns the slab that is the ith in use, from 0.
func (o *Outgoing) at(i int) *slab { return &o.slabs[(o.first+i)%len(o.slabs)] }

// last returns the slab into which frames are written.
func (o *Outgoing) last() *slab { return o.at(o.n - 1) }
