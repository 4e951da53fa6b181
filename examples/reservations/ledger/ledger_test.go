package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger/ledgertest"
)

// roomy is limits that no test reaches.
var roomy = Limits{Hold: time.Hour, Keep: time.Hour, OutcomesMax: 1_000_000}

// TestModel: random operations, writes, times that pass and reopenings, side by side with the
// reference.
func TestModel(t *testing.T) {
	met := map[error]int{}
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		limits := []Limits{roomy, {Hold: 60, Keep: 100, OutcomesMax: 20}}[seed%2]
		m := &ledgertest.Reference{Limits: limits}
		var disk Snapshot
		now := int64(1)
		l, err := Open(disk.Clone(), limits, now)
		require.NoError(t, err)
		m.Pass(now)
		write := func() {
			if c := l.Take(); c != nil {
				disk.Merge(c)
			}
			l.Stored()
			m.Take()
		}
		for i := range 1000 {
			where := fmt.Sprintf("seed %d, operation %d", seed, i)
			switch rng.IntN(20) {
			case 0, 1:
				write()
			case 2:
				write()
				l, err = Open(disk.Clone(), limits, now)
				require.NoError(t, err, where)
			case 3:
				now += rng.Int64N(50)
				l.Pass(now)
				m.Pass(now)
			default:
				op := ledgertest.Draw(rng, m.Seq)
				do, like := l.Apply, m.Apply
				if op.Kind >= LookItem {
					do, like = l.Look, m.Look
				}
				got, gotErr := do(op)
				want, wantErr := like(op)
				require.Equal(t, wantErr, gotErr, "%s: %+v", where, op)
				require.Equal(t, want, got, "%s: %+v", where, op)
				met[wantErr]++
			}
			if i%20 == 0 {
				requireNoOversale(t, m, where)
			}
		}
	}
	for _, e := range []error{
		nil, UnknownItem, UnknownReservation, OutOfStock, NotHeld, StockBelowReserved, KeyReused, TooManyOutcomes,
	} {
		require.Positive(t, met[e], "never met %v", e)
	}
}

func requireNoOversale(t *testing.T, m *ledgertest.Reference, where string) {
	for _, i := range m.Stock {
		item, _ := m.Item(i.SKU)
		require.GreaterOrEqual(t, item.Available(), int64(0), where)
	}
}

func open(t *testing.T, limits Limits) *Ledger {
	t.Helper()
	l, err := Open(Snapshot{}, limits, 0)
	require.NoError(t, err)
	return l
}

func apply(t *testing.T, l *Ledger, op Op) Answer {
	t.Helper()
	a, err := l.Apply(op)
	require.NoError(t, err)
	return a
}

var stock = Op{Kind: SetStock, Key: "stock", SKU: "x", Quantity: 10}

// TestTakeNothing: what changes nothing needs no write.
func TestTakeNothing(t *testing.T) {
	l := open(t, roomy)
	apply(t, l, stock)
	require.NotNil(t, l.Take())
	l.Stored()
	for _, op := range []Op{stock, {Kind: Reserve, Key: "b", SKU: "x", Quantity: 11}, {Kind: Confirm, Key: "c", Number: 9}} {
		l.Apply(op)
	}
	l.Pass(1)
	require.Nil(t, l.Take())
}

// TestOutcomesKeptForTheirTime: an outcome is kept for its time, however many follow. Beyond the
// bound changes are refused, and none is forgotten early.
func TestOutcomesKeptForTheirTime(t *testing.T) {
	l := open(t, Limits{Hold: 10, Keep: 10, OutcomesMax: 3})
	reserve := func(key string) Op { return Op{Kind: Reserve, Key: key, SKU: "x", Quantity: 1} }
	apply(t, l, stock)
	l.Pass(1)
	first := apply(t, l, reserve("a"))
	apply(t, l, reserve("b"))
	require.NotNil(t, l.Take())
	l.Stored()
	l.Pass(9)
	require.Nil(t, l.Take())
	_, err := l.Apply(reserve("c"))
	require.Equal(t, TooManyOutcomes, err)
	require.Equal(t, first, apply(t, l, reserve("a")), "a repetition needs no room")

	l.Pass(10)
	require.EqualValues(t, 1, l.Take().ForgetUpTo)
	l.Stored()
	apply(t, l, reserve("c"))
	require.Equal(t, first, apply(t, l, reserve("a")))
}

