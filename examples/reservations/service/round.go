package service

import (
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/core"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

// round is the requests that share a write. It
//
//	collects     stacks join and leave
//	is written   its requests have been applied; a stack that gives up changes nothing
//	is over      err and the results of its requests are final; all who wait are woken
type round struct {
	stacks []*changeStack
	size   int // requests of stacks
	door   core.Address[door]
	wait   core.Port[struct{}, struct{}] // of door

	over bool
	err  error // of all requests
}

// newRound makes one whose stacks wait at a place under the partition, with which it ends.
func newRound(at core.Place) *round {
	d := core.Spawn(at, func() *door { return &door{} })
	return &round{door: d, wait: doorWait.At(d)}
}

// join adds the requests of s, which then suspends until the round is over.
func (r *round) join(s *changeStack) {
	r.stacks = append(r.stacks, s)
	r.size += s.Len()
	s.round = r
	r.wait.Ask(s, &s.over, struct{}{})
}

// leave takes back the requests of s, unless they were applied.
func (r *round) leave(s *changeStack) {
	if i := slices.Index(r.stacks, s); i >= 0 {
		r.stacks = slices.Delete(r.stacks, i, i+1)
		r.size -= s.Len()
	}
}

// apply does what is asked for and returns what must be written before anybody hears of it; nil:
// nothing. From now on the round no longer looks at its stacks.
func (r *round) apply(l *ledger.Ledger) *ledger.Change {
	for _, s := range r.stacks {
		if s.round != r {
			panic("service: a stack has ended that had not left its round")
		}
		for _, q := range s.All() {
			q.answer, q.err = l.Apply(q.Op)
		}
	}
	r.stacks = nil
	return l.Take()
}

// end wakes all who wait: with their results, or with err.
func (r *round) end(err error) {
	r.over, r.err = true, err
	r.door.Stop()
}

// door is an actor to wait for: whoever asks it to wait is answered when it is stopped.
type door struct{}

type waitStack struct {
	core.AskStack[struct{}, struct{}]
	never core.Future[core.Tick]
}

var doorWait = core.Handle((*door).wait)

func (d *door) wait(s *waitStack) core.Yield {
	core.Timer.Ask(s, &s.never, 24*time.Hour) // who asks gives up long before
	return core.Suspend(s, (*door).waited)
}

func (d *door) waited(s *waitStack) core.Yield {
	_, err := s.never.Get()
	return s.Throw(err)
}
