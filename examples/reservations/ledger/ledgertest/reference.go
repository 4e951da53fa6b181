package ledgertest

import (
	"slices"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

// Reference is a ledger that is plainly right: lists, which it walks.
type Reference struct {
	Retain       int           // as in ledger.Open
	Seq          int64         // of the last change
	Stock        []ledger.Item // Held and Confirmed are left 0
	reservations []ledger.Reservation
	gone         map[string]int64 // confirmed pieces of reservations that were forgotten
	ended        []int64          // numbers, in the order in which they are forgotten
	outcomes     []ledger.Outcome
	taken        int64 // seq at the last take
	changed      []int64
}

func (m *Reference) sum(sku string, state ledger.State) (n int64) {
	for _, r := range m.reservations {
		if r.SKU == sku && r.State == state {
			n += r.Quantity
		}
	}
	return n
}

// Item returns an item with its sums, false if there is none.
func (m *Reference) Item(sku string) (ledger.Item, bool) {
	for _, i := range m.Stock {
		if i.SKU == sku {
			i.Held = m.sum(sku, ledger.Held)
			i.Confirmed = m.sum(sku, ledger.Confirmed) + m.gone[sku]
			return i, true
		}
	}
	return ledger.Item{}, false
}

func (m *Reference) reservation(number int64) *ledger.Reservation {
	i := slices.IndexFunc(m.reservations, func(r ledger.Reservation) bool { return r.Number == number })
	if i < 0 {
		return nil
	}
	return &m.reservations[i]
}

// Apply does one operation.
func (m *Reference) Apply(op ledger.Op) (a ledger.Answer, err error) {
	if op.Kind < ledger.LookItem {
		for _, o := range m.outcomes {
			if o.Op.Key == op.Key && o.Op == op {
				return o.Answer, nil
			} else if o.Op.Key == op.Key {
				return a, ledger.KeyReused
			}
		}
	}
	item, known := m.Item(op.SKU)
	r := m.reservation(op.Number)
	switch op.Kind {
	case ledger.LookItem:
		if !known {
			return a, ledger.UnknownItem
		}
		return ledger.Answer{Item: item}, nil
	case ledger.LookReservation:
		if r == nil {
			return a, ledger.UnknownReservation
		}
		return ledger.Answer{Reservation: *r}, nil
	case ledger.SetStock:
		if known && op.Quantity < item.Held+item.Confirmed {
			return a, ledger.StockBelowReserved
		}
		m.Stock = slices.DeleteFunc(m.Stock, func(i ledger.Item) bool { return i.SKU == op.SKU })
		m.Stock = append(m.Stock, ledger.Item{SKU: op.SKU, Stock: op.Quantity})
		m.Seq++
		a.Item, _ = m.Item(op.SKU)
	case ledger.Reserve:
		if !known {
			return a, ledger.UnknownItem
		}
		if item.Held+item.Confirmed+op.Quantity > item.Stock {
			return a, ledger.OutOfStock
		}
		m.Seq++
		a.Reservation = ledger.Reservation{Number: m.Seq, SKU: op.SKU, Quantity: op.Quantity, State: ledger.Held}
		m.reservations = append(m.reservations, a.Reservation)
		m.changed = append(m.changed, m.Seq)
	case ledger.Confirm, ledger.Release:
		if r == nil {
			return a, ledger.UnknownReservation
		}
		if r.State != ledger.Held {
			return a, ledger.NotHeld
		}
		m.Seq++
		r.State = map[ledger.Kind]ledger.State{ledger.Confirm: ledger.Confirmed, ledger.Release: ledger.Released}[op.Kind]
		m.ended = append(m.ended, r.Number)
		m.changed = append(m.changed, r.Number)
		a.Reservation = *r
	}
	m.outcomes = append(m.outcomes, ledger.Outcome{Seq: m.Seq, Op: op, Answer: a})
	return a, nil
}

// Take forgets what Ledger.Take forgets.
func (m *Reference) Take() {
	if m.Seq == m.taken {
		return
	}
	for len(m.outcomes) > m.Retain && m.outcomes[0].Seq <= m.taken {
		m.outcomes = m.outcomes[1:]
	}
	for len(m.ended) > m.Retain && !slices.Contains(m.changed, m.ended[0]) {
		if r := *m.reservation(m.ended[0]); r.State == ledger.Confirmed {
			m.forgetConfirmed(r)
		}
		m.reservations = slices.DeleteFunc(m.reservations, func(r ledger.Reservation) bool { return r.Number == m.ended[0] })
		m.ended = m.ended[1:]
	}
	m.taken, m.changed = m.Seq, nil
}

// Reopened is what Open makes of the order in which reservations ended: it isn't stored.
func (m *Reference) Reopened() { slices.Sort(m.ended) }

func (m *Reference) forgetConfirmed(r ledger.Reservation) {
	if m.gone == nil {
		m.gone = map[string]int64{}
	}
	m.gone[r.SKU] += r.Quantity
}
