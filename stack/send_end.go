package stack

import (
	"fmt"
	"runtime/debug"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/move"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// end ends s: it cancels the asks for which s waits, and sends s home. If s keeps a job, it goes
// home once the job is home.
func (w *Engine) end(h *House, s *Stack) {
	s.close()
	if !w.conclude(h, s) {
		w.keepOn(h, s)
		return
	}
	if s.by.class == classAsk && s.back != nil {
		w.reply(s)
		return
	}
	w.home(h, s)
}

// conclude cancels the asks for which s waits, ends its barrier, and tells its middleware. It
// reports false if s keeps a job.
func (w *Engine) conclude(h *House, s *Stack) bool {
	if (s.bound != nil || s.fresh != 0) && !w.detach(h, s) {
		return false
	}
	if s.ends != 0 {
		w.endOwed(h, s)
	}
	return true
}

// detach cancels the asks for which s waits, and frees its answers. It reports false if s keeps a
// job.
func (w *Engine) detach(h *House, s *Stack) bool {
	if s.fresh != 0 {
		w.fresh[s.fresh-1] = nil
		s.fresh = 0
	}
	if s.pending != 0 {
		w.cancelAsked(h, s)
		if s.pending != 0 {
			return false
		}
	}
	if s.by.class != classOwned {
		w.letAnswersGo(s)
	}
	return true
}

// cancelAsked takes the waiting promises of s out of the table, and abandons their
// calls, except kept jobs.
func (w *Engine) cancelAsked(h *House, s *Stack) {
	for p := s.bound; p != nil && s.pending > 0; p = p.Next {
		if p.State == future.Waiting && !isKept(p) {
			s.pending--
			h.annex.Load().table.Take(p.ID, &w.Shard)
			if p.Slot != 0 {
				w.disarm(h, &p.Node)
			}
			w.abandon(p)
			p.Cancel()
		}
	}
}

// letAnswersGo frees the answers that the futures of s hold.
func (w *Engine) letAnswersGo(s *Stack) {
	if s.lends {
		s.lendAll(s.bound, 0)
	}
	for p := s.bound; p != nil && p.Bound; p = p.Next {
		if c := p.TakeCall(); c != nil {
			w.Shard.Put(c)
		}
		p.Unbind()
	}
	s.bound = nil
}

// home passes an ended stack on: to its asker, its members, its maker, its house or
// its pool, by its class.
func (w *Engine) home(h *House, s *Stack) {
	switch s.by.class {
	case classAsk:
		if s.back != nil {
			w.reply(s)
		} else {
			w.Shard.Put(&s.Object)
		}
	case classNotice:
		if s.err != nil {
			w.noticeFailed(h, s)
			return
		}
		w.Shard.Put(&s.Object)
	case classBatch:
		w.endBatch(h, s)
	case classOwned:
		s.by.owned.finish(s)
	case classHook:
		w.goesFirst(h, s)
	}
}

// noticeFailed puts a notice that ended with an error.
//
//go:noinline
func (w *Engine) noticeFailed(h *House, s *Stack) {
	err, threw := s.err, w.reportThrow(h, s)
	w.Shard.Put(&s.Object)
	if threw {
		w.noteFailure(h, err)
	}
}

// reportThrow reports whether s, a notice or a batch of notices, ended by a Throw. That is a
// failure of the actor, which it counts and tells of; an end by the runtime isn't.
func (w *Engine) reportThrow(h *House, s *Stack) bool {
	if _, told := s.err.(*fault.PanicError); told || !s.threw {
		return false
	}
	w.failed(h, s, fmt.Errorf("%s threw in %s: %w", h.Describe(), s.StepName(), s.err))
	return true
}

// drop ends a call that never began.
//
//go:noinline
func (w *Engine) drop(h *House, s *Stack) {
	var why lost.Reason
	switch {
	case h.Gone():
		s.err, s.unbegun, why = h.goneBy(), true, lost.Stopped
		w.Count.Add(count.Refused, 1)
	case s.givenUp():
		s.err, why = fault.ErrCancelled, lost.Cancelled
		w.Count.Add(count.Cancelled, 1)
	default:
		s.err, why = fault.ErrTimeout, lost.Expired
		w.Count.Add(count.Expired, 1)
	}
	if s.by.class == classNotice && !s.by.Private {
		w.Lost(h, s, why)
	}
	w.end(h, s)
}

// endBatch sends the members home, then frees the batch. A member that got no
// answer gets the batch's error.
func (w *Engine) endBatch(h *House, s *Stack) {
	b := BatchOf(s)
	err, threw := s.err, s.err != nil && b.members.first.by.class == classNotice && w.reportThrow(h, s)
	for m := b.members.first; m != nil; {
		next := m.next // read before home: whoever gets m overwrites it
		m.next = nil
		if m.by.class == classAsk && m.state != ended {
			if m.err = s.err; m.err == nil {
				m.err = fault.ErrUnanswered
			}
		}
		m.close()
		w.home(h, m)
		m = next
	}
	b.members = Members{}
	w.Shard.Put(&s.Object)
	if threw {
		w.noteFailure(h, err)
	}
}

// endOwed does what the end of s has to: it ends its barrier, and tells its middleware, the
// innermost first.
//
//go:noinline
func (w *Engine) endOwed(h *House, s *Stack) {
	if s.ends&endBars != 0 {
		w.unbar(s)
	}
	for s.ends > 0 {
		s.ends--
		w.tellEnded(h, s, s.by.around[s.ends])
	}
}

// tellEnded tells one Middleware that s has ended. A panic in it is contained.
func (w *Engine) tellEnded(h *House, s *Stack, m Middleware) {
	defer func() {
		if value := recover(); value != nil {
			w.failed(h, s, &fault.PanicError{Actor: h.Describe(), Step: fmt.Sprintf("%T.Ended", m), Value: value, Trace: debug.Stack()})
		}
	}()
	m.Ended(move.Boxed(s.by.users, s.self()), s.err)
}

// keepOn puts off the end of s until its kept jobs are home. A stop or a restart of its actor waits
// for that, as it does for children. If the house has flags.Alone its calls wait, too.
//
//go:noinline
func (w *Engine) keepOn(h *House, s *Stack) {
	if s.mode != waitKept {
		h.life().Keep()
	}
	s.putOff()
	if h.flags.Has(flags.Alone) {
		s.isolate()
	}
}
