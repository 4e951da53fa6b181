package cluster

import (
	"slices"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
)

// This file is who gets the room of a track's stream. There is some again with each ACK, see
// settle, and it goes, in this order, to
//
//	pieces    of long calls and answers, up to half the window: sendOn
//	news      REF, HOLD, CANCEL and the like: debts
//	answers   and GONEs. They pass their turn, behind the other half of the window, if calls wait
//	          and none was taken since answers were written
//	calls     by stand-ins, in turns of these: readmit
//
// so whatever there is more of than the link takes, nothing of another kind, or for another actor,
// waits for its end. Who is passed over is asked again, as bytes are on their way, or pieces of
// others wait: with these there comes an ACK.

// hasRoom reports whether any frame has room, and nothing waits for it that goes first.
func (t *track) hasRoom() bool {
	return t.named == len(t.methods.all) && t.debts.first == nil && t.out.Room() >= frame.FrameMax
}

// owe has a debtor write what it owes, now or once there is room.
func (t *track) owe(d debtor) { t.owes(&t.debts, d) }

// answer has a debtor write an answer, or a GONE, now or once there is room.
func (t *track) answer(d debtor) { t.owes(&t.answers, d) }

func (t *track) owes(q *debts, d debtor) {
	if t.over != nil {
		return
	}
	waits := q.first != nil // for room: an ACK, or the next connection, tells of that
	if q.push(d); !waits {
		t.settle()
	}
}

// settle writes what is owed, as far as there is room, and has stand-ins go on if there is more.
func (t *track) settle() {
	if t.over != nil {
		return
	}
	defer t.look()
	if !t.began {
		t.began = true
		if n := t.link.wrote; n > 0 {
			t.append((&frame.Gap{Notices: n}).Append(t.frame[:0]))
		}
	}
	for ; t.named < len(t.methods.all); t.named++ {
		if !t.tryAppend(t.methods.all[t.named].declare) {
			return
		}
	}
	t.sendOn()
	for len(t.parcels.behind) > 0 && t.answersLong() {
		s := t.parcels.behind[0]
		t.parcels.behind = t.parcels.behind[1:]
		if !s.pay() {
			t.answers.push(s)
		}
	}
	for t.debts.first != nil {
		if !t.debts.pay() {
			return
		}
	}
	for t.answers.first != nil && !t.passes() && t.answers.pay() {
		t.replied = true
	}
	if t.hasRoom() && t.hasSlot() {
		t.readmit()
	}
}

// callsWait reports whether calls wait for room.
func (t *track) callsWait() bool { return len(t.starved)+len(t.fed) > 0 }

// passes reports whether answers pass their turn.
func (t *track) passes() bool {
	left := t.out.Left()
	return t.replied && t.callsWait() && left.End-left.Acknowledged > uint64(t.link.hub.node.config.Window/2)
}

// readmit has stand-ins go on whose calls wait, those first of whom nothing was taken in this
// round.
func (t *track) readmit() {
	t.round++
	for _, all := range [2][]*standIn{t.starved, t.fed} {
		for _, r := range all {
			r.starved = false
			if !r.held && !r.sending {
				t.w.Readmit(r.house)
			}
		}
	}
	t.starved, t.fed = t.starved[:0], t.fed[:0]
}

// waits has a stand-in be readmitted in its turn.
func (r *standIn) waits() {
	t := r.track
	switch {
	case r.starved:
	case r.fed == t.round:
		t.fed = append(t.fed, r)
	default:
		t.starved = append(t.starved, r)
	}
	r.starved = true
}

// tryAppend writes a frame, if there is room for it.
func (t *track) tryAppend(f []byte) bool {
	if len(f) > t.out.Room() {
		return false
	}
	t.append(f)
	return true
}

// full reports whether as many are being written in pieces as may be: partsMax, and a long one
// begins while no more than a window's worth is left of the others. Who wrote a short one last,
// and so hardly writes a long one now, may go on while there is one more of the longest.
func (t *track) full(long bool) bool {
	most := t.link.hub.node.config.Window
	if !long {
		most += frame.LongMax
	}
	return len(t.parcels.out) >= partsMax || t.parcels.left > most
}

// answersLong reports whether a long answer may begin: not if the last that began was one, and a
// long call waits.
func (t *track) answersLong() bool {
	if t.full(true) {
		return false
	}
	long := func(r *standIn) bool { return r.long }
	passes := t.parcels.answer && len(t.parcels.out) > 0
	return !passes || !slices.ContainsFunc(t.starved, long) && !slices.ContainsFunc(t.fed, long)
}
