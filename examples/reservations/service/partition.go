package service

import (
	"log/slog"
	"time"

	"github.com/stackhouse-go/stackhouse/core"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
)

// Partition is the actor that keeps a part of the catalogue. Its ledger is authoritative while
// it lives: it is what the store has, and the round that is being written.
type Partition struct {
	number     int
	store      store.Store
	storeLimit time.Duration // of a write
	loadLimit  time.Duration
	queueMax   int // requests that wait for a write
	retain     int // see ledger.Open
	log        *slog.Logger
	lost       func(error) // told when another process has taken the partition, or it contradicts itself

	// Written by the runStack alone, of which there is at most one.
	ledger *ledger.Ledger // nil: to be loaded
	epoch  int64          // of ledger
	down   error          // why requests are refused
	counts Counts

	runs  bool                      // a runStack lives
	self  core.NoticePort[struct{}] // begins one
	round *round                    // collects what the next write is for
}

// Counts is what a partition has done since its process began.
type Counts struct {
	Requests int64 `json:"requests"` // that came to an end in the ledger
	Changes  int64 `json:"changes"`  // of them, those that changed something
	Writes   int64 `json:"writes"`
}

// Request is an operation with the place where its result waits for the write.
type Request struct {
	Op     ledger.Op
	answer ledger.Answer
	err    error
}

// changeStack is a run of requests in progress, all that were in the mailbox when the partition had its turn.
type changeStack struct {
	core.BatchAskStack[Request, ledger.Answer]
	round *round
	over  core.Future[struct{}]
}

var partitionChange = core.HandleBatch((*Partition).change, 0)

// change has the requests wait for the next write.
func (p *Partition) change(s *changeStack) core.Yield {
	if p.down != nil {
		return s.ThrowAll(p.down)
	}
	if p.round.size+s.Len() > p.queueMax {
		return s.ThrowAll(core.ErrOverloaded)
	}
	p.round.join(s)
	if !p.runs {
		p.runs = true
		p.self.Notice(s, struct{}{})
	}
	return core.Suspend(s, (*Partition).changed)
}

// changed answers when the round is over, or time is up.
func (p *Partition) changed(s *changeStack) core.Yield {
	_, err := s.over.Get()
	if r := s.round; !r.over {
		r.leave(s)
	} else if err = r.err; err == nil {
		return s.ReturnEach(func(r *Request) (ledger.Answer, error) { return r.answer, r.err })
	}
	return s.ThrowAll(err)
}

type countStack struct {
	core.AskStack[struct{}, Counts]
}

var partitionCount = core.Handle((*Partition).count)

func (p *Partition) count(s *countStack) core.Yield { return s.Return(p.counts) }
