package ledgertest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

// Reference is a ledger that is plainly right: lists, which it walks.
type Reference struct {
	Limits       ledger.Limits
	Now          int64         // ns
	Seq          int64         // of the last change
	Stock        []ledger.Item // Held and Confirmed are left 0
	reservations []ledger.Reservation
	gone         map[string]int64 // confirmed pieces of reservations that were forgotten
	ended        []int64          // numbers, in the order in which they are forgotten
	outcomes     []ledger.Outcome
	taken        int64 // seq at the last take
	changed      []int64
	stored       *Reference // at the last take; of it Stock, reservations and gone count
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

// Look looks at what was there at the last Take.
func (m *Reference) Look(op ledger.Op) (a ledger.Answer, err error) {
	if m.stored == nil {
		m.stored = &Reference{}
	}
	item, known := m.stored.Item(op.SKU)
	r := m.stored.reservation(op.Number)
	switch {
	case op.Kind == ledger.LookItem && !known:
		return a, ledger.UnknownItem
	case op.Kind == ledger.LookItem:
		return ledger.Answer{Item: item}, nil
	case r == nil:
		return a, ledger.UnknownReservation
	}
	return ledger.Answer{Reservation: *r}, nil
}

// Pass lets time pass.
func (m *Reference) Pass(now int64) {
	m.Now = now
	var over []*ledger.Reservation
	for i := range m.reservations {
		if r := &m.reservations[i]; r.State == ledger.Held && m.past(r.At, m.Limits.Hold) {
			over = append(over, r)
		}
	}
	slices.SortFunc(over, byAge)
	for _, r := range over {
		m.end(r, ledger.Released)
	}
}

func byAge(a, b *ledger.Reservation) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Number, b.Number))
}

func (m *Reference) past(at int64, after time.Duration) bool { return at+int64(after) <= m.Now }

func (m *Reference) end(r *ledger.Reservation, state ledger.State) {
	r.State, r.At = state, m.Now
	m.ended = append(m.ended, r.Number)
	m.changed = append(m.changed, r.Number)
}

// Apply does one operation.
func (m *Reference) Apply(op ledger.Op) (a ledger.Answer, err error) {
	for _, o := range m.outcomes {
		if o.Op.Key == op.Key && o.Op == op {
			return o.Answer, nil
		} else if o.Op.Key == op.Key {
			return a, ledger.KeyReused
		}
	}
	if len(m.outcomes) >= m.Limits.OutcomesMax {
		return a, ledger.TooManyOutcomes
	}
	item, known := m.Item(op.SKU)
	r := m.reservation(op.Number)
	switch op.Kind {
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
		a.Reservation = ledger.Reservation{Number: m.Seq, SKU: op.SKU, Quantity: op.Quantity, State: ledger.Held, At: m.Now}
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
		m.end(r, map[ledger.Kind]ledger.State{ledger.Confirm: ledger.Confirmed, ledger.Release: ledger.Released}[op.Kind])
		a.Reservation = *r
	}
	m.outcomes = append(m.outcomes, ledger.Outcome{Seq: m.Seq, At: m.Now, Op: op, Answer: a})
	return a, nil
}

// Take forgets what Ledger.Take forgets, and has Look see what there is.
func (m *Reference) Take() {
	for len(m.outcomes) > 0 && m.outcomes[0].Seq <= m.taken && m.past(m.outcomes[0].At, m.Limits.Keep) {
		m.outcomes = m.outcomes[1:]
	}
	for len(m.ended) > 0 && !slices.Contains(m.changed, m.ended[0]) {
		r := *m.reservation(m.ended[0])
		if !m.past(r.At, m.Limits.Keep) {
			break
		}
		if r.State == ledger.Confirmed {
			m.forgetConfirmed(r)
		}
		m.reservations = slices.DeleteFunc(m.reservations, func(r ledger.Reservation) bool { return r.Number == m.ended[0] })
		m.ended = m.ended[1:]
	}
	m.taken, m.changed = m.Seq, nil
	m.stored = &Reference{Stock: slices.Clone(m.Stock), reservations: slices.Clone(m.reservations), gone: maps.Clone(m.gone)}
}

func (m *Reference) forgetConfirmed(r ledger.Reservation) {
	if m.gone == nil {
		m.gone = map[string]int64{}
	}
	m.gone[r.SKU] += r.Quantity
}
