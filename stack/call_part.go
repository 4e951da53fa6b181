package stack

import "math"

// A request of a connection may be answered in parts. Of each its stack is
//
//	offered  by Part: the part waits for its turn, the stack for an answer
//	written  it was encoded, by the connection: what it took is let go
//	free     the connection has room for more: the answer comes, by GoOn
//
// The answer is a call that nobody handles, which the stack holds: it goes home when there is
// room; or when the stack ends, and then finds nobody.

// Room is what the answer to a part says: there is room for more.
type Room struct{}

var partHandler = func() *Handler {
	h := &Handler{class: classAsk, title: "part"}
	h.kind = newKind[AskStack[struct{}, Room]](h, nil)
	return h
}()

// part is what a ChannelStack knows of the part that it is at.
type part struct {
	room    *Stack // the call whose answer it waits for; nil: it is at none
	written bool
}

// Part offers rep as a part of the result: it is written in its turn, behind the results of all
// requests that came before. f is answered once that was done, and the connection has room for
// more: until then rep's bytes must live, and with the answer what Bytes and Copy gave is gone. No
// deadline ends the wait; the end of the connection ends s. Return is the last part, as if it were
// the whole. An end of s before f is answered drops a part that wasn't written. An empty part waits
// for the turn of s: then all requests before it are answered. Only a step of s may call it; it
// panics while f, or another part, waits.
func (s *ChannelStack[Req, Rep]) Part(f *Future[Room], rep Rep) {
	if s.part.room != nil {
		panic("stack: a part is offered before there is room for it in " + s.by.Name())
	}
	c := s.Bind(&f.promise, partHandler, 0)
	f.promise.Postpone(math.MaxInt64)
	c.deadline = 0
	s.rep, s.part = rep, part{room: c}
	s.by.request.parted(&s.Stack)
}

// AtPart reports whether s waits behind a part.
func (s *ChannelStack[Req, Rep]) AtPart() bool { return s.part.room != nil }

// Ready reports whether the oldest request has something to be written: its result, or a part of
// that.
func (q *Inflight[Req, Rep]) Ready() bool {
	s := q.head
	return s != nil && (s.complete || s.part.room != nil && !s.part.written && s.mode != waitKept)
}

// Waits reports whether the oldest request, unless it is Ready, waits for room behind a part.
func (q *Inflight[Req, Rep]) Waits() bool {
	return q.head != nil && q.head.part.written && q.head.mode != waitKept
}

// Offered notes what s, which has just offered a part, holds.
func (q *Inflight[Req, Rep]) Offered(s *ChannelStack[Req, Rep]) { q.hold(s) }

// Written notes that what Result gave was encoded: the oldest request is freed, or goes on behind
// its part, by GoOn.
func (q *Inflight[Req, Rep]) Written(w *Engine) {
	s := q.head
	if s.complete {
		q.Pop(w)
		return
	}
	s.part.written = true
	var zero Rep
	s.rep = zero
	if s.Taken() { // no function that was offloaded reads what it carries
		s.carried.Release()
	}
	q.hold(s)
}

// GoOn has the oldest request, which waits for room, go on.
func (q *Inflight[Req, Rep]) GoOn(w *Engine) { q.head.goOn(w) }

// DropPart has s go on as if its part were written.
func (q *Inflight[Req, Rep]) DropPart(w *Engine, s *ChannelStack[Req, Rep]) { s.goOn(w) }

func (s *ChannelStack[Req, Rep]) goOn(w *Engine) {
	room := s.part.room
	s.part = part{}
	w.reply(room)
}
