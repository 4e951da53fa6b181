package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger/ledgertest"
)

// TestModel: random operations, writes and reopenings, side by side with the reference.
func TestModel(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		retain := []int{1000, 5}[seed%2]
		m := &ledgertest.Reference{Retain: retain}
		var disk Snapshot
		l, err := Open(disk.Clone(), retain)
		require.NoError(t, err)
		met := map[error]int{}
		for i := range 1000 {
			where := fmt.Sprintf("seed %d, operation %d", seed, i)
			switch rng.IntN(20) {
			case 0, 1:
				if c := l.Take(); c != nil {
					disk.Merge(c)
				}
				m.Take()
			case 2:
				if c := l.Take(); c != nil {
					disk.Merge(c)
				}
				m.Take()
				m.Reopened()
				l, err = Open(disk.Clone(), retain)
				require.NoError(t, err, where)
			default:
				op := ledgertest.Draw(rng, m.Seq)
				got, gotErr := l.Apply(op)
				want, wantErr := m.Apply(op)
				require.Equal(t, wantErr, gotErr, "%s: %+v", where, op)
				require.Equal(t, want, got, "%s: %+v", where, op)
				met[wantErr]++
			}
			if i%20 == 0 {
				requireNoOversale(t, m, where)
			}
		}
		for _, e := range []error{nil, UnknownItem, UnknownReservation, OutOfStock, NotHeld, StockBelowReserved, KeyReused} {
			require.Positive(t, met[e], "seed %d never met %v", seed, e)
		}
	}
}

func requireNoOversale(t *testing.T, m *ledgertest.Reference, where string) {
	for _, i := range m.Stock {
		item, _ := m.Item(i.SKU)
		require.GreaterOrEqual(t, item.Available(), int64(0), where)
	}
}

// TestTakeNothing: what changes nothing needs no write.
func TestTakeNothing(t *testing.T) {
	l, err := Open(Snapshot{}, 10)
	require.NoError(t, err)
	stock := Op{Kind: SetStock, Key: "a", SKU: "x", Quantity: 1}
	_, err = l.Apply(stock)
	require.NoError(t, err)
	require.NotNil(t, l.Take())
	for _, op := range []Op{stock, {Kind: LookItem, SKU: "x"}, {Kind: Reserve, Key: "b", SKU: "x", Quantity: 2}, {Kind: Confirm, Key: "c", Number: 9}} {
		l.Apply(op)
	}
	require.Nil(t, l.Take())
}

// TestOpenCorrupt: what no ledger has written is refused.
func TestOpenCorrupt(t *testing.T) {
	good := func() Snapshot {
		return Snapshot{
			Seq:   5,
			Items: []Item{{"x", 10, 3, 4}},
			Reservations: []Reservation{
				{1, "x", 3, Held}, {2, "x", 4, Confirmed}, {3, "x", 9, Released},
			},
			Outcomes: []Outcome{{Seq: 1, Op: Op{Key: "a"}}},
		}
	}
	_, err := Open(good(), 10)
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
		_, err := Open(s, 10)
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
}
