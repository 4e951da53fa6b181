package main

import (
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// order keeps the commands of a connection in order where the stores alone wouldn't. As a rule
// commands are sent to their stores as they come, and each store does them in that order. But
//
//	several steps   a command of several steps begins when all before it have been answered, and
//	                those behind it begin when it has been answered
//	a long reply    when the reply to a command is long, its store puts off later requests of the
//	                connection, and says so. The front asks for each again when all before it have
//	                been answered. So each store has one long reply at a time
//
// Requests that were sent before the front heard of a long reply have a smaller epoch than later
// ones.
type order struct {
	until int    // how many requests must have been answered before another one begins
	epoch uint32 // how many long replies the front has heard of
}

// cuts has, for each store, the epoch below which it puts requests off. Only that store uses its
// element.
type cuts [storesMax]uint32

// mayBegin reports whether s, which has just come, may begin.
func (c *session) mayBegin(s *command) bool { return c.owed.took >= c.order.until || s.isFirst() }

// isFirst reports whether all requests before s have been answered.
func (s *command) isFirst() bool { return s.Req.session.owed.took == s.Req.index }

// goAlone makes requests behind s wait until s has been answered.
func (s *command) goAlone() {
	o := &s.Req.session.order
	o.until = max(o.until, s.Req.index+1)
}

// wait has s begin when all requests before it have been answered.
func (f *front) wait(s *command) core.Yield {
	s.goAlone()
	return s.part(resp.Part(nil, 0), (*front).begin)
}

// part sends a part of the reply; next runs when that is written, in the turn of s.
func (s *command) part(rep resp.Reply, next func(*front, *command) core.Yield) core.Yield {
	s.Part(&s.room, rep)
	return core.Suspend(s, next)
}

// cut ends the epoch in which s was sent, unless it has ended already: all requests decoded so far
// belong to it.
func (s *command) cut() {
	if c := s.Req.session; c.order.epoch == s.epoch {
		c.order.epoch++
		c.order.until = c.owed.put
		c.width = 1
	}
}

// adapt notes that the reply to s has size bytes.
func (s *command) adapt(size int) {
	if s.Req.session.width.adapt(size); size > longReplies {
		s.cut()
	}
}

// again runs next, which asks again for a command that a store has put off, when all before it have
// been answered. It ends the epoch too, in case the long reply was lost.
func (f *front) again(s *command, next func(*front, *command) core.Yield) core.Yield {
	s.cut()
	if s.isFirst() {
		return next(f, s)
	}
	return s.part(resp.Part(nil, 0), next)
}

// notDone is the reply to a request that a store puts off.
var notDone = resp.Reply{Kind: resp.KindRaw, Int: -1}

func isNotDone(rep *resp.Reply) bool { return rep.Kind == resp.KindRaw && rep.Int < 0 }

// putsOff reports whether r was sent before its front heard of a long reply of this store.
func (t *store) putsOff(r *request) bool { return r.cuts != nil && r.cuts[t.index] > r.epoch }

// cut puts off later requests of the connection until its front has heard of the reply to r, if
// that is long.
func (t *store) cut(r *request, size int) {
	if size > longReplies && r.cuts != nil {
		r.cuts[t.index] = r.epoch + 1
	}
}
