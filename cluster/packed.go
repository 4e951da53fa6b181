package cluster

import (
	"errors"

	"github.com/klauspost/compress/s2"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
)

// This file is how frames that are too long for one piece are packed, if Config.Compress says so.

var errPacked = errors.New("cluster: a packed frame that doesn't unfold to what it says")

// pack returns a long frame as it is to be sent: packed, if this node does that, the other one can
// read it, and it saves an eighth at least.
func (t *track) pack(f []byte) []byte {
	if !t.link.hub.node.config.Compress || t.speaks < 2 {
		return f
	}
	room := t.packed
	if need := s2.MaxEncodedLen(len(f)); cap(room) < need {
		room = make([]byte, need)
	}
	p := frame.Packed{Total: uint64(len(f)), Text: s2.Encode(room, f)}
	if t.packed = room; cap(room) > textKept {
		t.packed = nil
	}
	if len(p.Text) > len(f)-len(f)/8 {
		return f
	}
	return p.Append(make([]byte, 0, p.Len()))
}

// unpack does something with the frame that is packed in another one. It is valid until then.
func (t *track) unpack(packed frame.Raw, do func(frame.Raw) error) error {
	var p frame.Packed
	if err := p.Read(packed); err != nil {
		return err
	}
	if n, err := s2.DecodedLen(p.Text); err != nil || uint64(n) != p.Total {
		return errPacked
	}
	text, err := s2.Decode(t.unpacked, p.Text)
	if err != nil {
		return errPacked
	}
	if cap(text) <= textKept {
		t.unpacked = text
	}
	f, err := frame.Long(text)
	switch {
	case err != nil:
		return err
	case !mayBeLong(f.Kind) || f.Kind == frame.KindPacked:
		return errPacked
	}
	return do(f)
}
