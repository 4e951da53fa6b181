package core

import (
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// Local returns the port of the handler at the replica of the sender's own worker;
// see Handler.Local.
func (h NoticeHandler[A, Msg]) Local(r Replicas[A]) NoticePort[Msg] {
	return NoticePort[Msg]{route: routedNotice(h.by, byWorker(r.here()), nil)}
}

// RoundRobin returns a port that tells the members in turn; see Handler.RoundRobin.
func (h NoticeHandler[A, Msg]) RoundRobin(m Members[A]) NoticePort[Msg] {
	return NoticePort[Msg]{route: routedNotice(h.by, byTurns(rosterOf(m)), nil)}
}

// Random returns a port that tells a member drawn at random; see Handler.Random.
func (h NoticeHandler[A, Msg]) Random(m Members[A], seed uint64) NoticePort[Msg] {
	return NoticePort[Msg]{route: routedNotice(h.by, byChance(rosterOf(m), seed), nil)}
}

// ByKey returns a port that tells the same member for the same key; see Handler.ByKey.
func (h NoticeHandler[A, Msg]) ByKey(m Members[A], key func(*Msg) uint64) NoticePort[Msg] {
	c := byKey(rosterOf(m), key == nil)
	return NoticePort[Msg]{route: routedNotice(h.by, c, func(c *stack.Stack) uint64 { return key(stack.Message[Msg](c)) })}
}

// LeastQueued returns a port that tells the member with the fewest messages in its mailbox; see
// Handler.LeastQueued.
func (h NoticeHandler[A, Msg]) LeastQueued(m Members[A]) NoticePort[Msg] {
	return NoticePort[Msg]{route: routedNotice(h.by, byQueue(rosterOf(m)), nil)}
}

// Broadcast returns a port that tells all members. Each member gets a copy of the message, so
// messages must not have a Release method. The error of a notice is ErrMailboxFull if at least one
// member had no room for it; the others have got it.
func (h NoticeHandler[A, Msg]) Broadcast(m Members[A]) NoticePort[Msg] {
	if h.by == nil {
		panic("core: a router of a zero NoticeHandler")
	}
	refuseReleased[Msg]()
	r := &noticeBroadcast{h.by, rosterOf(m), func(from, to *stack.Stack) { *stack.Message[Msg](to) = *stack.Message[Msg](from) }}
	return NoticePort[Msg]{route: &route{by: h.by, tells: r}}
}

func routedNotice(by *stack.Handler, c choice, key func(*stack.Stack) uint64) *route {
	if by == nil {
		panic("core: a router of a zero NoticeHandler")
	}
	return &route{by: by, tells: &noticeChooser{chooser{c, key}}}
}

// noticeChooser is the router that tells one member.
type noticeChooser struct{ chooser }

func (r *noticeChooser) guests() (*stack.Guests, error) { return r.choice.guests(), ErrNoMember }

// tell tells one member. If there is none, a step's message is a dead letter.
//
//alloc:none
func (r *noticeChooser) tell(w *stack.Engine, c *stack.Stack) (sent bool, err error) {
	if h := r.pick(w, c); h != nil {
		return true, deliver(w, h, c)
	}
	if w != nil {
		w.Lost(nil, c, lost.NoMember)
	}
	return false, ErrNoMember
}

// noticeBroadcast is the router that tells all members.
type noticeBroadcast struct {
	by     *stack.Handler
	roster *roster
	copy   func(from, to *stack.Stack) // of the message
}

func (r *noticeBroadcast) guests() (*stack.Guests, error) {
	if all := r.roster.here(); len(all) > 0 {
		return all[0].Owner().Guests, nil
	}
	return nil, nil
}

//alloc:none
func (r *noticeBroadcast) tell(w *stack.Engine, c *stack.Stack) (sent bool, full error) {
	all := r.roster.here()
	for i, h := range all {
		m := c
		if i < len(all)-1 {
			m = r.take(w, h)
			r.copy(c, m)
		}
		// ErrStopped is no error here: who has stopped is no member any more
		if err := deliver(w, h, m); err == ErrMailboxFull {
			full = err
		}
	}
	return len(all) > 0, full
}

func (r *noticeBroadcast) take(w *stack.Engine, h *stack.House) *stack.Stack {
	if w == nil {
		return h.Owner().Guests.Begin(nil, r.by)
	}
	return w.Begin(r.by)
}

// refuseReleased panics if messages of type M have a Release method: they are released with the
// stack that carries them.
func refuseReleased[M any]() {
	if _, yes := any((*M)(nil)).(stack.Releaser); yes {
		panic("core: several actors would release copies of one message")
	}
}
