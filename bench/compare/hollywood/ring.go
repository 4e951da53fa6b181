//go:build ignore

package main

import (
	"github.com/anthdm/hollywood/actor"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// token goes around; each hop takes one off.
type token struct {
	left, sum uint64
	tally     *measure.Tally
}

// link passes the token on to the next one, which it is told first.
type link struct{ next *actor.PID }

type setNext struct{ next *actor.PID }

func newLink() actor.Receiver { return &link{} }

func (l *link) Receive(ctx *actor.Context) {
	switch m := ctx.Message().(type) {
	case *token:
		left, sum := m.left-1, m.sum+m.left
		if left == 0 {
			m.tally.Report(sum)
		} else {
			ctx.Send(l.next, &token{left, sum, m.tally})
		}
	case *setNext:
		l.next = m.next
	}
}

func ring() (*measure.Work, error) {
	e, err := start()
	if err != nil {
		return nil, err
	}
	var all [503]*actor.PID
	for i := range all {
		all[i] = e.Spawn(newLink, "link")
	}
	for i, pid := range all {
		e.Send(pid, &setNext{all[(i+1)%len(all)]})
	}
	return &measure.Work{Do: func(n int) (int, error) {
		tally := measure.NewTally(1)
		e.Send(all[0], &token{left: uint64(n), tally: tally})
		return n, tally.Wait(measure.Sum(n))
	}}, nil
}
