package service

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
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
	c.now = func() int64 { return int64(time.Hour) + w.sim.Now }
	c, err := c.validate()
	require.NoError(t, err)
	w.member = spawn(w.sim.System, c, 0, func(err error) { w.lost = append(w.lost, err) })
	schedules := core.Spawn(w.sim.System, func() *core.Schedules { return core.NewSchedules(nil) })
	_, err = housetest.Ask(t, w.sim, core.SchedulesAdd.At(schedules), w.member.runs)
	require.NoError(t, err)
	return w
}

// ask runs the simulation until there is an answer.
func (w *world) ask(op ledger.Op) (ledger.Answer, error) {
	return housetest.Ask(w.T, w.sim, w.member.change, Request{Op: op})
}

// look runs the simulation until there is an answer.
func (w *world) look(op ledger.Op) (Seen, error) {
	return housetest.Ask(w.T, w.sim, w.member.look, op)
}

// item is an item that must be there.
func (w *world) item(sku string) ledger.Item {
	w.Helper()
	seen, err := w.look(ledger.Op{Kind: ledger.LookItem, SKU: sku})
	require.NoError(w, err)
	return seen.Item
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

// TestModel: random requests, many at once, to a partition whose store fails in every way, side
// by side with the reference. What was answered is kept, what failed is kept or not as the fault
// says, and never more than once.
func TestModel(t *testing.T) {
	faults := []storetest.Fault{storetest.None, storetest.None, storetest.None, storetest.Down, storetest.Made, storetest.Late}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		w := newWorld(t, seed, Config{})
		m := &ledgertest.Reference{Limits: ledger.Limits{Hold: time.Hour, Keep: time.Hour, OutcomesMax: 1_000_000}}
		met := map[error]int{}
		for phase := range 40 {
			fault := faults[rng.IntN(len(faults))]
			w.store.Set(fault)
			var ops []ledger.Op
			var asks []core.Pending[ledger.Answer]
			for range 1 + rng.IntN(100) {
				op := ledgertest.Draw(rng, m.Seq)
				if op.Kind >= ledger.LookItem {
					continue
				}
				if len(ops) > 0 && rng.IntN(10) == 0 {
					op = ops[rng.IntN(len(ops))] // a repetition
				}
				ops, asks = append(ops, op), append(asks, w.begin(op))
				if rng.IntN(4) == 0 {
					w.sim.Turn()
				}
			}
			w.sim.Rest()
			if fault == storetest.Down {
				w.requireSame(m, seed) // as it was: nothing was acknowledged
			}
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
					got.Reservation.At = 0 // the reference has no clock here
					require.Equal(t, want, got, where)
				}
			}
			m.Take()
			if fault != storetest.Down {
				w.requireSame(m, seed)
			}
			w.store.Set(storetest.None)
			w.sim.Run(2 * retryMax)
			w.requireSame(m, seed)
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

// requireSame compares what looks see with the reference.
func (w *world) requireSame(m *ledgertest.Reference, seed uint64) {
	w.Helper()
	ops := []ledger.Op{{Kind: ledger.LookItem, SKU: "nothing"}}
	for i := range int64(4) {
		ops = append(ops,
			ledger.Op{Kind: ledger.LookItem, SKU: fmt.Sprint("item", i)},
			ledger.Op{Kind: ledger.LookReservation, Number: max(1, m.Seq-10*i)})
	}
	for _, op := range ops {
		got, err := w.look(op)
		want, wantErr := m.Look(op)
		got.Reservation.At = 0
		require.Equal(w, wantErr, err, "seed %d: %+v", seed, op)
		require.Equal(w, want, got.Answer, "seed %d: %+v", seed, op)
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
	require.Zero(t, w.item("x").Held)
}

// TestDown: while the store is down requests are refused at once, and when it is back they work,
// by themselves.
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
	require.Equal(t, int64(1), w.item("x").Held)
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

// TestMailboxFull: one request more than the mailbox takes is told to come again, as one more than
// the queue.
func TestMailboxFull(t *testing.T) {
	w := newWorld(t, 1, Config{})
	var asks []core.Pending[ledger.Answer]
	for i := range 1025 {
		asks = append(asks, w.begin(reserve(i)))
	}
	w.sim.Rest()
	var full error
	for _, ask := range asks {
		if _, err := ask.Get(); errors.Is(err, core.ErrMailboxFull) {
			full = err
		}
	}
	require.Error(t, full)
	reply := httptest.NewRecorder()
	fail(reply, full)
	require.Equal(t, 503, reply.Code)
	require.Equal(t, "overloaded", code(reply.Body.String()))
	require.Equal(t, "1", reply.Header().Get("Retry-After"))
}

// TestRestart: a request that panics ends its round, whose members are told to come again; the
// partition begins anew with all that was acknowledged, and goes on by itself.
func TestRestart(t *testing.T) {
	w := newWorld(t, 1, Config{})
	_, err := w.ask(stock)
	require.NoError(t, err)
	first, err := w.ask(reserve(0))
	require.NoError(t, err)
	for range 3 {
		_, err = w.ask(ledger.Op{}) // of no kind
		require.ErrorIs(t, err, core.ErrRestarted)
		reply := httptest.NewRecorder()
		fail(reply, err)
		require.Equal(t, 503, reply.Code)
		require.Equal(t, "1", reply.Header().Get("Retry-After"))

		again, err := w.ask(reserve(0))
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	_, err = w.ask(reserve(1))
	require.NoError(t, err)
	require.Equal(t, int64(2), w.item("x").Held)
}

// TestRequestsThatPanicStopNoPartition: ten a second for half a minute, and one a second for
// five. The partition is held for a while now and then; it goes on by itself, with all that was
// acknowledged.
func TestRequestsThatPanicStopNoPartition(t *testing.T) {
	w := newWorld(t, 1, Config{})
	_, err := w.ask(stock)
	require.NoError(t, err)
	first, err := w.ask(reserve(0))
	require.NoError(t, err)
	for _, pace := range []time.Duration{100 * time.Millisecond, time.Second} {
		for range 300 {
			_, err = w.ask(ledger.Op{}) // of no kind
			require.ErrorIs(t, err, core.ErrRestarted)
			w.sim.Run(pace)
		}
		w.sim.Run(31 * time.Second) // the longest hold
		again, err := w.ask(reserve(0))
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
}

// TestRestartWithoutStore: a partition that begins anew while the store is away comes back when the
// store does.
func TestRestartWithoutStore(t *testing.T) {
	w := newWorld(t, 1, Config{})
	_, err := w.ask(stock)
	require.NoError(t, err)
	w.store.Set(storetest.Down)
	_, err = w.ask(ledger.Op{})
	require.ErrorIs(t, err, core.ErrRestarted)
	_, err = w.ask(reserve(0))
	require.ErrorIs(t, err, ErrStoreDown)
	_, err = w.look(ledger.Op{Kind: ledger.LookItem, SKU: "x"})
	require.ErrorIs(t, err, ErrStoreDown)
	w.store.Set(storetest.None)
	w.sim.Run(2 * runEvery)
	require.Equal(t, int64(1000), w.item("x").Stock)
	_, err = w.ask(reserve(0))
	require.NoError(t, err)
}

// TestHoldEnds: the partition frees what wasn't confirmed in its time without being asked, and the
// store has it.
func TestHoldEnds(t *testing.T) {
	w := newWorld(t, 1, Config{Hold: time.Minute})
	_, err := w.ask(stock)
	require.NoError(t, err)
	_, err = w.ask(reserve(0))
	require.NoError(t, err)
	w.sim.Run(time.Minute - runEvery)
	require.Equal(t, int64(1), w.item("x").Held)
	w.sim.Run(2 * runEvery)
	require.Zero(t, w.item("x").Held)
	_, s, err := w.store.Load(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, ledger.Released, s.Reservations[0].State)
}

// TestOutcomesMax: beyond the bound changes are refused, with a time to come again, and there is
// room when the oldest has been kept for its time.
func TestOutcomesMax(t *testing.T) {
	w := newWorld(t, 1, Config{Hold: time.Minute, Keep: time.Minute, OutcomesMax: 2})
	_, err := w.ask(stock)
	require.NoError(t, err)
	first, err := w.ask(reserve(0))
	require.NoError(t, err)
	_, err = w.ask(reserve(1))
	require.Equal(t, ledger.TooManyOutcomes, err)
	reply := httptest.NewRecorder()
	fail(reply, err)
	require.Equal(t, 503, reply.Code)
	require.Equal(t, "1", reply.Header().Get("Retry-After"))
	again, err := w.ask(reserve(0))
	require.NoError(t, err)
	require.Equal(t, first, again)
	w.sim.Run(time.Minute + 2*runEvery)
	_, err = w.ask(reserve(1))
	require.NoError(t, err)
}

// TestLookWithoutStore: while the store is away looks are answered with what was acknowledged, and
// say how old it is.
func TestLookWithoutStore(t *testing.T) {
	w := newWorld(t, 1, Config{})
	_, err := w.ask(stock)
	require.NoError(t, err)
	look := ledger.Op{Kind: ledger.LookItem, SKU: "x"}
	seen, err := w.look(look)
	require.NoError(t, err)
	require.Zero(t, seen.Age)
	w.store.Set(storetest.Down)
	_, err = w.ask(reserve(0))
	require.ErrorIs(t, err, ErrUnknown)
	for i := range 5 {
		w.sim.Run(time.Second)
		seen, err = w.look(look)
		require.NoError(t, err)
		require.Equal(t, ledger.Item{SKU: "x", Stock: 1000}, seen.Item)
		require.InDelta(t, float64(i+1), seen.Age.Seconds(), 0.1)
	}
	w.store.Set(storetest.None)
	w.sim.Run(2 * retryMax)
	seen, err = w.look(look)
	require.NoError(t, err)
	require.Zero(t, seen.Age)
}
