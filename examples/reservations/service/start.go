package service

import (
	"errors"
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
)

// member is how the front asks a partition.
type member struct {
	change core.Port[Request, ledger.Answer]
	look   core.Port[ledger.Op, Seen]
	count  core.Port[struct{}, Counts]
	runs   core.Schedule // to be added to the system's schedules
}

// spawn makes partition i; lost is told if the partition can't go on, once for each of its
// instances. The worker is chosen by hand: the partition's rounds are beside it.
func spawn(system *house.System, c Config, i int, lost func(error)) member {
	workers := system.Workers()
	p := core.Spawn(workers[i%len(workers)], func() *Partition {
		return &Partition{
			number: i, store: c.Store, storeLimit: c.StoreLimit, loadLimit: c.LoadLimit,
			queueMax: c.QueueMax, limits: ledger.Limits{Hold: c.Hold, Keep: c.Keep, OutcomesMax: c.OutcomesMax},
			now: c.now, log: c.Logger, lost: lost,
		}
	})
	return member{
		partitionChange.At(p), partitionLook.At(p), partitionCount.At(p),
		core.Schedule{
			Name:  fmt.Sprintf("partition %d", i),
			Times: core.Every(runEvery),
			Send:  core.Sending(partitionRun.At(p), struct{}{}),
		},
	}
}

// PreStart loads what is stored, for the first time and after each failure; requests wait
// meanwhile. If the store is away the partition begins without, refuses, and tries again.
func (p *Partition) PreStart(s *core.HookStack) core.Yield {
	p.round = newRound(core.Under(s))
	core.Offload(s, &p.loading, p.loadJob(), load)
	return core.Suspend(s, (*Partition).started)
}

func (p *Partition) started(s *core.HookStack) core.Yield {
	p.open(s, &p.loading)
	return s.Return()
}

// open begins with what was loaded, or says in down why it can't. The ledger of before serves looks
// until then.
func (p *Partition) open(s core.Running, f *core.Future[loaded]) {
	l, err := f.Get()
	var fresh *ledger.Ledger
	if err == nil {
		fresh, err = ledger.Open(l.snapshot, p.limits, p.now())
	}
	switch {
	case err == nil:
		p.ledger, p.epoch, p.down, p.asOf = fresh, l.epoch, nil, core.Now(s)
	case errors.Is(err, store.ErrFenced), errors.Is(err, ledger.ErrCorrupt):
		p.down = fmt.Errorf("%w: %w", ErrLost, err)
		p.lost(err)
	default:
		if p.down == nil {
			p.log.Error("reservations: the store can't be reached", "partition", p.number, "error", err)
		}
		p.down = fmt.Errorf("%w: %w", ErrStoreDown, err)
	}
}
