package service

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger/ledgertest"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store/storetest"
)

// world is a partition in a simulation, whose store is in memory and fails when it is told to.
type world struct {
	*testing.T
	sim    *housetest.Sim
	store  *storetest.Faulty
	member member
	lost   []error
}

func newWorld(t *testing.T, seed uint64, c Config) *world {
	quiet := slog.New(slog.DiscardHandler)
	w := &world{T: t, store: &storetest.Faulty{Store: &storetest.Memory{}}}
	atOnce := func() time.Duration { return 0 } // so that Rest brings what is written home
	w.sim = housetest.New(t, seed, house.Config{Logger: quiet, OffloadTime: atOnce})
	c.Store, c.Partitions, c.Logger = w.store, 1, quiet
	c, err := c.validate()
	require.NoError(t, err)
	w.member = spawn(w.sim.System, c, 0, func(err error) { w.lost = append(w.lost, err) })
	return w
}

// ask runs the simulation until there is an answer.
func (w *world) ask(op ledger.Op) (ledger.Answer, error) {
	return housetest.Ask(w.T, w.sim, w.member.change, Request{Op: op})
}

// begin asks without waiting.
func (w *world) begin(op ledger.Op) core.Pending[ledger.Answer] {
	return core.Begin(w.member.change, Request{Op: op})
}

func (w *world) counts() Counts {
	c, err := housetest.Ask(w.T, w.sim, w.member.count, struct{}{})
	require.NoError(w, err)
	return c
}

// known leaves a refusal and no error as they are, and makes others their sentinel.
func known(err error) error {
	for _, sentinel := range []error{ErrUnknown, ErrStoreDown, ErrLost} {
		if errors.Is(err, sentinel) {
			return sentinel
		}
	}
	return err
}

// TestModel: random requests, many at once, to a partition whose store fails in every way, side by side with the
// reference. What was answered is kept, what failed is kept or not as the fault says, and never more than once.
func TestModel(t *testing.T) {
	faults := []storetest.Fault{storetest.None, storetest.None, storetest.None, storetest.Down, storetest.Made, storetest.Late}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		w := newWorld(t, seed, Config{})
		m := &ledgertest.Reference{Retain: 1_000_000}
		met := map[error]int{}
		for phase := range 40 {
			fault := faults[rng.IntN(len(faults))]
			w.store.Set(fault)
			var ops []ledger.Op
			var asks []core.Pending[ledger.Answer]
			for range 1 + rng.IntN(100) {
				op := ledgertest.Draw(rng, m.Seq)
				if len(ops) > 0 && rng.IntN(10) == 0 {
					op = ops[rng.IntN(len(ops))] // a repetition
				}
				ops, asks = append(ops, op), append(asks, w.begin(op))
				if rng.IntN(4) == 0 {
					w.sim.Turn()
				}
			}
			w.sim.Rest()
			for i, ask := range asks {
				where := fmt.Sprintf("seed %d, phase %d, fault %d, %+v", seed, phase, fault, ops[i])
				require.True(t, ask.Ready(), where)
				got, err := ask.Get()
				err = known(err)
				met[err]++
				switch {
				case err == ErrUnknown && fault == storetest.Made:
					m.Apply(ops[i])
				case err == ErrUnknown && fault == storetest.None,
					err == ErrStoreDown && fault == storetest.None:
					t.Fatalf("%s: %v", where, err)
				case err == ErrUnknown, err == ErrStoreDown:
				default:
					want, wantErr := m.Apply(ops[i])
					require.Equal(t, wantErr, err, where)
					require.Equal(t, want, got, where)
				}
			}
			w.store.Set(storetest.None)
			w.sim.Run(2 * retryMax)
		}
		require.NotEmpty(t, w.store.Landed())
		for _, err := range w.store.Landed() {
			require.Error(t, err, "seed %d: a straggler was written behind the load", seed)
		}
		for _, e := range []error{nil, ErrUnknown, ErrStoreDown, ledger.OutOfStock, ledger.NotHeld, ledger.KeyReused} {
			require.Positive(t, met[e], "seed %d never met %v", seed, e)
		}
	}
}

var stock = ledger.Op{Kind: ledger.SetStock, Key: "stock", SKU: "x", Quantity: 1000}

func reserve(i int) ledger.Op {
	return ledger.Op{Kind: ledger.Reserve, Key: fmt.Sprint("reserve", i), SKU: "x", Quantity: 1}
}

// TestShare: requests that come while a write is under way share the next one.
func TestShare(t *testing.T) {
	w := newWorld(t, 1, Config{})
	w.sim.Rest()
	before := w.counts()
	asks := []core.Pending[ledger.Answer]{w.begin(stock)}
	w.sim.Turn() // may take the first away, in a round of its own
	for i := range 200 {
		asks = append(asks, w.begin(reserve(i)))
	}
	w.sim.Rest()
	for _, ask := range asks {
		_, err := ask.Get()
		require.NoError(t, err)
	}
	after := w.counts()
	require.Equal(t, int64(201), after.Changes-before.Changes)
	require.LessOrEqual(t, after.Writes-before.Writes, int64(6))
}

// TestQueueMax: what would wait behind too many is refused, and nothing has happened.
func TestQueueMax(t *testing.T) {
	w := newWorld(t, 1, Config{QueueMax: 10})
	_, err := w.ask(stock)
	require.NoError(t, err)
	var asks []core.Pending[ledger.Answer]
	for i := range 60 { // they are one stack
		asks = append(asks, w.begin(reserve(i)))
	}
	w.sim.Rest()
	for _, ask := range asks {
		_, err := ask.Get()
		require.True(t, isFull(err), err)
	}
	a, err := w.ask(ledger.Op{Kind: ledger.LookItem, SKU: "x"})
	require.NoError(t, err)
	require.Zero(t, a.Item.Held)
}

// TestDown: while the store is down requests are refused at once, and when it is back they work, by themselves.
func TestDown(t *testing.T) {
	w := newWorld(t, 1, Config{})
	_, err := w.ask(stock)
	require.NoError(t, err)
	w.store.Set(storetest.Down)
	_, err = w.ask(reserve(0))
	require.ErrorIs(t, err, ErrUnknown)
	w.sim.Rest()
	for i := range 10 {
		began := w.sim.Now
		_, err = w.ask(reserve(i))
		require.ErrorIs(t, err, ErrStoreDown)
		require.Less(t, time.Duration(w.sim.Now-began), time.Millisecond)
		w.sim.Run(time.Second)
	}
	w.store.Set(storetest.None)
	w.sim.Run(2 * retryMax)
	_, err = w.ask(reserve(0))
	require.NoError(t, err)
	a, err := w.ask(ledger.Op{Kind: ledger.LookItem, SKU: "x"})
	require.NoError(t, err)
	require.Equal(t, int64(1), a.Item.Held)
}

// TestTaken: a partition that another process has taken refuses for good, and says so once.
func TestTaken(t *testing.T) {
	w := newWorld(t, 1, Config{})
	_, err := w.ask(stock)
	require.NoError(t, err)
	w.store.Set(storetest.Taken)
	_, err = w.ask(reserve(0))
	require.ErrorIs(t, err, ErrUnknown)
	w.store.Set(storetest.None)
	for range 3 {
		_, err = w.ask(reserve(0))
		require.ErrorIs(t, err, ErrLost)
		w.sim.Run(time.Minute)
	}
	require.Len(t, w.lost, 1)
}
