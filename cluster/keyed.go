package cluster

import (
	"slices"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
)

// This file is how asks are served that may come more than once: see AtLeastOnce. Each has a key,
// by which the hub knows whether it has come before, and how it was answered. Unlike other asks
// that are served it isn't given up with the session by which it came.

// keyedAsk is an ask of an actor at a path, which has come before if Life isn't 0, or may have: it
// is the life of this node by then.
type keyedAsk struct {
	Key     uint64 // of the sender's, in this life of it
	Life    uint64
	Path    string
	Method  string
	Request []byte
}

// keyedReply is what the actor has returned.
type keyedReply struct{ Reply []byte }

var keyedMethod = core.NewMethod[keyedAsk, keyedReply](keyedName)

const keyedName = "stackhouse.cluster.keyed"

// serveKeyed begins a keyed ask, or has s answered as it was, or is to be.
func (t *track) serveKeyed(s *serving, m *foreign, f *frame.Ask) {
	if m.noRequest != nil {
		s.refuse(m.noRequest)
		return
	}
	h := t.link.hub
	k, err := t.readKeyed(m.request, f.Message)
	if err != nil {
		s.refuse(err)
		return
	}
	if k.Life != 0 && k.Life != h.node.config.Incarnation {
		s.refuse(core.ErrLost) // it may have run in that life
		return
	}
	r, isNew, err := h.replies.find(t.link.name, t.link.Peer().Incarnation, k.Key, k.Life != 0, t.w.Now)
	if isNew {
		if err = t.run(r, k, f); err == nil {
			h.replies.begun()
		} else {
			h.replies.drop(r)
		}
	}
	switch {
	case err != nil:
		s.refuse(err)
	case r.done:
		s.awaits = r
		t.answer(s)
	case r.waiting != nil: // nobody asks so: a sender asks again once it has an answer
		s.refuse(core.ErrLost)
	default:
		s.awaits, r.waiting = r, s
	}
}

// run has a keyed ask run. It doesn't wait for room in the actor's mailbox, as nobody could be told
// to hold others: the sender names the actor by its path.
func (t *track) run(r *record, k *keyedAsk, f *frame.Ask) error {
	h := t.link.hub
	to := h.sought(k.Path)
	if to == nil {
		return core.ErrNotFound
	}
	m := t.methods.byName[k.Method]
	if m == nil || m.reply == nil || t.foreignOf(m) == nil {
		return core.ErrNoHandler
	}
	as, by := t.foreignOf(m), m.Handler(to.Kind())
	switch {
	case as.noRequest != nil:
		return as.noRequest
	case by == nil:
		return core.ErrNoHandler
	case h.overflows[to] != nil || !h.takes(to):
		return core.ErrMailboxFull
	}
	s := h.served.take()
	s.method, s.runs = m, r
	if err := t.begin(s, by, as, f, k.Request); err != nil {
		h.served.put(s)
		return err
	}
	h.w.Squeeze(to, s.call)
	return nil
}

// ran is the end of a keyed ask.
func (h *hub) ran(s *serving) {
	r, reply, err, fail := s.runs, []byte(nil), s.call.Err(), (*frame.Fail)(nil)
	switch l := h.links[r.of.name]; {
	case err != nil:
	case l == nil:
		err = core.ErrLost // the sender has been away for so long that this node has forgotten it
	default: // any session of theirs will do: see names.go
		if reply, err = l.control().write(s.method.reply, s.method.ReplyOf(s.call)); err == nil {
			reply = slices.Clone(reply)
		}
	}
	if err != nil {
		fail = failOf(err) // the error may refer to what the call has
	}
	h.w.Discard(s.call)
	h.served.put(s)
	h.replies.end(r, reply, fail, h.w.Now)
	if w := r.waiting; w != nil {
		r.waiting = nil
		w.track.answer(w)
	}
}
