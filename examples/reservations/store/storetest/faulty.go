package storetest

import (
	"context"
	"errors"
	"sync"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
)

// Fault is how a store fails.
type Fault int

// Faults.
const (
	None Fault = iota
	Down       // nothing is done
	Made       // a write is made, but its caller gets an error
	// a write is made when the next Load has ended, and its caller gets an error at once
	Late
	Taken // another process has loaded the partition
	Lies  // a write isn't made, and its caller gets no error: a bug, for tests of checks
)

// ErrFault is the error of a store that was told to fail.
var ErrFault = errors.New("storetest: the store was told to fail")

// Faulty is a store that fails when it is told to.
type Faulty struct {
	store.Store

	mu     sync.Mutex
	fault  Fault
	late   []func() // writes
	landed []error  // what became of them
}

// Set has the store fail in one way from now on.
func (f *Faulty) Set(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// Landed returns what late writes came to.
func (f *Faulty) Landed() []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.landed
}

func (f *Faulty) now() Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fault
}

// Load is Store's.
func (f *Faulty) Load(ctx context.Context, partition int) (int64, ledger.Snapshot, error) {
	switch f.now() {
	case Down:
		return 0, ledger.Snapshot{}, ErrFault
	case Taken:
		return 0, ledger.Snapshot{}, store.ErrFenced
	}
	epoch, s, err := f.Store.Load(ctx, partition)
	if err == nil {
		f.land()
	}
	return epoch, s, err
}

// land makes the writes that were late.
func (f *Faulty) land() {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, write := range late {
		write()
	}
}

// Write is Store's.
func (f *Faulty) Write(ctx context.Context, partition int, epoch int64, c *ledger.Change) error {
	switch f.now() {
	case Down:
		return ErrFault
	case Taken:
		return store.ErrFenced
	case Lies:
		return nil
	case Made:
		return errors.Join(ErrFault, f.Store.Write(ctx, partition, epoch, c))
	case Late:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.late = append(f.late, func() {
			err := f.Store.Write(context.WithoutCancel(ctx), partition, epoch, c)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.landed = append(f.landed, err)
		})
		return ErrFault
	}
	return f.Store.Write(ctx, partition, epoch, c)
}
