package service

import (
	"context"
	"time"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
)

// job is what goes to the goroutine that waits for the store: nothing of the actor's that
// changes meanwhile.
type job struct {
	store     store.Store
	limit     time.Duration
	partition int

	// of a write
	epoch  int64
	change *ledger.Change
}

// loaded is what the store has.
type loaded struct {
	epoch    int64
	snapshot ledger.Snapshot
}

func load(ctx context.Context, j job) (l loaded, err error) {
	ctx, cancel := context.WithTimeout(ctx, j.limit)
	defer cancel()
	l.epoch, l.snapshot, err = j.store.Load(ctx, j.partition)
	return l, err
}

// write returns how many changes it made durable.
func write(ctx context.Context, j job) (changes int, err error) {
	ctx, cancel := context.WithTimeout(ctx, j.limit)
	defer cancel()
	return len(j.change.Outcomes), j.store.Write(ctx, j.partition, j.epoch, j.change)
}
