package stack

import (
	"fmt"
	"runtime/debug"

	"github.com/stackhouse-go/stackhouse/future"
)

// end takes back what s asked and sends it home. Its state is ended, or it was
// dropped before it began.
func (w *Worker) end(h *House, s *Stack) {
	s.state = ended
	if s.bound != nil || s.fresh != 0 {
		w.detach(h, s)
	}
	if s.by.class == classAsk && s.back != nil {
		w.reply(s)
		return
	}
	w.home(h, s)
}

// detach takes back what s asked.
func (w *Worker) detach(h *House, s *Stack) {
	if s.fresh != 0 {
		w.fresh[s.fresh-1] = nil
		s.fresh = 0
	}
	if s.pending != 0 {
		w.cancelAsked(h, s)
	}
	if s.by.class != classOwned {
		w.letAnswersGo(s)
	}
}

// cancelAsked takes the promises of s that wait out of the table, and flags
// what they wait for.
func (w *Worker) cancelAsked(h *House, s *Stack) {
	for p := s.bound; p != nil && s.pending > 0; p = p.Next {
		if p.State == future.Waiting {
			s.pending--
			h.annex.Load().table.Take(p.ID, &w.Shard)
			if p.Slot != 0 {
				w.disarm(h, p)
			}
			abandon(p)
			p.State = future.Idle
		}
	}
	s.pending = 0
}

// letAnswersGo frees the answers that the futures of s hold.
func (w *Worker) letAnswersGo(s *Stack) {
	for p := s.bound; p != nil && p.Bound; p = p.Next {
		if p.Call != nil {
			w.Shard.Put(p.Call)
			p.Call = nil
		}
		p.State = future.Idle
		p.Bound = false
	}
	s.bound = nil
}

// home passes an ended stack on: to its asker, to its batch's members, to its
// maker or back to its pool.
func (w *Worker) home(h *House, s *Stack) {
	switch s.by.class {
	case classAsk:
		if s.back != nil {
			w.reply(s)
		} else {
			w.Shard.Put(&s.Object)
		}
	case classNotice:
		if s.err != nil {
			w.noticeFailed(h, s)
		}
		w.Shard.Put(&s.Object)
	case classBatch:
		w.endBatch(h, s)
	case classOwned:
		s.by.finish(s)
	}
}

//go:noinline
func (w *Worker) noticeFailed(h *House, s *Stack) {
	if _, told := s.err.(*PanicError); told || s.err == ErrStopped || s.err == ErrCancelled {
		return
	}
	w.Count.Add(CountFailures, 1)
	w.Driver.Failed(h, s, failure(h, s))
}

// drop ends a call that never began.
//
//go:noinline
func (w *Worker) drop(h *House, s *Stack) {
	switch {
	case h.Gone():
		s.err = ErrStopped
		w.Count.Add(CountRefused, 1)
	case s.cancelled.Load():
		s.err = ErrCancelled
		w.Count.Add(CountCancelled, 1)
	default:
		s.err = ErrTimeout
		w.Count.Add(CountExpired, 1)
	}
	if s.back == nil {
		w.Count.Add(CountDeadLetter, 1)
	}
	w.end(h, s)
}

// control handles a system message.
func (w *Worker) control(h *House, s *Stack) {
	s.state = running
	w.current = s
	if s.by == startHandler {
		w.start(h)
	} else if !h.Gone() {
		w.stop(h)
	}
	s.state = ended
	w.home(h, s)
}

// start runs the hook of a new actor.
func (w *Worker) start(h *House) {
	if h.Gone() {
		return
	}
	if err := w.hook(h, "PreStart", h.annex.Load().hooks.Started); err != nil {
		w.Count.Add(CountFailures, 1)
		w.Driver.Failed(h, nil, err)
		w.stop(h)
	}
}

// stop is the end of an actor: every suspended stack ends with
// ErrStopped, then the hook runs. What is queued is answered as it is taken.
func (w *Worker) stop(h *House) {
	h.flags.set(flagStopped)
	a := h.annex.Load()
	if a != nil {
		w.endAll(h, a)
	}
	defer w.bury(h) // deferred for a hook that calls runtime.Goexit
	if a != nil && a.hooks != nil {
		if err := w.hook(h, "PostStop", a.hooks.Stopped); err != nil {
			w.Count.Add(CountFailures, 1)
			w.Driver.Failed(h, nil, err)
		}
	}
}

// endAll ends the suspended stacks of h with ErrStopped.
func (w *Worker) endAll(h *House, a *annex) {
	from := 0
	for {
		p := a.table.Any(&from)
		if p == nil {
			return
		}
		s := stackOf(p.Owner)
		s.err = ErrStopped
		w.end(h, s)
	}
}

// bury is the end of stop.
func (w *Worker) bury(h *House) {
	if a := h.annex.Load(); a != nil {
		a.table.Close(&w.Shard)
	}
	h.actor = nil
	w.Driver.Gone(h)
}

// hook runs one end of an actor's life, by the name that actors know. Its error, and what
// a panic is turned into, name both.
func (w *Worker) hook(h *House, name string, f func(*House) error) (err error) {
	w.inHook = true
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Actor: h.Describe(), Step: name, Value: value, Trace: debug.Stack()}
			w.inHook = false
		}
	}()
	err = f(h)
	w.inHook = false
	if err != nil {
		return fmt.Errorf("%s failed in %s: %w", h.Describe(), name, err)
	}
	return nil
}

var (
	startHandler = newControl("start")
	stopHandler  = newControl("stop")
)

// controlStack is a system message.
type controlStack struct{ AskStack[struct{}, struct{}] }

// newControl makes the handler of a system message; control runs it, not a step.
func newControl(name string) *Handler {
	h := &Handler{class: classAsk, title: name}
	h.kind = newKind[controlStack](h, nil)
	return h
}

// Stop asks h to stop: when the step that runs now has ended, before anything
// that is queued. Any goroutine may call it.
func (h *House) Stop(g *Guests) { h.sendSystem(g, stopHandler) }

// Start runs the started hook of a new house, which has hooks, before its first message.
func (h *House) Start(g *Guests) { h.sendSystem(g, startHandler) }

func (h *House) sendSystem(g *Guests, by *Handler) {
	s := g.Begin(h, by)
	s.lane = System
	s.send()
}

// Close makes a house, which nobody knows yet, a stopped one.
func (h *House) Close() {
	h.flags.set(flagStopped)
}
