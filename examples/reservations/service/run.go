package service

import (
	"errors"
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
)

// Why a partition refuses, or fails, all requests.
var (
	// ErrStoreDown: nothing was tried.
	ErrStoreDown = errors.New("the store can't be reached")
	// ErrUnknown: the write may have been made or not. The same request with the same key finds
	// out.
	ErrUnknown = errors.New("the store failed in the write")
	// ErrLost: another process has taken the partition, or what is stored contradicts itself.
	ErrLost = errors.New("the partition isn't this process's any more")
)

// A partition that the store doesn't give up asks again after retryMin, then after twice that, up
// to retryMax.
const (
	retryMin = 20 * time.Millisecond
	retryMax = 500 * time.Millisecond
)

// runEvery is how often a partition that has no requests looks whether something is due: a hold
// whose time is up, or what has been kept for long enough, or the store after a start without it.
// That much later holds end.
const runEvery = time.Second

// runStack writes one round after the other. It
//
//	loads    the store failed
//	waits    the store didn't answer
//	writes   a round, and what is due; the next one collects
//	ends     nothing is to be written; the next request, or runEvery, begins another
//
// From a write that fails to a load that succeeds, changes are refused.
type runStack struct {
	core.NoticeStack[struct{}]
	round   *round // being written
	loaded  core.Future[loaded]
	written core.Future[int] // changes
	tick    core.Future[core.Tick]
	pause   time.Duration // the last wait
}

var partitionRun = core.HandleNotice((*Partition).begin)

// begin runs, unless another does, or the partition is lost: nothing is loaded again then.
func (p *Partition) begin(s *runStack) core.Yield {
	if p.runs || errors.Is(p.down, ErrLost) {
		return s.Return()
	}
	p.runs = true
	return p.run(s)
}

func (p *Partition) run(s *runStack) core.Yield {
	if p.down != nil {
		core.Offload(s, &s.loaded, p.loadJob(), load)
		return core.Suspend(s, (*Partition).loaded)
	}
	if p.ledger.Pass(p.now()); p.round.size > 0 || p.ledger.Due() {
		s.round = p.round
		p.round = newRound(core.Under(s))
		p.counts.Requests += int64(s.round.size)
		if change := s.round.apply(p.ledger); change != nil {
			p.asOf = core.Now(s)
			core.Offload(s, &s.written, job{p.store, p.storeLimit, p.number, p.epoch, change}, write)
			return core.Suspend(s, (*Partition).wrote)
		}
		s.round.end(nil) // nothing has joined the next one meanwhile
	}
	p.runs = false
	return s.Return()
}

func (p *Partition) loadJob() job {
	return job{store: p.store, limit: p.loadLimit, partition: p.number}
}

// wrote ends a round. After an error the store may have the round or not: the ledger, which has, is
// for looks only.
func (p *Partition) wrote(s *runStack) core.Yield {
	changes, err := s.written.Get()
	if err == nil {
		p.counts.Writes++
		p.counts.Changes += int64(changes)
		p.ledger.Stored()
		s.round.end(nil)
		return p.run(s)
	}
	p.log.Error("reservations: a write failed; loading the partition again", "partition", p.number, "error", err)
	s.round.end(fmt.Errorf("%w: %w", ErrUnknown, err))
	// At once, as a store that hangs may take LoadLimit to say so.
	p.down = fmt.Errorf("%w: %w", ErrStoreDown, err)
	p.refuse(s)
	return p.run(s)
}

// loaded goes on with what is stored, or tries again later.
func (p *Partition) loaded(s *runStack) core.Yield {
	if p.open(s, &s.loaded); p.down == nil {
		p.log.Info("reservations: the store is back", "partition", p.number)
		s.pause = 0
		return p.run(s)
	}
	if p.refuse(s); errors.Is(p.down, ErrLost) {
		p.runs = false
		return s.Return()
	}
	s.pause = min(max(retryMin, 2*s.pause), retryMax)
	core.Timer.Ask(s, &s.tick, s.pause)
	return core.Suspend(s, (*Partition).run)
}

// refuse ends the round that collects; whatever comes is refused until down is nil again.
func (p *Partition) refuse(s *runStack) {
	p.round.end(p.down)
	p.round = newRound(core.Under(s))
}
