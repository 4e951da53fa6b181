package store

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

//go:embed schema.sql
var schemaSQL string

//go:embed write.sql
var writeSQL string

// Postgres keeps all partitions in one database. A lock of the database's own would be gone with
// its connection; the epoch in a row outlives both.
type Postgres struct {
	pool  *pgxpool.Pool
	owner string        // this process
	taken []atomic.Bool // partitions that it has loaded
}

// OpenPostgres connects to a database by its URL, and makes the tables if they aren't there: in
// the schema that the URL names as search_path, else in one called reservations.
func OpenPostgres(ctx context.Context, url string, partitions int) (*Postgres, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	session := config.ConnConfig.RuntimeParams
	if session["search_path"] == "" {
		session["search_path"] = "reservations"
	}
	// whatever the database's default is: an answer is a promise
	session["synchronous_commit"] = "on"
	session["application_name"] = "reservations"
	// one writes each; one more, while a broken one is being closed
	config.MaxConns = int32(partitions) + 1
	config.ConnConfig.ConnectTimeout = 2 * time.Second
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		return makeSchema(ctx, tx, session["search_path"], partitions)
	}); err != nil {
		pool.Close()
		return nil, err
	}
	return &Postgres{pool: pool, owner: rand.Text(), taken: make([]atomic.Bool, partitions)}, nil
}

// schemaLock keeps two processes from making the tables at once. The number means nothing.
const schemaLock = 0x5ac4

func makeSchema(ctx context.Context, tx pgx.Tx, schema string, partitions int) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", schemaLock); err != nil {
		return err
	}
	for _, sql := range []string{"CREATE SCHEMA IF NOT EXISTS " + pgx.Identifier{schema}.Sanitize(), schemaSQL} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
	}
	var have int
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM partitions").Scan(&have); err != nil {
		return err
	}
	if have == 0 {
		_, err := tx.Exec(ctx, "INSERT INTO partitions (id) SELECT generate_series(0, $1::integer - 1)", partitions)
		return err
	}
	if have != partitions {
		return fmt.Errorf("%w: %d, not %d", ErrPartitions, have, partitions)
	}
	return nil
}

// Load is Store's.
func (p *Postgres) Load(ctx context.Context, partition int) (epoch int64, s ledger.Snapshot, err error) {
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		epoch, s, err = p.load(ctx, tx, partition)
		return err
	})
	if err != nil {
		return 0, ledger.Snapshot{}, err
	}
	p.taken[partition].Store(true)
	return epoch, s, nil
}

// load locks the partition's row first, by the update: what reads after it sees every write
// of earlier epochs that will ever count.
func (p *Postgres) load(ctx context.Context, tx pgx.Tx, partition int) (epoch int64, s ledger.Snapshot, err error) {
	const begin = `UPDATE partitions SET epoch = epoch + 1, owner = $2 WHERE id = $1 AND (owner = $2 OR $3) RETURNING epoch, seq`
	err = tx.QueryRow(ctx, begin, partition, p.owner, !p.taken[partition].Load()).Scan(&epoch, &s.Seq)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, s, ErrFenced
	}
	if err != nil {
		return 0, s, err
	}
	if s.Items, err = rows[ledger.Item](ctx, tx,
		`SELECT sku, stock, held, confirmed FROM items WHERE partition = $1`, partition); err != nil {
		return 0, s, err
	}
	if s.Reservations, err = rows[ledger.Reservation](ctx, tx,
		`SELECT number, sku, quantity, state, at FROM reservations WHERE partition = $1`, partition); err != nil {
		return 0, s, err
	}
	s.Outcomes, err = loadOutcomes(ctx, tx, partition)
	return epoch, s, err
}

// rows reads rows whose columns are the fields of V.
func rows[V any](ctx context.Context, tx pgx.Tx, sql string, partition int) ([]V, error) {
	r, err := tx.Query(ctx, sql, partition)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(r, pgx.RowToStructByPos[V])
}

func loadOutcomes(ctx context.Context, tx pgx.Tx, partition int) ([]ledger.Outcome, error) {
	r, err := tx.Query(ctx, `SELECT outcome::text FROM outcomes WHERE partition = $1`, partition)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(r, func(row pgx.CollectableRow) (o ledger.Outcome, err error) {
		var text string
		if err = row.Scan(&text); err == nil {
			err = json.Unmarshal([]byte(text), &o)
		}
		return o, err
	})
}

// Write is Store's: one statement, which commits by itself, in one round trip.
func (p *Postgres) Write(ctx context.Context, partition int, epoch int64, c *ledger.Change) error {
	var i itemColumns
	var r reservationColumns
	var o outcomeColumns
	i.fill(c.Items)
	r.fill(c.Reservations)
	if err := o.fill(c.Outcomes); err != nil {
		return err
	}
	var own int
	err := p.pool.QueryRow(ctx, writeSQL, partition, epoch, c.Seq,
		i.sku, i.stock, i.held, i.confirmed,
		r.number, r.sku, r.quantity, r.state, r.at,
		o.seq, o.key, o.outcome,
		c.Forget, c.ForgetUpTo).Scan(&own)
	if err == nil && own == 0 {
		return ErrFenced
	}
	return err
}

// Close is Store's.
func (p *Postgres) Close() error {
	p.pool.Close()
	return nil
}
