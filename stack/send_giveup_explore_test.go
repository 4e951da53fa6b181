//go:build explore

package stack

import "github.com/stackhouse-go/stackhouse/stack/fault"

// hermit never answers: an ask of it ends only when its asker gives up.
type hermit struct{}

type hermitStack struct {
	AskStack[words, int]
	f Future[struct{}]
}

func (*hermit) sleep(s *hermitStack) Yield {
	s.Alarm(s.f.Promise(), 1e15, 0)
	return Suspend(s, (*hermit).woken)
}

func (*hermit) woken(*hermitStack) Yield { panic("nobody waits for it") }

var hermitAsk = newAsk((*hermit).sleep)

// calls sends an ask of a guest without waiting for its answer.
func (s *stage) calls(h *House, by *Handler, n int) *Call {
	c := s.hand.guests.Call(h, by)
	*Request[words, int](c.Stack()) = words{0, n}
	s.hand.guests.Send(c)
	return c
}

// resigns gives up an ask, or takes its answer, which is n unless it was seen giving up.
func (s *stage) resigns(c *Call, n int) {
	if s.hand.guests.giveUp(c) {
		return
	}
	if c.Stack().Err() != nil {
		s.hand.guests.Done(c)
	} else {
		s.answered(c, n)
	}
}

// A guest gives up two asks of an actor that answers neither: both end.
func exploreGivenUp(s *stage) {
	s.workers(1)
	h := settleOn(s.hand, 0, &hermit{})
	s.other("guest", func() {
		a, b := s.calls(h, hermitAsk, 0), s.calls(h, hermitAsk, 1)
		s.resigns(a, 0)
		s.resigns(b, 1)
	})
	s.askers = append(s.askers, h)
	s.start(func() bool { return s.alone() && s.dropped() == 2 })
}

// hedger asks two actors, and ends at the first answer.
type hedger struct{ one, other *House }

type hedgeStack struct {
	NoticeStack[int]
	f [2]Future[int]
}

func (a *hedger) told(s *hedgeStack) Yield {
	(&inquirer{to: a.one}).ask(&s.Stack, s.f[0].Promise())
	(&inquirer{to: a.other, by: hermitAsk}).ask(&s.Stack, s.f[1].Promise())
	return SuspendAny(s, (*hedger).got)
}

func (*hedger) got(s *hedgeStack) Yield { return s.Return() }

var hedgerTold = newNotice((*hedger).told)

// An actor asks two actors of another worker. It gives up the ask that isn't answered when the
// other one's answer comes.
func exploreGivenUpFirst(s *stage) {
	s.workers(2)
	_, h := s.hears(1)
	quiet := settleOn(s.hand, 1, &hermit{})
	a := settleOn(s.hand, 0, &hedger{h, quiet})
	tell(s.hand, a, hedgerTold, 0)
	s.askers = append(s.askers, quiet, a)
	s.start(func() bool { return s.dropped() == 1 })
}

// A guest gives up an ask while it is answered. Its next ask, perhaps in the same stack, is
// answered.
func exploreGivenUpAgain(s *stage) {
	s.workers(1)
	_, h := s.hears(0)
	middle := s.inquires(0, &inquirer{to: h})
	s.other("guest", func() {
		s.resigns(s.calls(middle, inquirerAsked, 1), 1)
		if err := s.ends(s.calls(middle, inquirerAsked, 2), 2); err != nil {
			s.Fail("the ask failed: %v", err)
		}
	})
	s.start(s.alone)
}

// A guest gives up an ask while it is forwarded to an actor that never answers: it ends there.
func exploreGivenUpForward(s *stage) {
	s.workers(2)
	h := settleOn(s.hand, 1, &hermit{})
	c := s.calls(settleOn(s.hand, 0, &desk{h, hermitAsk}), deskPass, 3)
	s.other("guest", func() { s.resigns(c, 3) })
	s.askers = append(s.askers, h)
	s.start(func() bool { return s.alone() && s.dropped() == 1 })
}

// An actor gives up an ask of an actor whose worker leaves.
func exploreGivenUpLeft(s *stage) {
	s.workers(2)
	_, h := s.hears(0)
	asks := &inquirer{to: h, limit: 1000}
	source := s.inquires(1, asks)
	tell(s.hand, source, inquirerTold, 0)
	s.leaves()
	s.other("time", func() {
		s.Point("time.passes")
		s.now += 5000
	})
	s.Go("worker 1", func() { s.loops[1].run(func() bool { return s.alone() && asks.answers == 1 }) })
	s.After(func() { s.got(asks, nil, fault.ErrStopped, fault.ErrTimeout) })
}
