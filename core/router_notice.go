package core

import "github.com/stackhouse-go/stackhouse/stack"

// Local returns the port of the handler at the replica of the sender's own worker;
// see Handler.Local.
func (h NoticeHandler[A, Msg]) Local(r Replicas[A]) NoticePort[Msg] {
	return routedNotice[Msg](h.by, byWorker(r.here()), nil)
}

// RoundRobin returns a port that tells the members in turn; see Handler.RoundRobin.
func (h NoticeHandler[A, Msg]) RoundRobin(m Members[A]) NoticePort[Msg] {
	return routedNotice[Msg](h.by, byTurns(rosterOf(m)), nil)
}

// Random returns a port that tells a member drawn by chance; see Handler.Random.
func (h NoticeHandler[A, Msg]) Random(m Members[A], seed uint64) NoticePort[Msg] {
	return routedNotice[Msg](h.by, byChance(rosterOf(m), seed), nil)
}

// ByKey returns a port that tells the same member for the same key; see Handler.ByKey.
func (h NoticeHandler[A, Msg]) ByKey(m Members[A], key func(*Msg) uint64) NoticePort[Msg] {
	return routedNotice[Msg](h.by, byKey(rosterOf(m), key == nil), key)
}

// LeastQueued returns a port that tells the member with the shortest queue; see
// Handler.LeastQueued.
func (h NoticeHandler[A, Msg]) LeastQueued(m Members[A]) NoticePort[Msg] {
	return routedNotice[Msg](h.by, byQueue(rosterOf(m)), nil)
}

// Broadcast returns a port that tells all members. Each gets a copy of the message, which so must
// not be one that is released. The error of a notice is ErrMailboxFull if at least one had no
// room for it; the others have got it.
func (h NoticeHandler[A, Msg]) Broadcast(m Members[A]) NoticePort[Msg] {
	if h.by == nil {
		panic("core: a router of a zero NoticeHandler")
	}
	refuseReleased[Msg]()
	r := &noticeBroadcast[Msg]{by: h.by, roster: rosterOf(m)}
	return NoticePort[Msg]{route: &noticeRoute[Msg]{via: r.notice, post: r.post}}
}

// noticeRouter tells one of several.
type noticeRouter[Msg any] struct {
	choice
	by  *stack.Handler
	key func(*Msg) uint64 // nil: none
}

func routedNotice[Msg any](by *stack.Handler, c choice, key func(*Msg) uint64) NoticePort[Msg] {
	if by == nil {
		panic("core: a router of a zero NoticeHandler")
	}
	r := &noticeRouter[Msg]{choice: c, by: by, key: key}
	return NoticePort[Msg]{route: &noticeRoute[Msg]{via: r.notice, post: r.post}}
}

// notice is the way of a step. With nobody there the error is ErrNoMember, and the message a dead
// letter.
//
//alloc:none
func (r *noticeRouter[Msg]) notice(s *stack.Stack, msg Msg) error {
	w := s.Engine()
	c := w.Begin(r.by)
	m := stack.Message[Msg](c)
	*m = msg
	key := uint64(0)
	if r.key != nil {
		key = keyOf(r.key, m, w, c)
	}
	h := r.policy.pick(w, key)
	if h == nil {
		w.Lost(nil, c, stack.LostNoMember)
		w.Discard(c)
		return ErrNoMember
	}
	return w.Push(h, c)
}

// post is the way of a guest.
func (r *noticeRouter[Msg]) post(msg Msg) error {
	g := r.guests()
	if g == nil {
		return ErrNoMember
	}
	s := g.Begin(nil, r.by)
	var h *stack.House
	defer func() {
		if h == nil { // or key has panicked
			g.Pools.Put(&s.Object)
		}
	}()
	m := stack.Message[Msg](s)
	*m = msg
	key := uint64(0)
	if r.key != nil {
		key = r.key(m)
	}
	if h = r.policy.pick(nil, key); h == nil {
		return ErrNoMember
	}
	s.Aim(h)
	return s.Post()
}

// noticeBroadcast tells all.
type noticeBroadcast[Msg any] struct {
	by     *stack.Handler
	roster *roster
}

//alloc:none
func (r *noticeBroadcast[Msg]) notice(s *stack.Stack, msg Msg) (full error) {
	w := s.Engine()
	for _, h := range r.roster.here() {
		c := w.Begin(r.by)
		*stack.Message[Msg](c) = msg
		// one that has stopped is no member any more
		if err := w.Push(h, c); err == ErrMailboxFull {
			full = err
		}
	}
	return full
}

func (r *noticeBroadcast[Msg]) post(msg Msg) (full error) {
	for _, h := range r.roster.here() {
		s := h.Owner().Guests.Begin(h, r.by)
		*stack.Message[Msg](s) = msg
		if err := s.Post(); err == ErrMailboxFull {
			full = err
		}
	}
	return full
}

// refuseReleased panics if messages M are released with the stack that carries them.
func refuseReleased[M any]() {
	if _, yes := any((*M)(nil)).(stack.Releaser); yes {
		panic("core: several actors would release copies of one message")
	}
}
