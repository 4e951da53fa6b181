package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store/storetest"
)

func TestBolt(t *testing.T) {
	storetest.Rules(t, func(t *testing.T) (store.Store, func() (store.Store, error)) {
		dir := t.TempDir()
		again := func() (store.Store, error) { return store.OpenBolt(dir, 3) }
		s, err := again()
		require.NoError(t, err)
		return s, again
	})
}

// TestBoltInUse: files have one owner at a time. The lock is the open file's, so that a second
// one in this process stands for another process.
func TestBoltInUse(t *testing.T) {
	dir := t.TempDir()
	s, err := store.OpenBolt(dir, 2)
	require.NoError(t, err)
	_, err = store.OpenBolt(dir, 2)
	require.ErrorIs(t, err, store.ErrInUse)
	require.NoError(t, s.Close())
	s, err = store.OpenBolt(dir, 2)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// TestBoltPartitions: a store keeps its number of partitions.
func TestBoltPartitions(t *testing.T) {
	dir := t.TempDir()
	s, err := store.OpenBolt(dir, 2)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	for _, other := range []int{1, 3} {
		_, err = store.OpenBolt(dir, other)
		require.ErrorIs(t, err, store.ErrPartitions)
	}
}
