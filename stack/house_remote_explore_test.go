//go:build explore

package stack

import (
	"reflect"

	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// parcel is what crosses between an importer and an exporter, which stand on two workers as if
// these were two processes: all that they share is such notices.
type parcel struct {
	cancel bool
	slot   uint32
	n      int
	err    error
}

// importer is the Remote of a stand-in. Its slot is free once its exporter has answered, also what
// was given up: so an answer never meets another call.
type importer struct {
	s      *stage
	w      *Engine
	at, to *House // where it stands; its exporter
	h      *House // the stand-in
	slots  [2]*Stack
	taken  [2]bool
	shut   bool // it isn't ready
	told   []words
}

func (r *importer) Ready(*House) bool { return !r.shut && (!r.taken[0] || !r.taken[1]) }

func (r *importer) Command(*House, command.Verb) {}
func (r *importer) Node() string                 { return "shop" }
func (r *importer) Await(*House, bool)           {}

func (r *importer) Take(_ *House, c *Stack) {
	if c.by.class == classNotice {
		r.told = append(r.told, *Message[words](c))
		r.w.Discard(c)
		return
	}
	slot := uint32(0)
	if r.taken[0] {
		slot = 1
	}
	r.slots[slot], r.taken[slot] = c, true
	c.SetSlot(slot)
	r.send(parcel{slot: slot, n: Request[words, int](c).N})
}

func (r *importer) Forget(_ *House, c *Stack) {
	r.slots[c.Slot()] = nil
	r.send(parcel{cancel: true, slot: c.Slot()})
}

func (r *importer) send(p parcel) {
	if err := notify(r.w, r.to, exporterTold, p); err != nil {
		r.s.Fail("a parcel failed: %v", err)
	}
}

// told is an answer of the exporter.
func (r *importer) answered(s *NoticeStack[parcel]) Yield {
	c := r.slots[s.Msg.slot]
	r.slots[s.Msg.slot], r.taken[s.Msg.slot] = nil, false
	if c != nil {
		*Reply[int](c) = s.Msg.n
		r.w.Answer(c, pool.Bytes{}, s.Msg.err)
	}
	r.w.Readmit(r.h)
	return s.Return()
}

// opens ends shut.
func (r *importer) opens(s *NoticeStack[int]) Yield {
	r.shut = false
	r.w.Readmit(r.h)
	return s.Return()
}

// breaks ends all that is away, and the stand-in.
func (r *importer) breaks(s *NoticeStack[words]) Yield {
	for i, c := range r.slots {
		if c != nil {
			r.slots[i] = nil
			r.w.FailAsk(c, fault.ErrLost)
		}
	}
	r.w.Vanish(r.h, fault.ErrLost)
	return s.Return()
}

// exporter serves an actor of its own process.
type exporter struct {
	w      *Engine
	at, to *House // where it stands; its importer
	actor  *House
	by     *Handler
	calls  [2]*Stack
}

func (x *exporter) told(s *NoticeStack[parcel]) Yield {
	m := s.Msg
	if !m.cancel {
		c := x.w.Serve(x.at, x.by, m.slot, 0)
		*Request[words, int](c) = words{0, m.n}
		x.calls[m.slot] = c
		x.w.Push(x.actor, c)
	} else if c := x.calls[m.slot]; c != nil {
		x.calls[m.slot] = nil
		x.w.Unserve(c)
	}
	return s.Return()
}

func (x *exporter) Answered(c *Stack) bool {
	slot := uint32(c.ID())
	wanted := x.calls[slot] != nil
	x.calls[slot] = nil
	p := parcel{slot: slot, n: *Reply[int](c), err: c.Err()}
	if wanted {
		x.w.Discard(c)
	}
	notify(x.w, x.to, importerAnswered, p)
	return wanted
}

var (
	exporterTold     = newNotice((*exporter).told)
	importerAnswered = newNotice((*importer).answered)
	importerOpens    = newNotice((*importer).opens)
	importerBreaks   = newNotice((*importer).breaks)
)

// imports has a stand-in on the first worker for an actor, handled by by, of the last one.
func (s *stage) imports(actor *House, by *Handler) (*importer, *exporter) {
	last := len(s.hand.workers) - 1
	r := &importer{s: s, w: s.hand.workers[0]}
	x := &exporter{w: s.hand.workers[last], actor: actor, by: by}
	r.at, x.at = settleOn(s.hand, 0, r), settleOn(s.hand, last, x)
	r.to, x.to = x.at, r.at
	r.h = NewStandIn(r.w, 1000, reflect.TypeFor[far](), 6, r)
	return r, x
}

// rests reports whether nothing is away or served.
func (r *importer) rests(x *exporter) bool {
	return !r.taken[0] && !r.taken[1] && x.calls == [2]*Stack{}
}

// A guest gives up an ask of an actor of another process while it is answered. Its next ask, in the
// same slot perhaps, gets its own answer.
func exploreAway(s *stage) {
	s.workers(2)
	_, h := s.hears(1)
	r, x := s.imports(h, listenAsk)
	s.other("guest", func() {
		s.resigns(s.calls(r.h, farAsked, 1), 1)
		if err := s.ends(s.calls(r.h, farAsked, 2), 2); err != nil {
			s.Fail("the ask failed: %v", err)
		}
	})
	s.start(func() bool { return s.alone() && r.rests(x) })
}

// A guest gives up an ask of an actor of another process that never answers: it ends there.
func exploreAwayGivenUp(s *stage) {
	s.workers(2)
	h := settleOn(s.hand, 1, &hermit{})
	r, x := s.imports(h, hermitAsk)
	s.askers = append(s.askers, h)
	s.other("guest", func() { s.resigns(s.calls(r.h, farAsked, 1), 1) })
	s.start(func() bool { return s.alone() && r.rests(x) && s.dropped() >= 1 })
}

// The Remote isn't ready while a worker and a guest send, and is when they are at it: all come, in
// order.
func exploreAwayHeld(s *stage) {
	s.workers(2)
	_, h := s.hears(1)
	r, _ := s.imports(h, listenAsk)
	r.shut = true
	tell(s.hand, settleOn(s.hand, 1, &writer{}), writerWrite, func(w *Engine) {
		for n := range 2 {
			notify(w, r.h, farTold, words{0, n})
		}
	})
	s.other("guest", func() {
		Tell(&s.hand.guests, r.h, farTold, &words{1, 0})
		tell(s.hand, r.at, importerOpens, 0)
		Tell(&s.hand.guests, r.h, farTold, &words{1, 1})
	})
	s.start(func() bool { return s.alone() && len(r.told) == 4 })
	s.After(func() {
		l := &listener{}
		for _, m := range r.told {
			l.hear(m)
		}
		s.heard(l, 2, 2)
	})
}

// The stand-in vanishes while a guest asks and tells: the ask ends, with its answer or as lost, and
// each notice that was accepted is told or a dead letter.
func exploreAwayLost(s *stage) {
	s.workers(1)
	_, h := s.hears(0)
	r, x := s.imports(h, listenAsk)
	s.other("breaker", func() { tell(s.hand, r.at, importerBreaks, words{}) })
	s.other("guest", func() {
		refused := Tell(&s.hand.guests, r.h, farTold, &words{0, 0})
		if refused == nil {
			s.accepted++
		}
		c := s.hand.guests.Call(r.h, farAsked)
		*Request[words, int](c.Stack()) = words{0, 1}
		err := s.hand.guests.Send(c)
		if err == nil {
			err = s.ends(c, 1)
		}
		for _, err := range []error{refused, err} {
			if err != nil && err != fault.ErrLost {
				s.Fail("a message failed: %v", err)
			}
		}
	})
	s.start(func() bool { return s.alone() && r.rests(x) && r.h.Gone() })
	s.After(func() {
		if n := uint64(len(r.told)) + s.letters(); n != s.accepted {
			s.Fail("%d notices were told, or are dead letters, of %d that were accepted", n, s.accepted)
		}
	})
}
