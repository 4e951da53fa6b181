package stack

import "github.com/stackhouse-go/stackhouse/stack/lifecycle"

// System messages tell a house of its life. They go ahead of everything else, and no bound refuses
// them.

// verb says what a system message is about.
type verb uint8

const (
	verbStart    verb = iota // run the start hook
	verbStop                 // stop; answered when the actor has gone
	verbFailed               // who, a child, failed with err, and waits for what is to become of it
	verbLeft                 // who, a child, has gone; nil: a stack that kept a job has ended
	verbRestart              // restart because of err
	verbResume               // go on, in spite of a failure
	verbPause                // hold calls
	verbContinue             // end that
	verbWatch                // tell watch when the actor has gone
	verbUnwatch              // don't
	verbGivenUp              // there are calls whose askers gave up, see giveup.go
)

// control is a system message.
type control struct {
	verb  verb
	who   *House
	err   error
	delay int64 // in a restart, see life
	watch watcher
}

// controlStack carries it. No step runs in it.
type controlStack struct{ AskStack[control, struct{}] }

var controlHandler = newControl()

func newControl() *Handler {
	h := &Handler{class: classAsk, title: "a system message"}
	h.kind = newKind[controlStack](h, nil)
	return h
}

// control handles a system message.
func (w *Engine) control(h *House, s *Stack) {
	m := *Request[control, struct{}](s)
	l := h.life()
	waits := m.verb == verbStop && l != nil && l.Phase() != lifecycle.Gone
	if waits {
		l.waiters.push(s)
	}
	switch m.verb {
	case verbStart:
		l.Start()
		w.live(h, l)
	case verbStop:
		w.stop(h)
	case verbFailed:
		w.childFailed(h, m.who, m.err)
	case verbLeft:
		w.lost(h, m.who)
	case verbRestart:
		if !h.Gone() {
			w.restart(h, h.makeLife(), m.err, m.delay)
		}
	case verbResume:
		if l != nil {
			l.Resume()
			w.live(h, l)
		}
	case verbPause:
		if !h.Gone() {
			h.hold(heldByUser)
		}
	case verbContinue:
		w.release(h, heldByUser)
	case verbWatch:
		w.watch(h, m.watch)
	case verbUnwatch:
		h.unwatch(m.watch)
	case verbGivenUp:
		heed(w, h)
	}
	if !waits {
		s.close()
		w.home(h, s)
	}
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
			w.drain(h) // what was said before comes first
		}
		h.put(s)
		w.makeReady(h)
		return
	}
	w.sendOut() // what was said before comes first
	if at := s.post(); at != nil {
		w.wakeLater(at)
	}
}

// commandChildren sends one to each child.
func (w *Engine) commandChildren(l *life, m control) {
	for c := l.first; c != nil; c = c.life().next {
		w.command(c, m)
	}
}

// sendSystem sends a system message from anywhere.
func (h *House) sendSystem(g *Guests, m control) {
	s := g.Begin(h, controlHandler)
	*Request[control, struct{}](s) = m
	s.lane = System
	s.send()
}

// Stop asks h to stop: when the step that runs now has ended, before anything
// that is queued. Any goroutine may call it.
func (h *House) Stop(g *Guests) { h.sendSystem(g, control{verb: verbStop}) }

// Start runs the start hook of a new house, which has one, before its first message.
func (h *House) Start(g *Guests) { h.sendSystem(g, control{verb: verbStart}) }

// Pause has h begin no call until Continue. Any goroutine may call it.
func (h *House) Pause(g *Guests) { h.sendSystem(g, control{verb: verbPause}) }

// Continue ends Pause. Any goroutine may call it.
func (h *House) Continue(g *Guests) { h.sendSystem(g, control{verb: verbContinue}) }

// Restart has h begin anew, as if it had failed with err. Any goroutine may call it.
func (h *House) Restart(g *Guests, err error) { h.sendSystem(g, control{verb: verbRestart, err: err}) }

// Close makes a house, which nobody knows yet, a stopped one.
func (h *House) Close() {
	h.flags.set(flagStopped)
	if l := h.life(); l != nil {
		l.Close()
		h.flags.clear(flagHeld) // for a start hook
		h.why = 0
	}
}
