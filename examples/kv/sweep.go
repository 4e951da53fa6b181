package main

import (
	"time"

	"github.com/stackhouse-go/stackhouse/core"
)

const (
	// sweepEvery is how often a store looks for expired keys that no command asks for.
	sweepEvery = 100 * time.Millisecond
	// sweepBatch is how many keys it looks at, and sweepsMax how many batches it takes in one step.
	// As in Redis it goes on while a fourth of a batch was expired.
	sweepBatch = 20
	sweepsMax  = 50
	// reapBatch is how many fields of deleted hashes it frees in a batch.
	reapBatch = 1000
)

// sweepStack is the sweep of one store. It never ends.
type sweepStack struct {
	core.NoticeStack[struct{}]
	tick core.Future[core.Tick]
}

func (t *store) sweep(s *sweepStack) core.Yield {
	for range sweepsMax {
		if looked, expired := t.table.ExpireSome(sweepBatch, core.Now(s)); expired*4 < looked || looked == 0 {
			break
		}
	}
	for i := 0; i < sweepsMax && t.table.Reap(reapBatch); i++ {
	}
	t.stores.memory.publish(t)
	core.Timer.Ask(s, &s.tick, sweepEvery)
	return core.Suspend(s, (*store).sweep)
}
