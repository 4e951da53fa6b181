package store

import (
	"context"
	"errors"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

// Errors of stores, beside those of the disk and the network.
var (
	// ErrFenced: another epoch has begun. The write has changed nothing.
	ErrFenced = errors.New("store: the partition has another owner")
	// ErrInUse: another process has the file.
	ErrInUse = errors.New("store: another process uses it")
	// ErrPartitions: the store was made for another number of partitions. Items would be looked
	// for in wrong ones.
	ErrPartitions = errors.New("store: it has another number of partitions")
)

// Store keeps the partitions of a catalogue. Its methods block until ctx ends, or a little
// longer. Several goroutines may call them.
type Store interface {
	// Load begins a new epoch of a partition and returns all that is stored. The first Load takes
	// the partition from another process; a later one fails with ErrFenced if it was taken since.
	Load(ctx context.Context, partition int) (epoch int64, s ledger.Snapshot, err error)
	// Write makes a change durable, as a whole or not at all. After another error than
	// ErrFenced its outcome is unknown until the partition is loaded again.
	Write(ctx context.Context, partition int, epoch int64, c *ledger.Change) error
	// Close waits for what is under way.
	Close() error
}
