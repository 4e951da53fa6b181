package cluster

import (
	"bytes"
	"errors"
	"slices"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
)

// This file is how frames cross that are too long: in pieces, between which others pass.

// parcel is a frame that is being written in pieces. What comes behind it from the same stand-in
// waits for its end.
type parcel struct {
	frame  []byte
	at     int // written so far
	number uint64
	from   *standIn // nil: it is an answer
	slot   *slot    // of an ask; nil: it is none
	end    uint64   // position behind its last piece
}

// parcels are those of a track, both ways.
type parcels struct {
	out    []*parcel
	sent   []*parcel           // calls that aren't acknowledged
	pieces []piece             // on their way: written, and not acknowledged
	flying int                 // their bytes
	left   int                 // bytes of out that aren't written
	last   uint64              // number
	behind []*serving          // whose answers are to be parcels, once there are fewer
	answer bool                // the last one that began is an answer
	in     map[uint64]*arrival // what has come of each, by number
}

// piece is one that is on its way.
type piece struct {
	end uint64 // position behind it
	n   int    // bytes
}

// partsMax is how many frames of the other end may have come in part at a time.
const partsMax = 16

var errPart = errors.New("cluster: a piece of a frame that doesn't follow the one before")

// send begins to write a frame that is too long for one piece: too long for the scratch, so it has
// memory of its own. Packed it may be short.
func (t *track) send(f []byte, from *standIn, slot *slot) {
	f = t.pack(f)
	t.parcels.last++
	t.parcels.out = append(t.parcels.out, &parcel{frame: f, number: t.parcels.last, from: from, slot: slot})
	t.parcels.left += len(f)
	if t.parcels.answer = from == nil; from != nil {
		from.sending = true
	}
	if slot != nil {
		slot.long, slot.at = true, ^uint64(0)
	}
	t.sendOn()
}

// sendOn writes pieces, in turn, as long as they are no more than half the window: the rest is for
// others.
func (t *track) sendOn() {
	for len(t.parcels.out) > 0 {
		if t.parcels.flying >= t.link.hub.node.config.Window/2 || t.out.Room() < frame.FrameMax {
			return
		}
		p := t.parcels.out[0]
		if p.slot != nil && p.at == 0 {
			p.slot.at = t.out.Left().End
		}
		n := len(p.frame)
		if n <= frame.FrameMax {
			t.append(p.frame)
		} else {
			n = min(n-p.at, frame.PieceMax)
			f := frame.Part{Number: p.number, Total: uint64(len(p.frame)), At: uint64(p.at), Piece: p.frame[p.at : p.at+n]}
			t.append(f.Append(t.frame[:0]))
		}
		p.at += n
		t.parcels.pieces = append(t.parcels.pieces, piece{t.out.Left().End, n})
		t.parcels.flying += n
		t.parcels.left -= n
		t.parcels.out = t.parcels.out[1:]
		if p.at < len(p.frame) {
			t.parcels.out = append(t.parcels.out, p)
			continue
		}
		if r := p.from; r != nil {
			p.end = t.out.Left().End
			if len(p.frame) > frame.FrameMax { // or the stream has it as it is
				t.parcels.sent = append(t.parcels.sent, p)
			}
			if r.sending = false; r.gone {
				t.unused = append(t.unused, unused{r.number, p.end})
			}
			if s := p.slot; s != nil {
				if s.long = false; s.call == nil { // given up meanwhile
					t.owe(s)
				}
			}
			r.waits() // it goes on in its turn
		}
	}
}

// acknowledged forgets what the other end has read.
func (p *parcels) acknowledged(position uint64) {
	for len(p.sent) > 0 && p.sent[0].end <= position {
		p.sent = p.sent[1:]
	}
	n := 0
	for ; n < len(p.pieces) && p.pieces[n].end <= position; n++ {
		p.flying -= p.pieces[n].n
	}
	p.pieces = slices.Delete(p.pieces, 0, n)
}

// arrival is a frame of which some pieces have come. It takes memory as they come, and gives up
// none on the way: so all that it allocates, to be joined too, is twice what has come at most.
type arrival struct {
	total, came int
	pieces      [][]byte // only the last has room
}

// add adds a piece. At most the rest of the total is left.
func (a *arrival) add(piece []byte) {
	for len(piece) > 0 {
		n := len(a.pieces)
		if n == 0 || len(a.pieces[n-1]) == cap(a.pieces[n-1]) {
			room := min(max(len(piece), a.came), a.total-a.came)
			a.pieces = append(a.pieces, make([]byte, 0, room))
			continue
		}
		last := &a.pieces[n-1]
		fits := min(len(piece), cap(*last)-len(*last))
		*last = append(*last, piece[:fits]...)
		piece = piece[fits:]
		a.came += fits
	}
}

// joined returns the frame, once all has come.
func (a *arrival) joined() []byte {
	if len(a.pieces) == 1 {
		return a.pieces[0]
	}
	return bytes.Join(a.pieces, nil)
}

// part is PART: once all pieces of a frame are there it is done.
func (t *track) part(p *frame.Part) error {
	in := t.parcels.in[p.Number]
	if in == nil && p.At == 0 && len(t.parcels.in) < partsMax {
		if t.parcels.in == nil {
			t.parcels.in = map[uint64]*arrival{}
		}
		in = &arrival{total: int(p.Total)}
		t.parcels.in[p.Number] = in
	}
	if in == nil || p.Total != uint64(in.total) || p.At != uint64(in.came) {
		return errPart
	}
	if in.add(p.Piece); !p.Last() {
		return nil
	}
	delete(t.parcels.in, p.Number)
	f, err := frame.Long(in.joined())
	switch {
	case err != nil:
		return err
	case !mayBeLong(f.Kind):
		return errPart
	}
	return t.do(f)
}

// mayBeLong reports whether frames of a kind may come in pieces, or packed. TELLS may not: so many
// messages would take a turn far too long.
func mayBeLong(k frame.Kind) bool { return k != frame.KindTells }
