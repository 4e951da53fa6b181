package stack

import (
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/lost"
	"github.com/stackhouse-go/stackhouse/stack/order"
)

// This file is what becomes of a call for which its house has no room, or which the house doesn't
// take at all. When a house has room is in house_mailbox.go.

// crowded reports whether h, of another worker, has no room for a call of w.
func (w *Engine) crowded(h *House) bool {
	n := 1
	if w.out.to == h {
		n += w.out.calls
	}
	bits := h.flags.Now() // takes, written out: the compiler doesn't inline it
	return bits&flags.Stopped != 0 || bits.Calls()+n > int(h.limit) && !h.fits(n)
}

// room reports whether h, of w, which is closed, has room for another call all the same. With
// DropOldest it makes room.
//
//go:noinline
func (w *Engine) room(h *House) bool {
	if h.Gone() {
		return false
	}
	bound, full := h.rules()
	// where it drops, the calls that count aren't all pushed yet
	return h.waits() < bound || full == order.DropOldest && (w.dropOldest(h) || h.waits() < 2*bound)
}

// shed drops the calls of h, of w, beyond its bound, after others have pushed, with DropOldest.
//
//go:noinline
func (w *Engine) shed(h *House) {
	bound, full := h.rules()
	for full == order.DropOldest && h.waits() > bound && w.dropOldest(h) {
	}
}

// dropOldest drops the call that has waited longest; false: there is none.
func (w *Engine) dropOldest(h *House) bool {
	var s *Stack
	if h.flags.Has(flags.Held) {
		s = h.annex.Load().held.popCounted()
	}
	if s == nil {
		s = h.calls.popCounted()
	}
	if s == nil {
		return false
	}
	h.unshown--
	why := lost.Full
	s.err = fault.ErrMailboxFull
	if h.Gone() {
		s.err, s.unbegun, why = h.goneBy(), true, lost.Stopped
	}
	w.Count.Add(count.Full, 1)
	if s.by.class == classNotice {
		w.Lost(h, s, why)
	}
	w.end(h, s)
	return true
}

// foreign reports whether h belongs to another system than w.
func (w *Engine) foreign(h *House) bool { return h.owner.Load().Guests != w.Guests }

// refuse ends s, a call to h, because the mailbox of h is full, or h has stopped or is foreign. It
// returns the error for the sender of a notice. An ask is answered with it, through its asker's own
// lane of replies.
//
//go:noinline
func (w *Engine) refuse(h *House, s *Stack) error {
	err, why, counter := fault.ErrMailboxFull, lost.Full, count.Full
	switch {
	case w.foreign(h):
		err, why, counter = fault.ErrOtherSystem, lost.Foreign, count.Refused
	case h.Gone():
		err, why, counter = h.goneBy(), lost.Stopped, count.Refused
	}
	w.Count.Add(counter, 1)
	s.unbegun = why == lost.Stopped
	if s.by.class == classAsk && s.back != nil {
		w.FailAsk(s, err)
		return err
	}
	if s.by.class == classNotice && why != lost.Stopped {
		w.Lost(h, s, why)
	}
	if why == lost.Full {
		if _, full := h.rules(); full == order.DropNewest {
			err = nil
		}
	}
	w.Shard.Put(&s.Object)
	return err
}

// refusePost is refuse for a guest's notice.
//
//go:noinline
func (s *Stack) refusePost() (err error) {
	h := s.to
	g := h.owner.Load().Guests
	if err = g.countRefused(h); err == fault.ErrMailboxFull {
		s.lostOutside(lost.Full)
		if _, full := h.rules(); full == order.DropNewest {
			err = nil
		}
	}
	g.Pools.Put(&s.Object)
	return err
}

// counted returns as how many calls s counts, which was taken from the inbox for good.
func (s *Stack) counted(h *House) int {
	if s.by.envelope.opens == nil {
		if s.lane == Calls {
			return int(s.by.counts)
		}
		return 0
	}
	return envelopeOf(s).close()
}
