//go:build explore

package stack

import (
	"context"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/lifecycle"
)

// A guest's context ends while its ask is answered. The guest's next ask gets its own answer, even
// if it uses the same Call again.
func exploreCall(s *stage) {
	s.workers(1)
	_, h := s.hears(0)
	s.hand.guests.Wakes = true
	p := &guestContext{}
	s.other("guest", func() {
		if err := s.ask(p, h, 1); err != nil && err != fault.ErrCancelled {
			s.Fail("the ask failed: %v", err)
		}
		s.asks(h, 2)
	})
	s.other("impatience", func() {
		s.Point("context.end")
		p.ended = true
	})
	s.start(s.alone)
}

// Two guests of one stripe begin asks and wait for them later; one gives up.
func exploreCallBegun(s *stage) {
	s.workers(1)
	_, h := s.hears(0)
	for i := range 2 {
		s.other(guestNames[i], func() {
			c := s.begins(h, i)
			if i == 1 {
				if s.hand.guests.giveUp(c) {
					return
				}
				s.hand.guests.Done(c)
				return
			}
			if err := s.ends(c, i); err != nil {
				s.Fail("the ask failed: %v", err)
			}
		})
		s.As(1)
	}
	s.start(s.alone)
}

// Two guests add to envelopes that their worker opens and closes.
func exploreEnvelope(s *stage) {
	s.workers(1)
	l, h := s.hears(0)
	for from, all := range []int{4, 2} {
		s.other(guestNames[from], func() { s.tells(h, from, all) })
	}
	s.start(func() bool { return l.all == 6 })
	s.After(func() { s.heard(l, 4, 2) })
}

// tells sends n notices as a guest, in envelopes.
func (s *stage) tells(h *House, from, all int) {
	for n := range all {
		s.sent(Tell(&s.hand.guests, h, listenWords, &words{from, n}))
	}
}

// The worker to which an open envelope was sent leaves: all objects come home.
func exploreEnvelopeLeft(s *stage) {
	s.workers(1)
	h := s.dooms()
	for from := range 2 {
		s.other(guestNames[from], func() { s.tells(h, from, 3) })
	}
	s.leaves()
}

// Two guests of one stripe tell the same house. One of them sends a notice for another handler in
// between, which ends the envelope.
func exploreEntries(s *stage) {
	s.workers(1)
	l, h := s.hears(0)
	s.other("guest 0", func() { s.tells(h, 0, 3) })
	s.As(1)
	s.other("guest 1", func() {
		Tell(&s.hand.guests, h, listenWords, &words{1, 0})
		s.say(h, 1, 1)
		Tell(&s.hand.guests, h, listenWords, &words{1, 2})
	})
	s.As(1)
	s.start(func() bool { return l.all == 6 })
	s.After(func() { s.heard(l, 3, 3) })
}

// inquirer asks another actor when it is told to, or asked.
type inquirer struct {
	to      *House
	limit   int64    // of its asks, ns; 0: none of its own
	by      *Handler // nil: listenAsk
	answers int
	err     error // of the last answer
}

type (
	inquiry struct {
		NoticeStack[int]
		f Future[int]
	}
	inquiryAsked struct {
		AskStack[words, int]
		f Future[int]
	}
)

func (a *inquirer) ask(s *Stack, p *future.Promise) {
	by := a.by
	if by == nil {
		by = listenAsk
	}
	c := s.Bind(p, by, a.limit)
	*Request[words, int](c) = words{0, 7}
	s.Engine().Push(a.to, c)
}

func (a *inquirer) told(s *inquiry) Yield {
	a.ask(&s.Stack, s.f.Promise())
	return Suspend(s, (*inquirer).gotTold)
}

func (a *inquirer) gotTold(s *inquiry) Yield {
	a.note(&s.f)
	return s.Return()
}

func (a *inquirer) asked(s *inquiryAsked) Yield {
	a.ask(&s.Stack, s.f.Promise())
	return Suspend(s, (*inquirer).gotAsked)
}

func (a *inquirer) gotAsked(s *inquiryAsked) Yield {
	a.note(&s.f)
	return s.Return(s.Req.N)
}

func (a *inquirer) note(f *Future[int]) {
	reply, err := f.Get()
	if err == nil && reply != 7 {
		panic("another's answer")
	}
	a.answers++
	a.err = err
}

var (
	inquirerTold  = newNotice((*inquirer).told)
	inquirerAsked = newAsk((*inquirer).asked)
)

// got checks that a has had one answer, with one of the errors.
func (s *stage) got(a *inquirer, errs ...error) {
	for _, err := range errs {
		if a.answers == 1 && a.err == err {
			return
		}
	}
	s.Fail("%d answers, the last with error %v", a.answers, a.err)
}

// An ask between workers is answered while its time runs out: the asker gets either the reply or
// ErrTimeout, once, and the call comes home.
func exploreTimeout(s *stage) {
	s.workers(2)
	_, h := s.hears(1)
	asks := &inquirer{to: h, limit: 1000}
	source := s.inquires(0, asks)
	tell(s.hand, source, inquirerTold, 0)
	s.other("time", func() {
		s.Point("time.passes")
		s.now += 5000
	})
	s.start(func() bool { return s.alone() && asks.answers == 1 })
	s.After(func() { s.got(asks, nil, fault.ErrTimeout) })
}

// givesUp adds a guest that gives up its ask for n.
func (s *stage) givesUp(c *Call, n int) {
	s.other("guest", func() {
		if s.hand.guests.giveUp(c) {
			return
		}
		if c.Stack().Err() != nil { // it was seen giving up
			s.hand.guests.Done(c)
		} else {
			s.answered(c, n)
		}
	})
}

