package main

import (
	"context"
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
)

type (
	question struct{ N uint64 }
	answer   struct{ N uint64 } // one more than the question
)

// right reports whether an answer is that to question n.
func (a answer) right(n uint64) error {
	if a.N != n+1 {
		return fmt.Errorf("the answer to %d is %d", n, a.N)
	}
	return nil
}

// echo answers questions, one at a time or by the batch.
type echo struct {
	asked   uint64
	batches uint64
}

var (
	echoAnswer = core.Handle((*echo).answer)
	echoBatch  = core.HandleBatch((*echo).batch, 64)
	echoCounts = core.Handle((*echo).counts)
)

func (e *echo) answer(s *core.AskStack[question, answer]) core.Yield {
	e.asked++
	return s.Return(answer{s.Req.N + 1})
}

func (e *echo) batch(s *core.BatchAskStack[question, answer]) core.Yield {
	e.asked += uint64(s.Len())
	e.batches++
	return s.ReturnEach(answerOne)
}

func answerOne(q *question) (answer, error) { return answer{q.N + 1}, nil }

// counts returns a copy of the actor: what it has counted.
func (e *echo) counts(s *core.AskStack[struct{}, echo]) core.Yield { return s.Return(*e) }

// expect returns a check that the actor at a was asked as often as was counted.
func expect(a core.Address[echo]) func(done uint64) error {
	return func(done uint64) error {
		e, err := core.Ask(context.Background(), echoCounts.At(a), struct{}{})
		if err == nil && e.asked != done {
			err = fmt.Errorf("%d asks were answered and %d handled", done, e.asked)
		}
		return err
	}
}

// ask asks one question as a guest.
func ask(ctx context.Context, to core.Port[question, answer], n uint64) (answer, error) {
	rep, err := core.Ask(ctx, to, question{n})
	if err == nil {
		err = rep.right(n)
	}
	return rep, err
}

// asker asks one question after the other, in as many stacks as it is told to drive.
type asker struct {
	to        core.Port[question, answer]
	every     uint64 // of how many asks one is timed: a power of 2
	latencies *latency.Histogram
}

// drive is one driver.
type drive struct {
	core.NoticeStack[*round]
	reply core.Future[answer]
	ops   uint64
	asked int64 // when, if this ask is timed; 0: it isn't
}

var askerDrive = core.HandleNotice((*asker).drive)

func (a *asker) drive(s *drive) core.Yield { return a.ask(s, now()) }

// ask asks the next question. at is the time, if it is known.
func (a *asker) ask(s *drive, at int64) core.Yield {
	s.asked = 0
	if s.ops&(a.every-1) == 0 {
		if at == 0 {
			at = now()
		}
		s.asked = at
	}
	a.to.Ask(s, &s.reply, question{s.ops})
	return core.Suspend(s, (*asker).answered)
}

func (a *asker) answered(s *drive) core.Yield {
	rep, err := s.reply.Get()
	if err == nil {
		err = rep.right(s.ops)
	}
	if err != nil {
		s.Msg.fail(err)
		return s.Return()
	}
	s.ops++
	if s.asked == 0 {
		return a.ask(s, 0)
	}
	at := now()
	a.latencies.Record(time.Duration(at - s.asked))
	if s.Msg.over(at) {
		s.Msg.leave(s.ops)
		return s.Return()
	}
	return a.ask(s, at)
}

// askLoad is drivers, each one stack of an asker on worker 0. There are as many
// askers as told; they ask one echo on the worker given.
func askLoad(sys *house.System, on, askers, drivers int, every uint64, handler core.Handler[echo, question, answer]) (load, core.Address[echo]) {
	callee := core.Spawn(sys.Workers()[on], func() *echo { return &echo{} })
	latencies := new(latency.Histogram) // all askers are on one worker
	var ports []core.NoticePort[*round]
	for range askers {
		ports = append(ports, askerDrive.At(core.Spawn(sys.Workers()[0], func() *asker {
			return &asker{to: handler.At(callee), every: every, latencies: latencies}
		})))
	}
	return load{
		drivers:   drivers,
		latencies: []*latency.Histogram{latencies},
		check:     expect(callee),
		start: func(r *round) {
			for i := range drivers {
				core.Notice(ports[i%askers], r)
			}
		},
	}, callee
}

func askLocal(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load {
		l, _ := askLoad(sys, 0, 1, 1, sampled, echoAnswer)
		return l
	})
}

func askCross(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load {
		l, _ := askLoad(sys, 1, 1, 64, sampled, echoAnswer)
		return l
	})
}

func askCross1(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load {
		l, _ := askLoad(sys, 1, 1, 1, 1, echoAnswer)
		return l
	})
}

func batch64(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load {
		l, callee := askLoad(sys, 0, 64, 64, sampled, echoBatch)
		l.note = func() (string, error) {
			e, err := core.Ask(context.Background(), echoCounts.At(callee), struct{}{})
			return fmt.Sprintf("a batch had %.1f asks on average", float64(e.asked)/float64(e.batches)), err
		}
		return l
	})
}

// guestAsk has the goroutine that calls it drive.
func guestAsk(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load {
		callee := core.Spawn(sys.Workers()[0], func() *echo { return &echo{} })
		port := echoAnswer.At(callee)
		latencies := new(latency.Histogram)
		return load{
			drivers:   1,
			latencies: []*latency.Histogram{latencies},
			check:     expect(callee),
			start: func(r *round) {
				ops := uint64(0)
				for at := now(); !r.over(at); ops++ {
					if _, err := ask(context.Background(), port, ops); err != nil {
						r.fail(err)
						return
					}
					asked := at
					at = now()
					latencies.Record(time.Duration(at - asked))
				}
				r.leave(ops)
			},
		}
	})
}
