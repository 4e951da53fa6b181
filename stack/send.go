package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/count"
)

// This file is how a worker sends a call or an answer to a house of its own. Notices have a quicker
// way, send_tell.go. Messages to a house of another worker wait in the outbox (send_outbox.go).
// Guests send by send_guest.go.

// Begin takes a stack for a call of h. The caller writes the message and calls Push.
func (w *Engine) Begin(h *Handler) *Stack { return stackOf(w.Shard.Take(h.kind)) }

// Push delivers a call that was begun on this worker to the house h. The error is ErrMailboxFull if
// h has no room for it, ErrStopped if the actor has stopped, or ErrOtherSystem if it belongs to
// another system. An ask that is refused is also answered with the error. Only who runs w's turn
// calls it.
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
			w.sendOut() // messages that the guest sends after its answer come behind those in there
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

// FailAsk answers c, which Bind made on w and which was not pushed, with err, through its
// asker's own lane of replies. Only who runs w's turn calls it.
func (w *Engine) FailAsk(c *Stack, err error) { w.Answer(c, pool.Bytes{}, err) }

// Answer ends c, an ask that no step will go on with: it wasn't pushed, or its only step ended by
// Again. It is answered with its reply, which may refer to b, or with err. Only who runs w's turn
// calls it.
func (w *Engine) Answer(c *Stack, b pool.Bytes, err error) {
	c.carried.Share(&w.Shard, b)
	c.err = err
	w.end(c.to, c)
}

// Squeeze is Push that ignores the bound of h's mailbox: an actor that watches more actors than its
// mailbox has places must still be told about each of them.
func (w *Engine) Squeeze(h *House, s *Stack) {
	s.to = h
	if h.owner.Load() != w {
		w.addOut(h, s)
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