// A guest gives up its ask of an actor that waits for an actor of another worker.
func exploreCancel(s *stage) {
	s.workers(2)
	_, h := s.hears(1)
	asks := &inquirer{to: h}
	middle := s.inquires(0, asks)
	c := s.hand.guests.Call(middle, inquirerAsked)
	*Request[words, int](c.Stack()) = words{0, 3}
	s.hand.guests.Send(c)
	s.givesUp(c, 3)
	s.settled(func() bool { return s.alone() && middle.Waiting() == 0 && middle.inbox.Load() == nil })
}

// An actor is stopped while the goroutine of its job sends the job home.
func exploreJob(s *stage) {
	s.workers(1)
	boss := &boss{}
	h := settleOn(s.hand, 0, boss)
	tell(s.hand, h, bossOffload, 0)
	s.other("job", func() {
		s.Await("job.begin", func() bool { return s.loops[0].job != nil || h.Gone() })
		if job := s.loops[0].job; job != nil {
			if err := job.Due(s.now); err != nil {
				job.Abort(err)
				return
			}
			job.Work(context.Background())
			job.GoHome()
		}
	})
	s.other("stopper", func() {
		s.Point("stop")
		h.Stop(&s.hand.guests)
	})
	s.start(func() bool { return s.alone() && h.Gone() })
}

// An actor is stopped while the goroutine of its job calls OnGivenUp: it is told once.
func exploreJobGivenUp(s *stage) {
	s.workers(1)
	h := settleOn(s.hand, 0, &boss{})
	tell(s.hand, h, bossOffload, 0)
	told := 0
	tells := func() { told++ }
	s.other("job", func() {
		s.Await("job.begin", func() bool { return s.loops[0].job != nil || h.Gone() })
		if job := s.loops[0].job; job != nil {
			job.OnGivenUp(&tells)
			s.Await("job.told", func() bool { return told > 0 })
			job.GoHome()
		}
	})
	s.other("stopper", func() {
		s.Point("stop")
		h.Stop(&s.hand.guests)
	})
	s.start(func() bool { return s.alone() && h.Gone() })
	s.After(func() {
		if s.loops[0].job != nil && told != 1 {
			s.Fail("told %d times", told)
		}
	})
}

// An actor is stopped while its kept job is at work: it is gone once the job is home.
func exploreJobKept(s *stage) {
	s.workers(1)
	h := settleOn(s.hand, 0, &boss{kept: true})
	tell(s.hand, h, bossOffload, 0)
	s.other("job", func() {
		s.Await("job.begin", func() bool { return s.loops[0].job != nil || h.Gone() })
		if job := s.loops[0].job; job != nil {
			if err := job.Due(s.now); err != nil {
				s.Fail("a job that is kept isn't due: %v", err)
			}
			job.Work(context.Background())
			s.Point("job.worked")
			if h.life().Phase() == lifecycle.Gone {
				s.Fail("the actor has gone before its job")
			}
			job.GoHome()
		}
	})
	s.other("stopper", func() {
		s.Point("stop")
		h.Stop(&s.hand.guests)
	})
	s.start(func() bool { return s.alone() && h.Gone() && (h.life() == nil || h.life().Phase() == lifecycle.Gone) })
}

// An actor answers an ask of another worker while its job reads bytes that the call's stack
// carries. The stack is put after both the answer and the job have ended.
func exploreJobReads(s *stage) {
	s.workers(2)
	h := settleOn(s.hand, 1, &boss{})
	s.askers = append(s.askers, h)
	asks := &inquirer{to: h, by: bossReads}
	source := s.inquires(0, asks)
	tell(s.hand, source, inquirerTold, 0)
	s.other("job", func() {
		s.Await("job.begin", func() bool { return s.loops[1].job != nil })
		job := s.loops[1].job
		in := *Request[[]byte, int](job)
		for range 2 {
			if string(in) != "read" {
				s.Fail("the job reads %q", in)
			}
			s.Point("job.read")
		}
		job.GoHome()
	})
	s.start(func() bool {
		return s.alone() && asks.answers == 1 && source.inbox.Load() == nil && h.inbox.Load() == nil
	})
	s.After(func() { s.got(asks, nil) })
}

// boss has something offloaded.
type boss struct{ kept bool }

type (
	bossStack struct {
		NoticeStack[int]
		f Future[int]
	}
	bossRead struct {
		AskStack[words, int]
		f Future[int]
	}
)

// read ends while the job is at work.
func (b *boss) read(s *bossRead) Yield {
	Offload(&s.Stack, &s.f, bossReading, nil, false, s.Copy([]byte("read")), func(context.Context, []byte) (int, error) { return 0, nil })
	return s.Return(s.Req.N)
}

func (b *boss) begin(s *bossStack) Yield {
	Offload(&s.Stack, &s.f, bossJob, nil, b.kept, 3, func(_ context.Context, n int) (int, error) { return n + 1, nil })
	return Suspend(s, (*boss).end)
}

func (*boss) end(s *bossStack) Yield {
	if n, err := s.f.Get(); err == nil && n != 4 {
		panic("another's answer")
	}
	return s.Return()
}

var (
	bossOffload = newNotice((*boss).begin)
	bossJob     = NewJob[int, int]()
	bossReads   = newAsk((*boss).read)
	bossReading = NewJob[[]byte, int]()
)
