package session

import "github.com/stackhouse-go/stackhouse/cluster/frame"

// Incoming is one direction of a track, at the end that reads: how far it has read, and when the
// other end is to hear of it. It belongs to one worker. MakeIncoming makes it.
type Incoming struct {
	read  uint64 // position: the end of the last frame that was applied
	told  uint64 // position: the last that went out. Invariant: told <= read
	most  uint64 // read - told at which an ACK is due
	asked bool   // by a PING, since the last ACK
}

// MakeIncoming returns a stream of which nothing was read, whose other end has that window; 0:
// Window.
func MakeIncoming(window int) Incoming {
	if window == 0 {
		window = Window
	}
	if window < 0 {
		panic("session: a window that makes no sense")
	}
	return Incoming{most: max(1, uint64(window)/4)}
}

// Applied says that a frame, which frame.Next has cut, has had its effect, or was skipped: it won't
// come again. Frames outside the stream aren't counted; a PING that asks makes an ACK due.
//
//alloc:none
func (i *Incoming) Applied(f frame.Raw) {
	switch {
	case !f.Outside():
		i.read += uint64(f.Len)
	case f.Kind == frame.KindPing && f.Flags&frame.Asks != 0:
		i.asked = true
	}
}

// Due reports whether an ACK is to be sent: a quarter of the window was read since the last one, or
// a PING asks for it.
//
//alloc:none
func (i *Incoming) Due() bool { return i.asked || i.read-i.told >= i.most }

// Untold reports whether anything was read that no ACK has told.
//
//alloc:none
func (i *Incoming) Untold() bool { return i.read != i.told }

// Tell returns the position for an ACK, which the caller sends.
//
//alloc:none
func (i *Incoming) Tell() uint64 {
	i.told, i.asked = i.read, false
	return i.read
}

// Begin returns the position for the HELLO of a new connection, which the caller sends. Whoever
// waited for an ACK over the one before waits no more.
//
//alloc:none
func (i *Incoming) Begin() uint64 { return i.Tell() }

// Position returns how far the stream was read: at the end of a session, where the gap begins.
func (i *Incoming) Position() uint64 { return i.read }
