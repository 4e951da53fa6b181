package main

import (
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// order has the commands of a connection take effect in order where that doesn't come by itself.
// As a rule they are sent to their stores as they come, and each store does them in that order.
// But
//
//   - a command of several steps begins when all before it have been answered, and those behind it
//     when it has been
//   - when the reply to one is long, its store puts off what it gets behind that: it says so, and
//     those are done one by one, each when all before it have been answered. So there is one long
//     reply of each store at a time.
//
// What was sent before its front heard of a long reply is of an older epoch than what is sent
// behind that.
type order struct {
	until int    // how many requests must have been answered before another one begins
	epoch uint32 // how often that changed because of a long reply
}

// cuts says, of each store, below which epoch it puts requests off. Only that store looks.
type cuts [storesMax]uint32

// mayBegin reports whether s, which comes now, may begin.
func (c *session) mayBegin(s *command) bool { return c.owed.took >= c.order.until || s.isFirst() }

// isFirst reports whether all before s have been answered.
func (s *command) isFirst() bool { return s.Req.session.owed.took == s.Req.index }

// goAlone has those behind s begin when it has been answered.
func (s *command) goAlone() {
	o := &s.Req.session.order
	o.until = max(o.until, s.Req.index+1)
}

// wait has s begin when all before it have been answered.
func (f *front) wait(s *command) core.Yield {
	s.goAlone()
	return s.part(resp.Part(nil, 0), (*front).begin)
}

// part sends a part of the reply, and has next run in the turn of s.
func (s *command) part(rep resp.Reply, next func(*front, *command) core.Yield) core.Yield {
	s.Part(&s.room, rep)
	return core.Suspend(s, next)
}

// cut ends the epoch in which s was sent, if another one didn't: all that was decoded until now is
// of it.
func (s *command) cut() {
	if c := s.Req.session; c.order.epoch == s.epoch {
		c.order.epoch++
		c.order.until = c.owed.put
		c.width = 1
	}
}

// adapt takes note of how long the reply to s is.
func (s *command) adapt(size int) {
	if s.Req.session.width.adapt(size); size > longReplies {
		s.cut()
	}
}

// again has a command that a store has put off asked again by next, in its turn. The epoch is
// another one then, even if the long reply was lost.
func (f *front) again(s *command, next func(*front, *command) core.Yield) core.Yield {
	s.cut()
	if s.isFirst() {
		return next(f, s)
	}
	return s.part(resp.Part(nil, 0), next)
}

// notDone is the reply to what a store puts off.
var notDone = resp.Reply{Kind: resp.KindRaw, Int: -1}

func isNotDone(rep *resp.Reply) bool { return rep.Kind == resp.KindRaw && rep.Int < 0 }

// putsOff reports whether r comes behind a long reply of this store that its front may not have
// heard of.
func (t *store) putsOff(r *request) bool { return r.cuts != nil && r.cuts[t.index] > r.epoch }

// cut has what comes of the connection of r be put off until its front has heard of the reply, if
// that is long.
func (t *store) cut(r *request, size int) {
	if size > longReplies && r.cuts != nil {
		r.cuts[t.index] = r.epoch + 1
	}
}
