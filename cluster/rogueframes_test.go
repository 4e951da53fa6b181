package cluster

import (
	"slices"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core/wire"
)

// This file is what a rogue says.

// isOfKeeper reports whether one of some frames may name the actor that none but the honest node is
// to reach.
func (r *rogue) isOfKeeper(frames []byte) bool {
	var ref frame.Ref
	for {
		raw, n, err := frame.Next(frames)
		switch {
		case err != nil || n == 0:
			return false
		case raw.Kind == frame.KindRef && ref.Read(raw) == nil && ref.Serial < noSerial && !slices.Contains(r.targets, ref.Serial):
			return true
		}
		frames = frames[n:]
	}
}

// noSerial is a serial that no actor has, and so are those above.
const noSerial = 1 << 40

// frame is a frame that may be, mostly.
func (r *rogue) frame() []byte {
	if len(r.refs) == 1 || r.next(10) == 9 {
		return r.declares()
	}
	to := r.one(r.refs)
	switch r.next(16) {
	case 0, 1:
		m, text := r.message(true)
		return (&frame.Tell{To: to, Method: m, Message: text}).Append(nil)
	case 2:
		m, text := r.message(true)
		var envelope []byte
		for range 1 + r.next(50) {
			envelope = frame.AppendMessage(envelope, text)
		}
		return (&frame.Tells{To: to, Method: m, Messages: envelope}).Append(nil)
	case 3, 4:
		if len(r.slots) == 0 {
			return (&frame.Ping{Asks: true}).Append(nil)
		}
		m, text := r.message(false)
		return (&frame.Ask{Slot: r.slot(), To: to, Method: m, Remaining: r.number(1<<16) << r.next(20) >> 1, Message: text}).Append(nil)
	case 5, 6:
		return r.answer()
	case 7:
		return (&frame.Cancel{Slot: r.number(8)}).Append(nil)
	case 8:
		return (&frame.Watch{To: to}).Append(nil)
	case 9:
		if r.next(4) == 3 {
			return (&frame.Gone{To: r.one(r.known)}).Append(nil)
		}
		return (&frame.Unwatch{To: to}).Append(nil)
	case 10:
		return (&frame.Command{To: to, Code: r.number(7)}).Append(nil)
	case 11:
		return (&frame.Hold{To: r.one(r.known)}).Append(nil)
	case 12:
		return (&frame.Resume{To: r.one(r.known)}).Append(nil)
	case 13:
		return r.piece()
	case 14:
		if r.errs() {
			return (&frame.Ack{Position: r.number(1 << 12)}).Append(nil)
		}
		if r.deaf {
			return (&frame.Ping{}).Append(nil)
		}
		return (&frame.Ack{Position: r.read}).Append(nil)
	}
	switch r.next(16) {
	case 0:
		return (&frame.Gap{Notices: r.number(100)}).Append(nil)
	case 1:
		if r.next(4) == 3 {
			return (&frame.Bye{Code: r.number(2)}).Append(nil)
		}
	case 2:
		return []byte{0, 0, 3, 99, byte(frame.Skip), 5}
	}
	return (&frame.Ping{Asks: r.next(2) == 1}).Append(nil)
}

// declares declares methods, and actors.
func (r *rogue) declares() (f []byte) {
	all := r.there.self.methods.all
	for r.named < len(all) {
		f = append(f, all[r.named].declare...)
		if r.named++; r.errs() {
			break
		}
	}
	if r.errs() {
		f = (&frame.Method{Number: uint64(r.named + 1), Name: []byte("no such"), Request: []byte{1, 1}, Reply: []byte{1, 1}}).Append(f)
		r.named++
	}
	for range min(len(r.unused), 1+r.next(3)) {
		ref := frame.Ref{Number: r.unused[0], Serial: r.targets[r.next(len(r.targets))]}
		if r.next(16) == 15 {
			ref.Serial = noSerial + r.number(9)
		}
		if ref.Number == 0 {
			ref.Number = 1
		}
		r.refs, r.unused = append(r.refs, ref.Number), r.unused[1:]
		f = ref.Append(f)
	}
	if len(f) == 0 {
		f = (&frame.Ping{}).Append(nil)
	}
	return f
}

