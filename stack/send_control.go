package stack

import "github.com/stackhouse-go/stackhouse/stack/command"

// System messages are about the life of an actor. They go ahead of everything else in its house,
// and no bound refuses them.

// control is a system message.
type control struct {
	verb  command.Verb
	who   *House
	err   error
	delay int64 // in a restart, ns; see lifecycle.Machine.Restart
	watch watcher
}

// controlHandler is the handler of the stacks that carry a control. No step runs in them.
var controlHandler = newControl()

func newControl() *Handler {
	h := &Handler{class: classAsk, Title: "a system message"}
	h.kind = h.newKind(shapeOf((*asked[control, struct{}])(nil), clearing[asked[control, struct{}]]()), nil)
	return h
}

// command sends a system message in a turn of w.
func (w *Engine) command(h *House, m control) {
	s := w.Begin(controlHandler)
	*Request[control, struct{}](s) = m
	w.direct(h, s)
}

// direct delivers a system message in a turn of w.
func (w *Engine) direct(h *House, s *Stack) {
	s.to, s.lane = h, System
	if h.owner.Load() == w {
		if h.inbox.Load() != nil {
			w.drain(h) // messages sent before come first
		}
		h.put(s)
		w.makeReady(h)
		return
	}
	w.sendOut() // messages sent before come first
	if at := s.post(); at != nil {
		w.wakeLater(at)
	}
}

// Drain is House.Drain in a turn of w: behind all that w has sent to h.
func (w *Engine) Drain(h *House) {
	w.sendOut()
	h.Drain(w.Guests)
}

// sendSystem sends a system message from anywhere.
func (h *House) sendSystem(g *Guests, m control) {
	s := g.Begin(h, controlHandler)
	*Request[control, struct{}](s) = m
	s.lane = System
	s.send()
}

// tellOutside does, on any goroutine, what the system message s still demands of a house whose
// worker had left when it came.
func (s *Stack) tellOutside() {
	m := Request[control, struct{}](s)
	if m.verb == command.GivenUp {
		heed(nil, s.to)
	}
	if m.verb != command.Watch {
		return
	}
	who := m.watch
	notice := who.to.Owner().Guests.Begin(who.to, who.by)
	who.fill(notice, s.to.any())
	who.to.count(int(who.by.counts))
	notice.send()
}
