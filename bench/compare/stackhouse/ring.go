package stackhouse

import (
	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
	"github.com/stackhouse-go/stackhouse/core"
)

// token goes around; each hop takes one off.
type token struct {
	Left, Sum uint64
	Tally     *measure.Tally
}

// link passes the token on.
type link struct{ next core.NoticePort[token] }

var linkPass = core.HandleNotice((*link).pass)

func (l *link) pass(s *core.NoticeStack[token]) core.Yield {
	t := s.Msg
	t.Sum += t.Left
	t.Left--
	if t.Left == 0 {
		t.Tally.Report(t.Sum)
	} else {
		l.next.Notice(s, t)
	}
	return s.Return()
}

// smith makes the ring and starts tokens.
type smith struct{ first core.NoticePort[token] }

var smithBegin = core.HandleNotice((*smith).begin)

// begin starts a token that makes N hops. The links are born beside the smith.
func (a *smith) begin(s *core.NoticeStack[order]) core.Yield {
	if a.first == (core.NoticePort[token]{}) {
		last := &link{}
		a.first = linkPass.At(core.Spawn(core.Beside(s), func() *link { return last }))
		next := a.first
		for range 503 - 1 {
			next = linkPass.At(core.Spawn(core.Beside(s), func() *link { return &link{next} }))
		}
		last.next = next
	}
	a.first.Notice(s, token{Left: uint64(s.Msg.N), Tally: s.Msg.Tally})
	return s.Return()
}

func ring() (*measure.Work, error) {
	sys, err := start()
	if err != nil {
		return nil, err
	}
	return carryOut(sys, smithBegin.At(core.Spawn(sys, func() *smith { return &smith{} }))), nil
}
