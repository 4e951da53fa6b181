package cluster

import (
	"cmp"
	"maps"
	"slices"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/lost"
	"github.com/stackhouse-go/stackhouse/stack/rendezvous"
)

// overflow is the calls of other nodes that wait beside the full mailbox of an actor, in their
// order, also behind the end of the session by which they came. Each ref by which one came has
// written HOLD, and writes RESUME once none waits. There is one for each such actor; its states:
//
//	free     among the hub's spare ones
//	waits    the house will have its cell finished, once, which has the hub admit
//
// What a link may have waiting in all of them is bounded; what is more is refused as by the full
// mailbox that it is for.
type overflow struct {
	hub    *hub
	house  *stack.House
	calls  []waiter // from first on
	first  int
	held   []*ref
	drains bool // the actor is to be drained, in its turn among them
	cell   rendezvous.Cell
}

// waiter is a call that waits for room, the memory that it takes, about, and whose bound it counts
// for; or the drain, which has no call.
type waiter struct {
	call *stack.Stack
	size int
	of   *serving // nil: it is a notice
	link *link
}

const (
	// callSize is what a call without a text takes, about, bytes.
	callSize = 256
	// waitingWindows is how many windows the calls of a link that wait may take for each track: what
	// comes for one actor while HOLD is on its way is two windows, of small calls as much more as
	// they take here.
	waitingWindows = 128
	// spareMax is for how many calls a spare overflow has memory.
	spareMax = 1024
)

// deliver hands a call, whose message takes so many bytes, to the actor, or keeps it behind those
// that wait for room. of is an ask's; nil: it is a notice.
func (r *ref) deliver(c *stack.Stack, message int, of *serving) {
	h, l := r.track.link.hub, r.track.link
	o := h.overflows[r.house]
	if o == nil && h.takes(r.house) {
		h.w.Squeeze(r.house, c) // others may have taken the room meanwhile
		return
	}
	size := message + callSize
	if l.waiting+size > waitingWindows*h.node.config.Window*l.Tracks() {
		h.drop(c, r.house, lost.Full, core.ErrMailboxFull)
		return
	}
	if o == nil {
		o = h.overflow(r.house)
	}
	l.waiting += size
	if o.first > 64 && o.first >= len(o.calls)/2 { // what has gone keeps no memory
		n := copy(o.calls, o.calls[o.first:])
		clear(o.calls[n:])
		o.calls, o.first = o.calls[:n], 0
	}
	o.calls = append(o.calls, waiter{c, size, of, l})
	if of != nil {
		of.waits = true
	}
	if !r.held {
		r.held = true
		r.track.owing++
		o.held = append(o.held, r)
		r.track.owe(r)
	}
}

// takes reports whether a call may be sent: also one that is dropped as the actor is gone.
func (h *hub) takes(to *stack.House) bool { return to.Gone() || h.w.Admits(to) }

func (h *hub) overflow(of *stack.House) *overflow {
	var o *overflow
	if n := len(h.spare); n > 0 {
		o, h.spare = h.spare[n-1], h.spare[:n-1]
	} else {
		o = &overflow{hub: h}
		o.cell.Call(o.hasRoom)
	}
	o.house = of
	h.overflows[of] = o
	o.await()
	return o
}

// await has hasRoom called once.
func (o *overflow) await() {
	o.cell.Reset()
	o.house.AwaitRoom(&o.cell)
}

// hasRoom is called, on any goroutine, once the actor may have room.
func (o *overflow) hasRoom() {
	stack.Tell(o.hub.w.Guests, o.hub.at, on.room.Machine(), &o)
}

// room is told, from any goroutine, when an actor may have room that had none.
func (h *hub) room(s *core.NoticeStack[*overflow]) core.Yield {
	s.Msg.admit()
	return s.Return()
}

// admit hands on what waits, as far as there is room. The other ends go on once all of it is.
func (o *overflow) admit() {
	for ; o.first < len(o.calls); o.first++ {
		w := o.calls[o.first]
		if w.needsRoom() && !o.hub.takes(o.house) {
			o.await()
			return
		}
		o.calls[o.first] = waiter{}
		o.hub.handOn(o.house, w)
	}
	if o.calls, o.first = o.calls[:0], 0; cap(o.calls) > spareMax {
		o.calls = nil
	}
	for _, r := range o.held {
		r.held = false
		r.track.owing--
		r.track.owe(r)
	}
	clear(o.held)
	o.held = o.held[:0]
	delete(o.hub.overflows, o.house)
	o.house, o.drains = nil, false
	o.hub.spare = append(o.hub.spare, o)
}

// needsRoom reports whether w is a call that may begin.
func (w *waiter) needsRoom() bool { return w.call != nil && (w.of == nil || !w.of.given) }

// handOn hands on a call that has waited, unless it was given up, or begins the drain.
func (h *hub) handOn(to *stack.House, w waiter) {
	if w.call == nil {
		h.w.Drain(to)
		return
	}
	w.link.waiting -= w.size
	if w.of != nil {
		if w.of.waits = false; w.of.given {
			h.w.Discard(w.call)
			w.of.isDropped()
			return
		}
	}
	h.w.Squeeze(to, w.call)
}

// drain has an actor stop behind all calls that came before.
func (h *hub) drain(to *stack.House) {
	switch o := h.overflows[to]; {
	case o == nil:
		h.w.Drain(to)
	case !o.drains:
		o.drains = true
		o.calls = append(o.calls, waiter{})
	}
}

// drop ends a call that isn't handed on: a notice is a dead letter, an ask fails.
func (h *hub) drop(c *stack.Stack, to *stack.House, why lost.Reason, err error) {
	if c.Handler().DeadLetter(to, why).Type != "" { // a notice
		h.w.Lost(to, c, why)
		h.w.Discard(c)
		return
	}
	h.w.FailAsk(c, err)
}

// loseOverflows ends all calls that wait: the hub has ended, and so has every track.
func (h *hub) loseOverflows() {
	for _, o := range slices.SortedFunc(maps.Values(h.overflows), func(a, b *overflow) int { return cmp.Compare(a.house.Serial(), b.house.Serial()) }) {
		for _, w := range o.calls[o.first:] {
			if w.call == nil {
				h.w.Drain(o.house)
				continue
			}
			if w.of == nil {
				h.w.Lost(o.house, w.call, lost.Stopped)
			}
			h.w.Discard(w.call)
		}
		o.calls, o.first = nil, 0
	}
}
