package store_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store/storetest"
)

// schema returns the URL of an empty schema, which is dropped at the end. Without
// RESERVATIONS_POSTGRES, the URL of a database, the test is skipped; with it, a database that
// doesn't answer is a failure.
func schema(t *testing.T) string {
	t.Helper()
	where := os.Getenv("RESERVATIONS_POSTGRES")
	if where == "" {
		t.Skip("RESERVATIONS_POSTGRES has no URL of a database")
	}
	at, err := url.Parse(where)
	require.NoError(t, err)
	name := "test_" + strings.ToLower(rand.Text())
	query := at.Query()
	query.Set("search_path", name)
	at.RawQuery = query.Encode()
	t.Cleanup(func() {
		ctx := context.Background()
		c, err := pgx.Connect(ctx, where)
		require.NoError(t, err)
		defer c.Close(ctx)
		_, err = c.Exec(ctx, "DROP SCHEMA IF EXISTS "+name+" CASCADE")
		require.NoError(t, err)
	})
	return at.String()
}

func TestPostgres(t *testing.T) {
	storetest.Rules(t, func(t *testing.T) (store.Store, func() (store.Store, error)) {
		at := schema(t)
		again := func() (store.Store, error) { return store.Open(context.Background(), at, 3) }
		s, err := again()
		require.NoError(t, err)
		return s, again
	})
}

// TestPostgresTaken: the process that loaded a partition last owns it. The other can neither write
// nor load.
func TestPostgresTaken(t *testing.T) {
	ctx, at := context.Background(), schema(t)
	first, err := store.OpenPostgres(ctx, at, 2)
	require.NoError(t, err)
	epoch, _, err := first.Load(ctx, 0)
	require.NoError(t, err)
	other, err := store.OpenPostgres(ctx, at, 2)
	require.NoError(t, err)
	newer, _, err := other.Load(ctx, 0)
	require.NoError(t, err)

	c := &ledger.Change{Seq: 1, Items: []ledger.Item{{SKU: "x", Stock: 1}}}
	require.ErrorIs(t, first.Write(ctx, 0, epoch, c), store.ErrFenced)
	_, _, err = first.Load(ctx, 0)
	require.ErrorIs(t, err, store.ErrFenced)
	require.NoError(t, other.Write(ctx, 0, newer, c))
	_, _, err = first.Load(ctx, 1)
	require.NoError(t, err, "of the other partition it knows nothing yet")
	require.NoError(t, first.Close())
	require.NoError(t, other.Close())
}

// TestPostgresPartitions: a store keeps its number of partitions.
func TestPostgresPartitions(t *testing.T) {
	ctx, at := context.Background(), schema(t)
	s, err := store.OpenPostgres(ctx, at, 2)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	_, err = store.OpenPostgres(ctx, at, 3)
	require.ErrorIs(t, err, store.ErrPartitions)
}
