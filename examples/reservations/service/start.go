package service

import (
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

// member is how the front asks a partition.
type member struct {
	change core.Port[Request, ledger.Answer]
	count  core.Port[struct{}, Counts]
}

// spawn makes partition i and has it load its ledger; lost is told if the partition can't go on. The worker is
// chosen by hand: the partition's rounds are beside it.
func spawn(system *house.System, c Config, i int, lost func(error)) member {
	workers := system.Workers()
	at := workers[i%len(workers)]
	p := core.Spawn(at, func() *Partition {
		return &Partition{
			number: i, store: c.Store, storeLimit: c.StoreLimit, loadLimit: c.LoadLimit,
			queueMax: c.QueueMax, retain: c.Retain,
			log: c.Logger, lost: lost,
			round: newRound(at),
		}
	})
	core.Notice(partitionStart.At(p), partitionRun.At(p))
	return member{partitionChange.At(p), partitionCount.At(p)}
}

// startStack carries the port by which a partition tells itself to run.
type startStack struct {
	core.NoticeStack[core.NoticePort[struct{}]]
}

var partitionStart = core.HandleNotice((*Partition).start)

func (p *Partition) start(s *startStack) core.Yield {
	p.self = s.Msg
	p.runs = true
	p.self.Notice(s, struct{}{})
	return s.Return()
}