// TestHoldEnds: a hold that isn't confirmed in its time gives its pieces back; one that was
// confirmed doesn't.
func TestHoldEnds(t *testing.T) {
	l := open(t, Limits{Hold: 10, Keep: 100, OutcomesMax: 100})
	apply(t, l, stock)
	kept := apply(t, l, Op{Kind: Reserve, Key: "a", SKU: "x", Quantity: 3}).Reservation
	left := apply(t, l, Op{Kind: Reserve, Key: "b", SKU: "x", Quantity: 4}).Reservation
	apply(t, l, Op{Kind: Confirm, Key: "c", Number: kept.Number})
	l.Take()
	l.Stored()
	l.Pass(9)
	require.False(t, l.Due())
	l.Pass(10)
	_, err := l.Apply(Op{Kind: Confirm, Key: "d", Number: left.Number})
	require.Equal(t, NotHeld, err)
	require.ElementsMatch(t, []Item{{SKU: "x", Stock: 10, Confirmed: 3}}, l.Take().Items)
	l.Stored()
	a, err := l.Look(Op{Kind: LookReservation, Number: left.Number})
	require.NoError(t, err)
	require.Equal(t, Released, a.Reservation.State)
}

// TestClockSetBack: what was stored in a time that is yet to come isn't kept until then.
func TestClockSetBack(t *testing.T) {
	l, err := Open(Snapshot{
		Seq:          2,
		Items:        []Item{{"x", 10, 1, 0}},
		Reservations: []Reservation{{1, "x", 1, Held, 1_000_000}},
		Outcomes:     []Outcome{{Seq: 2, At: 1_000_000, Op: Op{Key: "a"}}},
	}, Limits{Hold: 10, Keep: 10, OutcomesMax: 10}, 5)
	require.NoError(t, err)
	l.Pass(15)
	c := l.Take()
	require.NotNil(t, c)
	require.Len(t, c.Reservations, 1)
	require.EqualValues(t, 2, c.ForgetUpTo)
}

// TestOpenCorrupt: what no ledger has written is refused.
func TestOpenCorrupt(t *testing.T) {
	good := func() Snapshot {
		return Snapshot{
			Seq:   5,
			Items: []Item{{"x", 10, 3, 4}},
			Reservations: []Reservation{
				{1, "x", 3, Held, 1}, {2, "x", 4, Confirmed, 1}, {3, "x", 9, Released, 1},
			},
			Outcomes: []Outcome{{Seq: 1, Op: Op{Key: "a"}}},
		}
	}
	_, err := Open(good(), roomy, 1)
	require.NoError(t, err)
	for name, spoil := range map[string]func(*Snapshot){
		"oversold":                  func(s *Snapshot) { s.Items[0].Stock = 6 },
		"held, but by nobody":       func(s *Snapshot) { s.Items[0].Held = 4 },
		"held twice":                func(s *Snapshot) { s.Items[0].Held = 2 },
		"less than was confirmed":   func(s *Snapshot) { s.Items[0].Confirmed = 3 },
		"negative":                  func(s *Snapshot) { s.Items = append(s.Items, Item{"y", 1, 0, -1}) },
		"no such item":              func(s *Snapshot) { s.Items[0].SKU = "y" },
		"an item twice":             func(s *Snapshot) { s.Items = append(s.Items, s.Items[0]) },
		"a reservation twice":       func(s *Snapshot) { s.Reservations = append(s.Reservations, s.Reservations[2]) },
		"a reservation of nothing":  func(s *Snapshot) { s.Reservations[2].Quantity = 0 },
		"no such state":             func(s *Snapshot) { s.Reservations[2].State = "lent" },
		"a reservation of tomorrow": func(s *Snapshot) { s.Reservations[2].Number = 6 },
		"an outcome of tomorrow":    func(s *Snapshot) { s.Outcomes[0].Seq = 6 },
		"a key twice":               func(s *Snapshot) { s.Outcomes = append(s.Outcomes, Outcome{Seq: 2, Op: Op{Key: "a"}}) },
	} {
		s := good()
		spoil(&s)
		_, err := Open(s, roomy, 1)
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
}
