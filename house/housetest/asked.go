package housetest

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
)

// Asked is an ask that a probe holds until the test answers it, by Return or Throw, as a step would
// do; several asks in any order. Who asked may give up before, by its deadline or otherwise: then
// nobody hears the answer. An ask of core.Begin is given up by its Get. An ask that isn't answered
// when the probe stops ends with ErrStopped.
//
// A pointer to it is what the probe's queue has: SkipTo[*Asked[Read, Row]] skips to an ask, and
// Take returns all that wait.
type Asked[Req, Rep any] struct {
	Req    Req             // bytes in it are valid until the answer
	Sender core.AnyAddress // see core.Sender

	by   *Probe
	over bool // the test has answered

	// answer ends the ask; nil: it is held. The probe's steps write and read it.
	answer func(*heldStack[Req, Rep]) core.Yield
}

type heldStack[Req, Rep any] struct {
	core.AskStack[Req, Rep]
	asked *Asked[Req, Rep] // nil: it has just come
}

// Return answers with a reply.
func (a *Asked[Req, Rep]) Return(rep Rep) {
	a.by.t.Helper()
	a.end(func(s *heldStack[Req, Rep]) core.Yield { return s.Return(rep) })
}

// Throw answers with an error, which isn't nil.
func (a *Asked[Req, Rep]) Throw(err error) {
	a.by.t.Helper()
	if err == nil {
		a.by.fail("%s is answered with a nil error", a.describe())
	}
	a.end(func(s *heldStack[Req, Rep]) core.Yield { return s.Throw(err) })
}

// end has the ask end in a step of the probe: answers leave in the order of their calls.
func (a *Asked[Req, Rep]) end(answer func(*heldStack[Req, Rep]) core.Yield) {
	a.by.t.Helper()
	if a.over {
		a.by.fail("%s is answered a second time", a.describe())
	}
	a.over = true
	a.by.act(func(s core.Running) {
		a.answer = answer
		core.Unstash(s)
	})
}

// hold is the step of asks. It runs again whenever something may have changed.
func hold[Req, Rep any](p *Probe, s *heldStack[Req, Rep]) core.Yield {
	if s.asked == nil {
		s.asked = &Asked[Req, Rep]{Req: s.Req, Sender: core.Sender(s), by: p}
		p.put(s, s.asked)
	}
	if s.asked.answer == nil {
		return core.Stash(s)
	}
	return s.asked.answer(s)
}

// kind says what asks of this type are; a may be nil.
func (a *Asked[Req, Rep]) kind() string { return fmt.Sprintf("an ask of %s", typeOf[Req]()) }

func (a *Asked[Req, Rep]) describe() string { return fmt.Sprintf("%s: %+v", a.kind(), a.Req) }
