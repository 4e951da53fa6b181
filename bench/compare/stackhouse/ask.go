package stackhouse

import (
	"context"
	"slices"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
	"github.com/stackhouse-go/stackhouse/core"
)

// echo answers numbers with the next one.
type echo struct{ asked uint64 }

var echoNext = core.Handle((*echo).next)

func newEcho() *echo { return &echo{} }

func (e *echo) next(s *core.AskStack[uint64, uint64]) core.Yield {
	e.asked++
	return s.Return(s.Req + 1)
}

// asker asks an echo one number after the other, in each of its stacks.
type asker struct {
	to        core.Port[uint64, uint64]
	latencies *measure.Latencies // nil: not timed
}

// questions is one stack of an asker.
type questions struct {
	core.NoticeStack[order]
	answer core.Future[uint64]
	next   uint64
	sum    uint64
	from   int64
}

var askerAsk = core.HandleNotice((*asker).ask)

func (a *asker) ask(s *questions) core.Yield {
	if a.latencies != nil {
		s.from = a.latencies.Begin(s.next)
	}
	a.to.Ask(s, &s.answer, s.next)
	s.next++
	return core.Suspend(s, (*asker).answered)
}

func (a *asker) answered(s *questions) core.Yield {
	n, err := s.answer.Get()
	if err != nil {
		s.Msg.Tally.Fail(err)
		return s.Return()
	}
	if a.latencies != nil {
		a.latencies.End(s.from)
	}
	s.sum += n
	if s.next < uint64(s.Msg.N) {
		return a.ask(s)
	}
	s.Msg.Tally.Report(s.sum)
	return s.Return()
}

// ask has an actor ask one on the worker given, one ask after the other.
func ask(worker int, every uint64) measure.Make {
	return func() (*measure.Work, error) {
		sys, err := start()
		if err != nil {
			return nil, err
		}
		latencies := measure.NewLatencies(every)
		callee := core.Spawn(sys.Workers()[worker], newEcho)
		from := core.Spawn(sys.Workers()[0], func() *asker { return &asker{echoNext.At(callee), latencies} })
		w := carryOut(sys, askerAsk.At(from))
		w.Latencies = latencies
		return w, nil
	}
}

// askCross has an actor ask one on another worker, in 64 stacks.
func askCross() (*measure.Work, error) {
	sys, err := start()
	if err != nil {
		return nil, err
	}
	callee := core.Spawn(sys.Workers()[1], newEcho)
	from := askerAsk.At(core.Spawn(sys.Workers()[0], func() *asker { return &asker{to: echoNext.At(callee)} }))
	return carryOutAll(sys, slices.Repeat([]core.NoticePort[order]{from}, 64)), nil
}

// askers has 64 actors ask one. They are where the system puts them.
func askers() (*measure.Work, error) {
	sys, err := start()
	if err != nil {
		return nil, err
	}
	callee := core.Spawn(sys, newEcho)
	all := make([]core.NoticePort[order], 64)
	for i := range all {
		all[i] = askerAsk.At(core.Spawn(sys, func() *asker { return &asker{to: echoNext.At(callee)} }))
	}
	return carryOutAll(sys, all), nil
}

// askGuest has this goroutine ask an actor.
func askGuest() (*measure.Work, error) {
	sys, err := start()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	to := echoNext.At(core.Spawn(sys, newEcho))
	latencies := measure.NewLatencies(measure.OfDear)
	return &measure.Work{
		Close:     stop(sys),
		Latencies: latencies,
		Do: func(n int) (int, error) {
			sum := uint64(0)
			for i := range uint64(n) {
				from := latencies.Begin(i)
				answer, err := core.Ask(ctx, to, i)
				if err != nil {
					return 0, err
				}
				latencies.End(from)
				sum += answer
			}
			return n, measure.Right(sum, measure.Sum(n))
		},
	}, nil
}