// message is a method, of notices or of asks, and what it may be told, mostly.
func (r *rogue) message(notice bool) (number uint64, text []byte) {
	all := r.there.self.methods
	m := all.byName["test.counter.tell"]
	switch {
	case r.errs():
		return r.number(1 + len(all.all)), make([]byte, r.next(20))
	case notice:
		text = wire.Append(m.request, nil, new(padded(r.next(100), r.next(1<<10))))
	default:
		switch r.next(8) {
		case 0, 1, 2:
			m = all.byName["test.counter.echo"]
			text = wire.Append(m.request, nil, new(make([]byte, r.next(60_000))))
		case 3:
			m = all.byName["stackhouse.cluster.find"]
			text = wire.Append(m.request, nil, &findActor{"/user/" + string('a'+rune(r.next(4)))})
		default:
			m = all.byName["test.counter.add"]
			text = wire.Append(m.request, nil, &addReq{r.next(4)})
		}
	}
	if r.next(16) == 15 {
		text = text[:r.next(1+len(text))]
	}
	return m.number, text
}

// answer answers an ask.
func (r *rogue) answer() []byte {
	slot, by := r.number(8), uint64(0)
	if n := len(r.asked); n > 0 && !r.errs() {
		i := r.next(n)
		slot, by = r.asked[i], r.askedBy[i]
		r.asked, r.askedBy = append(r.asked[:i], r.asked[i+1:]...), append(r.askedBy[:i], r.askedBy[i+1:]...)
	}
	all := r.there.self.methods
	var text []byte
	switch by {
	case 0:
		if !r.errs() {
			return (&frame.Ping{}).Append(nil) // there is none
		}
	case all.byName["stackhouse.cluster.find"].number:
		kind := "github.com/stackhouse-go/stackhouse/cluster.target"
		if r.next(4) == 3 {
			kind = kindName(hubKind)
		}
		switch whose := byte(r.next(8)); whose {
		case theirs:
			text = wire.AppendUvarint([]byte{theirs}, r.targets[r.next(len(r.targets))])
		case gone:
			text = append([]byte{gone}, kind...)
		default:
			text = append(wire.AppendUvarint([]byte{ours}, r.number(6)), kind...)
		}
	case all.byName["test.counter.echo"].number:
		text = wire.Append(all.byName["test.counter.echo"].reply, nil, new(make([]byte, r.next(1<<14))))
	default:
		text = wire.Append(all.byName["test.counter.add"].reply, nil, &addRep{r.next(1000)})
	}
	if r.next(8) == 7 {
		return (&frame.Fail{Slot: slot, Code: r.number(20), Text: text}).Append(nil)
	}
	return (&frame.Reply{Slot: slot, Message: text}).Append(nil)
}

// piece is the next piece of a long frame.
func (r *rogue) piece() []byte {
	if len(r.long) == 0 || r.next(4) == 3 {
		size := 70_000 + r.next(1<<16)
		m, to := r.there.self.methods.byName["test.counter.echo"], r.one(r.refs)
		f := (&frame.Ask{Slot: r.slot(), To: to, Method: m.number, Message: wire.Append(m.request, nil, new(make([]byte, size)))}).Append(nil)
		if r.next(2) == 1 {
			m = r.there.self.methods.byName["test.counter.tell"]
			f = (&frame.Tell{To: to, Method: m.number, Message: wire.Append(m.request, nil, new(padded(1, size)))}).Append(nil)
		}
		if r.next(4) == 3 {
			if f = packedOf(f); r.errs() {
				f[4+r.next(len(f)-4)]++
			}
			return f
		}
		r.parts++
		r.long, r.whole = append(r.long, frame.Part{Number: r.parts, Total: uint64(len(f))}), append(r.whole, f)
	}
	i := r.next(len(r.long))
	p := &r.long[i]
	left := r.whole[i][p.At:]
	p.Piece = left[:min(len(left), frame.PieceMax, 1+r.next(1<<16))]
	f := p.Append(nil)
	if p.At += uint64(len(p.Piece)); p.At == p.Total {
		r.long, r.whole = append(r.long[:i], r.long[i+1:]...), append(r.whole[:i], r.whole[i+1:]...)
	}
	return f
}

// slot is a slot that is free, mostly.
func (r *rogue) slot() uint64 {
	if len(r.slots) == 0 || r.errs() {
		return r.number(20)
	}
	s := r.slots[0]
	r.slots = r.slots[1:]
	return s
}

// forgets begins another session.
func (r *rogue) forgets(session uint64) {
	r.session, r.read, r.named, r.parts = session, 0, 0, 0
	r.refs, r.unused, r.known, r.slots = []uint64{0}, []uint64{1, 2, 3, 4}, []uint64{0}, []uint64{0, 1, 2, 3, 4, 5, 6, 7}
	r.asked, r.askedBy, r.long, r.whole = nil, nil, nil, nil
}
