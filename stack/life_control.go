package stack

import (
	"context"
	"errors"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/lifecycle"
)

// control handles a system message.
func (w *Engine) control(h *House, s *Stack) {
	m := *Request[control, struct{}](s)
	l := h.life()
	r, awaited := h.Remote(), l.awaited()
	waits := (m.verb == command.Stop || m.verb == command.Gone) && l != nil && l.Phase() != lifecycle.Gone
	if waits {
		l.waiters.push(s)
	}
	if r != nil && !h.Gone() && m.verb.Passes() {
		r.Command(h, m.verb)
		m.verb = command.Gone
	}
	switch m.verb {
	case command.Start:
		l.Start()
		w.live(h, l)
	case command.Stop:
		w.stop(h)
	case command.Failed:
		w.childFailed(h, m.who, m.err)
	case command.Left:
		w.lost(h, m.who)
	case command.Restart:
		if !h.Gone() {
			w.restart(h, h.makeLife(), m.err, m.delay)
		}
	case command.Resume:
		if l != nil {
			l.Resume()
			w.live(h, l)
		}
	case command.Pause:
		if !h.Gone() {
			h.hold(heldByUser)
		}
	case command.Continue:
		w.release(h, heldByUser)
	case command.Watch:
		w.watch(h, m.watch)
	case command.Unwatch:
		h.unwatch(m.watch)
	case command.GivenUp:
		heed(w, h)
	}
	if now := l.awaited(); r != nil && !h.Gone() && now != awaited {
		r.Await(h, now)
	}
	if !waits {
		s.err = h.Loss()
		s.close()
		w.home(h, s)
	}
}

// commandChildren sends the system message m to each child.
func (w *Engine) commandChildren(l *life, m control) {
	for c := l.children.First(); c != nil; c = siblingsOf(c).Next() {
		w.command(c, m)
	}
}

// Stop asks h to stop: when the step that runs now has ended, before any queued
// call begins. Any goroutine may call it.
func (h *House) Stop(g *Guests) { h.sendSystem(g, control{verb: command.Stop}) }

// Start has a new house run its start hook before its first message. It must have one. Any
// goroutine may call it.
func (h *House) Start(g *Guests) { h.sendSystem(g, control{verb: command.Start}) }

// Pause has h begin no call until Continue. Any goroutine may call it.
func (h *House) Pause(g *Guests) { h.sendSystem(g, control{verb: command.Pause}) }

// Continue ends Pause. Any goroutine may call it.
func (h *House) Continue(g *Guests) { h.sendSystem(g, control{verb: command.Continue}) }

// Restart has h begin anew, as if it had failed with err. Any goroutine may call it.
func (h *House) Restart(g *Guests, err error) {
	h.sendSystem(g, control{verb: command.Restart, err: err})
}

// Close makes a house, which nobody knows yet, one that has stopped.
func (h *House) Close() {
	h.flags.Set(flags.Stopped)
	if l := h.life(); l != nil {
		l.Close()
		l.quota.Leave()
		h.flags.Clear(flags.Held) // which Give set for a start hook
		h.why = 0
	}
}

// AskGone binds p, which is answered when the actor of h, which has stopped or is about to, is
// gone: without an error or, if its worker has left, with ErrStopped. Only a step of s may call it.
func (s *Stack) AskGone(p *future.Promise, h *House) {
	c := s.Bind(p, controlHandler, 0)
	Request[control, struct{}](c).verb = command.Gone
	s.Engine().direct(h, c)
}

// WaitStop stops h and blocks until its actor is gone or ctx ends: then the error says so. Only
// guests may call it; on a worker it returns ErrBlockingOnWorker.
func (g *Guests) WaitStop(ctx context.Context, h *House) error {
	for {
		c := g.Call(h, controlHandler)
		Request[control, struct{}](c.asked).verb = command.Stop
		c.asked.lane = System
		err := g.Wait(ctx, c)
		switch {
		case err == nil:
			g.Done(c)
			return nil
		case err == fault.ErrStopped:
			return nil
		case !errors.Is(err, fault.ErrTimeout) || ctx.Err() != nil:
			return err
		}
		// The default deadline of asks has passed, and ctx has not ended: ask again.
	}
}
