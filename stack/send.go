package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/count"
)

// This file is how calls and answers travel between houses of one worker. What goes to another
// worker's takes the way of send_outbox.go; guests have send_guest.go.

// Begin takes a stack for a call of h. The caller writes the message and calls Push.
func (w *Engine) Begin(h *Handler) *Stack { return stackOf(w.Shard.Take(h.kind)) }

// Push delivers a call that was begun on this worker to the house h. If h has no room for it, it
// is refused: an ask is answered so, and of a notice the error is ErrMailboxFull; ErrStopped of
// an actor that has stopped; or ErrOtherSystem of one that belongs to another system.
//
//alloc:none
func (w *Engine) Push(h *House, s *Stack) error {
	s.to = h
	invariant.Point("worker.owner")
	if h.owner.Load() != w {
		return w.sendCall(h, s)
	}
	if h.queued == queuedGift {
		w.sendAhead(h)
	}
	invariant.Point("worker.push")
	if h.inbox.Load() != nil {
		w.overtaken(h)
	}
	if h.closed() && s.by.counts != 0 && !w.room(h) {
		return w.refuse(h, s)
	}
	h.unshown += s.by.counts
	h.calls.push(s)
	if h.queued == notQueued {
		w.makeReady(h)
	}
	return nil
}

// reply delivers an answer that ended on this worker to the house, or guest, that asked.
func (w *Engine) reply(s *Stack) {
	h := s.back
	s.lane = Replies
	w.Count.Add(count.Answers, 1)
	invariant.Point("worker.owner")
	if owner := h.owner.Load(); owner != w {
		if owner == nil {
			w.sendOut() // the guest goes on now, and what it says comes behind what was said here
			w.answerGuest(s)
		} else {
			w.sendLater(h, s)
		}
		return
	}
	invariant.Point("worker.reply")
	if h.inbox.Load() != nil {
		w.overtaken(h)
	}
	h.annex.Load().replies.push(s)
	h.ahead = true
	switch h.queued {
	case notQueued:
		h.queued = queuedHot
		h.readyAt = w.Now
		w.hot.push(h)
	case queuedCold:
		w.promote(h)
	}
}

// overtaken takes mail from outside before a push on the owner's thread, which
// must not overtake it.
//
//go:noinline
func (w *Engine) overtaken(h *House) {
	w.drain(h)
	w.makeReady(h) // who sent it may not have rung yet
}

// FailAsk answers c, which Bind made on w and nobody got, with err, through its
// asker's own lane of replies.
func (w *Engine) FailAsk(c *Stack, err error) {
	c.err = err
	w.reply(c)
}

// squeeze is Push beyond the bound of h's mailbox: who watches so many hears of as many.
func (w *Engine) squeeze(h *House, s *Stack) {
	s.to = h
	if h.owner.Load() != w {
		w.enclose(h, s)
		w.out.calls += int(s.by.counts)
		w.sendFirst()
		return
	}
	if h.queued == queuedGift {
		w.sendAhead(h)
	}
	if h.inbox.Load() != nil {
		w.overtaken(h)
	}
	h.unshown += s.by.counts
	h.calls.push(s)
	w.makeReady(h)
}
