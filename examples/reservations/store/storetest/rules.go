package storetest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger/ledgertest"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
)

// Rules tests what every store promises. open opens one of three partitions in an empty place;
// again opens what is there, as another process would.
func Rules(t *testing.T, open func(t *testing.T) (first store.Store, again func() (store.Store, error))) {
	t.Run("Model", func(t *testing.T) {
		first, again := open(t)
		model(t, first, again)
	})
	t.Run("Epochs", func(t *testing.T) {
		first, _ := open(t)
		epochs(t, first)
	})
	t.Run("Partitions", func(t *testing.T) {
		first, _ := open(t)
		partitions(t, first)
	})
	t.Run("Cancelled", func(t *testing.T) {
		first, _ := open(t)
		cancelled(t, first)
	})
}

func background(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// sorted puts a snapshot in order.
func sorted(s ledger.Snapshot) ledger.Snapshot {
	slices.SortFunc(s.Items, func(a, b ledger.Item) int { return cmp.Compare(a.SKU, b.SKU) })
	slices.SortFunc(s.Reservations, func(a, b ledger.Reservation) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortFunc(s.Outcomes, func(a, b ledger.Outcome) int { return cmp.Compare(a.Seq, b.Seq) })
	return s
}

// requireStored compares what is stored with what was written.
func requireStored(t *testing.T, s store.Store, partition int, want ledger.Snapshot) int64 {
	t.Helper()
	epoch, got, err := s.Load(background(t), partition)
	require.NoError(t, err)
	want = sorted(want.Clone())
	got = sorted(got)
	require.Equal(t, want.Seq, got.Seq)
	require.ElementsMatch(t, want.Items, got.Items)
	require.ElementsMatch(t, want.Reservations, got.Reservations)
	require.ElementsMatch(t, want.Outcomes, got.Outcomes)
	return epoch
}

// model writes what a ledger makes of random operations, and compares; at last in another store
// on the same data.
func model(t *testing.T, s store.Store, again func() (store.Store, error)) {
	const partition = 1
	limits := ledger.Limits{Hold: 20, Keep: 20, OutcomesMax: 1000}
	rng := rand.New(rand.NewPCG(7, 7))
	var want ledger.Snapshot
	epoch := requireStored(t, s, partition, want)
	l, err := ledger.Open(want.Clone(), limits, 0)
	require.NoError(t, err)
	for i := range 60 {
		l.Pass(int64(i))
		for range 1 + rng.IntN(30) {
			if op := ledgertest.Draw(rng, want.Seq); op.Kind < ledger.LookItem {
				l.Apply(op)
			}
		}
		if c := l.Take(); c != nil {
			require.NoError(t, s.Write(background(t), partition, epoch, c))
			want.Merge(c)
			l.Stored()
		}
		if i%20 == 19 {
			epoch = requireStored(t, s, partition, want)
		}
	}
	require.NotEmpty(t, want.Items)
	require.NotEmpty(t, want.Reservations)
	require.Less(t, int64(len(want.Outcomes)), want.Seq, "nothing was forgotten")
	require.NoError(t, s.Close())
	other, err := again()
	require.NoError(t, err)
	requireStored(t, other, partition, want)
	require.NoError(t, other.Close())
}

// change makes an item, and an outcome.
func change(seq int64) *ledger.Change {
	return &ledger.Change{
		Seq:      seq,
		Items:    []ledger.Item{{SKU: fmt.Sprint("item", seq), Stock: seq}},
		Outcomes: []ledger.Outcome{{Seq: seq, Op: ledger.Op{Key: fmt.Sprint("key", seq)}}},
	}
}

// epochs: a write of an older epoch changes nothing.
func epochs(t *testing.T, s store.Store) {
	ctx := background(t)
	old := requireStored(t, s, 0, ledger.Snapshot{})
	require.NoError(t, s.Write(ctx, 0, old, change(1)))
	var want ledger.Snapshot
	want.Merge(change(1))
	now := requireStored(t, s, 0, want)
	require.Greater(t, now, old)
	require.ErrorIs(t, s.Write(ctx, 0, old, change(2)), store.ErrFenced)
	requireStored(t, s, 0, want)
	require.NoError(t, s.Close())
}

// partitions: they share nothing.
func partitions(t *testing.T, s store.Store) {
	ctx := background(t)
	for i := range 3 {
		epoch := requireStored(t, s, i, ledger.Snapshot{})
		require.NoError(t, s.Write(ctx, i, epoch, change(int64(i+1))))
	}
	for i := range 3 {
		var want ledger.Snapshot
		want.Merge(change(int64(i + 1)))
		requireStored(t, s, i, want)
	}
	require.NoError(t, s.Close())
}

// cancelled: a context that has ended ends a call, and the next one works.
func cancelled(t *testing.T, s store.Store) {
	epoch := requireStored(t, s, 2, ledger.Snapshot{})
	over, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, s.Write(over, 2, epoch, change(1)), context.Canceled)
	_, _, err := s.Load(over, 2)
	require.ErrorIs(t, err, context.Canceled)
	requireStored(t, s, 2, ledger.Snapshot{})
	require.NoError(t, s.Close())
}
