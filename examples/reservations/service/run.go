package service

import (
	"errors"
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/core"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
)

// Why a partition refuses, or fails, all requests.
var (
	// ErrStoreDown: nothing was tried.
	ErrStoreDown = errors.New("the store can't be reached")
	// ErrUnknown: the write may have been made or not. The same request with the same key finds out.
	ErrUnknown = errors.New("the store failed in the write")
	// ErrLost: another process has taken the partition, or what is stored contradicts itself.
	ErrLost = errors.New("the partition isn't this process's any more")
)

// A partition that the store doesn't give up asks again after retryMin, then after twice that, up to retryMax.
const (
	retryMin = 20 * time.Millisecond
	retryMax = 500 * time.Millisecond
)

// runStack writes one round after the other. It
//
//	loads    the partition has no ledger
//	waits    the store didn't answer
//	writes   a round; the next one collects
//	ends     nothing is to be written; the next request begins another
//
// From a write that fails to a load that succeeds, requests are refused.
type runStack struct {
	core.NoticeStack[struct{}]
	round   *round // being written
	loaded  core.Future[loaded]
	written core.Future[int] // changes
	tick    core.Future[core.Tick]
	pause   time.Duration // the last wait
}

var partitionRun = core.HandleNotice((*Partition).run)

func (p *Partition) run(s *runStack) core.Yield {
	if p.ledger == nil {
		core.Offload(s, &s.loaded, job{store: p.store, limit: p.loadLimit, partition: p.number}, load)
		return core.Suspend(s, (*Partition).loaded)
	}
	if p.round.size > 0 {
		s.round = p.round
		p.round = newRound(core.Beside(s))
		p.counts.Requests += int64(s.round.size)
		if change := s.round.apply(p.ledger); change != nil {
			core.Offload(s, &s.written, job{p.store, p.storeLimit, p.number, p.epoch, change}, write)
			return core.Suspend(s, (*Partition).wrote)
		}
		s.round.end(nil) // nothing has joined the next one meanwhile
	}
	p.runs = false
	return s.Return()
}

// wrote ends a round. After an error the ledger may have more than the store, or less.
func (p *Partition) wrote(s *runStack) core.Yield {
	changes, err := s.written.Get()
	if err == nil {
		p.counts.Writes++
		p.counts.Changes += int64(changes)
		s.round.end(nil)
		return p.run(s)
	}
	p.log.Error("reservations: a write failed; loading the partition again", "partition", p.number, "error", err)
	p.ledger = nil
	s.round.end(fmt.Errorf("%w: %w", ErrUnknown, err))
	p.refuse(s, fmt.Errorf("%w: %w", ErrStoreDown, err)) // a store that hangs may take LoadLimit to say so
	return p.run(s)
}

// loaded begins with what is stored, or tries again later.
func (p *Partition) loaded(s *runStack) core.Yield {
	l, err := s.loaded.Get()
	if err == nil {
		p.ledger, err = ledger.Open(l.snapshot, p.retain)
	}
	switch {
	case err == nil:
		if p.down != nil {
			p.log.Info("reservations: the store is back", "partition", p.number)
		}
		p.epoch, p.down, s.pause = l.epoch, nil, 0
		return p.run(s)
	case errors.Is(err, store.ErrFenced), errors.Is(err, ledger.ErrCorrupt):
		p.refuse(s, fmt.Errorf("%w: %w", ErrLost, err))
		p.lost(err)
		return s.Return() // runs stays true: nothing is loaded again
	}
	if s.pause == 0 {
		p.log.Error("reservations: the store can't be reached", "partition", p.number, "error", err)
	}
	p.refuse(s, fmt.Errorf("%w: %w", ErrStoreDown, err))
	s.pause = min(max(retryMin, 2*s.pause), retryMax)
	core.Timer.Ask(s, &s.tick, s.pause)
	return core.Suspend(s, (*Partition).run)
}

// refuse ends the round that collects, and whatever comes until down is nil again.
func (p *Partition) refuse(s *runStack, why error) {
	p.down = why
	p.round.end(why)
	p.round = newRound(core.Beside(s))
}
