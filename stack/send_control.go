package stack

// System messages are about the life of an actor. They go ahead of everything else in its house,
// and no bound refuses them.

// verb says what a system message is about.
type verb uint8

const (
	verbStart    verb = iota // run the start hook
	verbStop                 // stop; answered when the actor has gone
	verbFailed               // the child who failed with err, and waits for a decision
	verbLeft                 // the child who has gone; nil: a stack that kept a job has ended
	verbRestart              // restart because of err, after delay
	verbResume               // go on, in spite of a failure
	verbPause                // hold calls
	verbContinue             // end verbPause
	verbWatch                // tell watch when the actor has gone
	verbUnwatch              // end verbWatch
	verbGone                 // do nothing; answered when the actor has gone
	verbGivenUp              // there are calls whose askers gave up, see send_giveup.go
)

// control is a system message.
type control struct {
	verb  verb
	who   *House
	err   error
	delay int64 // in a restart, ns; see lifecycle.Machine.Restart
	watch watcher
}

// controlHandler is the handler of the stacks that carry a control. No step runs in them.
var controlHandler = newControl()

func newControl() *Handler {
	h := &Handler{class: classAsk, title: "a system message"}
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
	if m.verb == verbGivenUp {
		heed(nil, s.to)
	}
	if m.verb != verbWatch {
		return
	}
	who := m.watch
	notice := who.to.Owner().Guests.Begin(who.to, who.by)
	who.fill(notice, s.to.Any(who.kind))
	who.to.count(int(who.by.counts))
	notice.send()
}
