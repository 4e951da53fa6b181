package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

// Bolt keeps each partition in a file of its own: bbolt has one writer a file, so that
// partitions in one file would wait for each other's fsync.
type Bolt struct{ files []*boltFile }

// boltFile is one partition. A token, not a mutex, stands for its writer: who waits for it can
// give up.
type boltFile struct {
	db     *bbolt.DB
	writer chan struct{}
}

// lockWait is how long OpenBolt waits for a file that another process has: one that was killed
// a moment ago may not be gone.
const lockWait = 2 * time.Second

// OpenBolt opens or makes the files in dir. The operating system locks them, so that a
// second process fails with ErrInUse.
func OpenBolt(dir string, partitions int) (*Bolt, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	b := &Bolt{}
	for i := range partitions {
		f, err := openFile(filepath.Join(dir, fmt.Sprintf("partition-%d.db", i)), i, partitions)
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		b.files = append(b.files, f)
	}
	if err := syncDir(dir); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// syncDir makes names of new files durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// A partition's buckets. Keys of numbers are big-endian, so that new ones come last; values are
// JSON.
var (
	bucketFacts        = []byte("facts")        // see facts
	bucketItems        = []byte("items")        // by SKU
	bucketReservations = []byte("reservations") // by number
	bucketOutcomes     = []byte("outcomes")     // by Seq
)

// facts is what stands once in a partition, under keyFacts.
type facts struct {
	Partition  int   `json:"partition"`
	Partitions int   `json:"partitions"`
	Epoch      int64 `json:"epoch"`
	Seq        int64 `json:"seq"`
}

var keyFacts = []byte("facts")

func openFile(path string, partition, partitions int) (*boltFile, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait})
	if errors.Is(err, berrors.ErrTimeout) {
		err = ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &boltFile{db, make(chan struct{}, 1)}
	want := facts{Partition: partition, Partitions: partitions}
	if err := db.Update(func(tx *bbolt.Tx) error { return prepare(tx, want) }); err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Join(err, db.Close()))
	}
	return f, nil
}

// prepare makes the buckets of a new file, and refuses one that is another's.
func prepare(tx *bbolt.Tx, want facts) error {
	for _, name := range [][]byte{bucketFacts, bucketItems, bucketReservations, bucketOutcomes} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	if tx.Bucket(bucketFacts).Get(keyFacts) == nil {
		return put(tx.Bucket(bucketFacts), keyFacts, want)
	}
	have, err := readFacts(tx)
	if err == nil && (have.Partition != want.Partition || have.Partitions != want.Partitions) {
		err = fmt.Errorf("%w: this is partition %d of %d, not %d of %d",
			ErrPartitions, have.Partition, have.Partitions, want.Partition, want.Partitions)
	}
	return err
}

// Load is Store's.
func (b *Bolt) Load(ctx context.Context, partition int) (epoch int64, s ledger.Snapshot, err error) {
	err = b.files[partition].update(ctx, func(tx *bbolt.Tx) error {
		have, err := readFacts(tx)
		if err != nil {
			return err
		}
		have.Epoch++
		epoch, s.Seq = have.Epoch, have.Seq
		return errors.Join(
			readAll(tx.Bucket(bucketItems), &s.Items),
			readAll(tx.Bucket(bucketReservations), &s.Reservations),
			readAll(tx.Bucket(bucketOutcomes), &s.Outcomes),
			put(tx.Bucket(bucketFacts), keyFacts, have),
		)
	})
	return epoch, s, err
}

// Write is Store's: one transaction, which bbolt syncs when it commits.
func (b *Bolt) Write(ctx context.Context, partition int, epoch int64, c *ledger.Change) error {
	return b.files[partition].update(ctx, func(tx *bbolt.Tx) error {
		have, err := readFacts(tx)
		if err != nil {
			return err
		}
		if have.Epoch != epoch {
			return ErrFenced
		}
		have.Seq = c.Seq
		return errors.Join(writeChange(tx, c), put(tx.Bucket(bucketFacts), keyFacts, have))
	})
}

func writeChange(tx *bbolt.Tx, c *ledger.Change) error {
	items, reservations, outcomes := tx.Bucket(bucketItems), tx.Bucket(bucketReservations), tx.Bucket(bucketOutcomes)
	var errs []error
	for _, i := range c.Items {
		errs = append(errs, put(items, []byte(i.SKU), i))
	}
	for _, r := range c.Reservations {
		errs = append(errs, put(reservations, number(r.Number), r))
	}
	for _, o := range c.Outcomes {
		errs = append(errs, put(outcomes, number(o.Seq), o))
	}
	for _, n := range c.Forget {
		errs = append(errs, reservations.Delete(number(n)))
	}
	return errors.Join(append(errs, deleteUpTo(outcomes, c.ForgetUpTo))...)
}

// deleteUpTo removes the outcomes up to seq.
func deleteUpTo(outcomes *bbolt.Bucket, seq int64) error {
	at := outcomes.Cursor()
	for k, _ := at.First(); k != nil && int64(binary.BigEndian.Uint64(k)) <= seq; k, _ = at.First() {
		if err := at.Delete(); err != nil {
			return err
		}
	}
	return nil
}

// update runs do as the file's one writer.
func (f *boltFile) update(ctx context.Context, do func(*bbolt.Tx) error) error {
	select {
	case f.writer <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.writer }()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f.db.Update(do)
}

// Close is Store's.
func (b *Bolt) Close() error {
	var errs []error
	for _, f := range b.files {
		errs = append(errs, f.db.Close())
	}
	return errors.Join(errs...)
}

func number(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func put(b *bbolt.Bucket, key []byte, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return b.Put(key, text)
}

func readFacts(tx *bbolt.Tx) (f facts, err error) {
	return f, json.Unmarshal(tx.Bucket(bucketFacts).Get(keyFacts), &f)
}

func readAll[V any](b *bbolt.Bucket, into *[]V) error {
	*into = nil
	return b.ForEach(func(_, text []byte) error {
		var v V
		err := json.Unmarshal(text, &v)
		*into = append(*into, v)
		return err
	})
}
