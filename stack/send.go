package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/count"
)

// This file is how a worker sends a call or an answer to a house of its own; notices have a quicker
// way, send_tell.go. What goes to a house of another worker waits in the outbox (send_outbox.go);
// guests send by send_guest.go.

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
	invariant.Point("worker.push")
	if h.behind() {
		w.catchUp(h)
	}
	if h.closed() && s.by.counts != 0 && !w.room(h) {
		return w.refuse(h, s)
	}
	if h.append(s, s.by.counts) {
		w.makeReady(h)
	}
	return nil
}

// behind reports whether a message that was sent to h earlier isn't in a lane of h yet: it must
// get there before its owner pushes another one, see catchUp.
func (h *House) behind() bool { return h.queued == queuedGift || h.inbox.Load() != nil }

// catchUp moves what was sent to h, which belongs to w, earlier into its lanes.
//
//go:noinline
func (w *Engine) catchUp(h *House) {
	if h.queued == queuedGift {
		w.sendAhead(h)
	}
	if h.inbox.Load() != nil {
		w.drain(h)
		w.makeReady(h) // who sent it may not have rung yet
	}
}

// append pushes s, which counts as n calls and for which there is room, onto the lane of calls. The
// owner of h calls it, and if it reports true, makeReady.
func (h *House) append(s *Stack, n int32) bool {
	h.unshown += n
	h.calls.push(s)
	return h.queued == notQueued
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
		w.catchUp(h)
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

// FailAsk answers c, which Bind made on w and nobody got, with err, through its
// asker's own lane of replies.
func (w *Engine) FailAsk(c *Stack, err error) {
	c.err = err
	w.reply(c)
}

// squeeze is Push that ignores the bound of h's mailbox: an actor that watches more others than its
// mailbox has places must still be told about each of them.
func (w *Engine) squeeze(h *House, s *Stack) {
	s.to = h
	if h.owner.Load() != w {
		w.enclose(h, s)
		w.out.calls += int(s.by.counts)
		w.sendFirst()
		return
	}
	if h.behind() {
		w.catchUp(h)
	}
	if h.append(s, s.by.counts) {
		w.makeReady(h)
	}
}
