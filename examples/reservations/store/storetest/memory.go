package storetest

import (
	"context"
	"sync"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
)

// Memory is a store that keeps nothing.
type Memory struct {
	mu         sync.Mutex
	partitions map[int]*kept
}

type kept struct {
	epoch    int64
	snapshot ledger.Snapshot
}

// at returns a partition; mu is held.
func (m *Memory) at(partition int) *kept {
	if m.partitions == nil {
		m.partitions = map[int]*kept{}
	}
	if m.partitions[partition] == nil {
		m.partitions[partition] = &kept{}
	}
	return m.partitions[partition]
}

// Load is Store's.
func (m *Memory) Load(ctx context.Context, partition int) (int64, ledger.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return 0, ledger.Snapshot{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.at(partition)
	k.epoch++
	return k.epoch, k.snapshot.Clone(), nil
}

// Write is Store's.
func (m *Memory) Write(ctx context.Context, partition int, epoch int64, c *ledger.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.at(partition)
	if k.epoch != epoch {
		return store.ErrFenced
	}
	k.snapshot.Merge(c)
	return nil
}

// Close is Store's.
func (m *Memory) Close() error { return nil }
