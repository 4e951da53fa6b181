package service

import (
	"errors"
	"log/slog"
	"time"

	"github.com/stackhouse-go/stackhouse/core"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
)

// Partition is the actor that keeps a part of the catalogue. Its ledger is authoritative while it
// lives: it is what the store has, and the round that is being written. A step that panics ends the
// instance with all that was being written; the next one begins with what is stored.
type Partition struct {
	number     int
	store      store.Store
	storeLimit time.Duration // of a write
	loadLimit  time.Duration
	queueMax   int // requests that wait for a write
	limits     ledger.Limits
	now        func() int64 // the time of day, ns since 1970
	log        *slog.Logger
	// told when another process has taken the partition, or it contradicts itself
	lost func(error)

	// Written by PreStart, and then by the runStack alone, of which there is at most one. Until the
	// first load ledger is nil; while down isn't it is only looked at.
	ledger *ledger.Ledger
	epoch  int64 // of ledger
	down   error // why changes are refused; nil: ledger is what is stored or being written
	asOf   int64 // when the last write began, or load ended, by core.Now
	counts Counts

	loading core.Future[loaded] // PreStart's
	runs    bool                // a runStack is at work
	round   *round              // collects what the next write is for
}

// Counts is what a partition has done since its process, or the partition after a failure, began.
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

// changeStack is a run of requests in progress, all that were in the mailbox when the partition
// had its turn.
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
	if !p.runs {
		if err := partitionRun.At(core.Self[Partition](s)).Notice(s, struct{}{}); err != nil {
			return s.ThrowAll(err)
		}
	}
	p.round.join(s)
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

// Seen is what a look finds.
type Seen struct {
	ledger.Answer
	Age time.Duration // for how long the store may have had more, as it is away; 0: it isn't
}

type lookStack struct {
	core.AskStack[ledger.Op, Seen]
}

var partitionLook = core.Handle((*Partition).look)

// look answers from memory, at once: with what is stored, or was when the store was last there.
func (p *Partition) look(s *lookStack) core.Yield {
	if p.ledger == nil || errors.Is(p.down, ErrLost) {
		return s.Throw(p.down)
	}
	p.counts.Requests++
	answer, err := p.ledger.Look(s.Req)
	if err != nil {
		return s.Throw(err)
	}
	seen := Seen{Answer: answer}
	if p.down != nil {
		seen.Age = time.Duration(core.Now(s) - p.asOf)
	}
	return s.Return(seen)
}

type countStack struct {
	core.AskStack[struct{}, Counts]
}

var partitionCount = core.Handle((*Partition).count)

func (p *Partition) count(s *countStack) core.Yield { return s.Return(p.counts) }
