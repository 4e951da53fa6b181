package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ErrCorrupt is what Open returns for a snapshot that no ledger has written.
var ErrCorrupt = errors.New("ledger: the stored partition contradicts itself")

// Open makes a ledger of what the store has, at a time in ns since 1970. What is stored without a
// time, or with one that is yet to come, as the clock was set back, counts from now. The error is
// ErrCorrupt: an item was oversold, or its reservations don't add up.
func Open(s Snapshot, limits Limits, now int64) (*Ledger, error) {
	l := &Ledger{
		limits:          limits,
		now:             now,
		seq:             s.Seq,
		items:           make(map[string]*Item, len(s.Items)),
		reservations:    make(map[int64]*Reservation, len(s.Reservations)),
		outcomes:        make(map[string]*Outcome, len(s.Outcomes)),
		keys:            make(keysBySeq, len(s.Outcomes)),
		oldItems:        map[string]Item{},
		oldReservations: map[int64]Reservation{},
	}
	for _, item := range s.Items {
		l.items[item.SKU] = &item
	}
	for i := range s.Reservations {
		l.notAhead(&s.Reservations[i].At)
	}
	slices.SortFunc(s.Reservations, func(a, b Reservation) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Number, b.Number))
	})
	for _, r := range s.Reservations {
		l.reservations[r.Number] = &r
		if r.State == Held {
			l.holds.push(r.Number)
		} else {
			l.ended.push(r.Number)
		}
	}
	slices.SortFunc(s.Outcomes, func(a, b Outcome) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, o := range s.Outcomes {
		l.notAhead(&o.At)
		l.keep(o)
	}
	if err := l.check(s); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Ledger) notAhead(at *int64) {
	if *at == 0 || *at > l.now {
		*at = l.now
	}
}

// check compares items with their reservations. Confirmed ones may have been forgotten, held ones
// never are.
func (l *Ledger) check(s Snapshot) error {
	if len(l.items) != len(s.Items) || len(l.reservations) != len(s.Reservations) || len(l.outcomes) != len(s.Outcomes) {
		return fmt.Errorf("%w: something stands there twice", ErrCorrupt)
	}
	held, confirmed := map[string]int64{}, map[string]int64{}
	for _, r := range s.Reservations {
		if l.items[r.SKU] == nil || r.Number > s.Seq || r.Quantity <= 0 {
			return fmt.Errorf("%w: reservation %+v", ErrCorrupt, r)
		}
		switch r.State {
		case Held:
			held[r.SKU] += r.Quantity
		case Confirmed:
			confirmed[r.SKU] += r.Quantity
		case Released:
		default:
			return fmt.Errorf("%w: reservation %+v", ErrCorrupt, r)
		}
	}
	for _, i := range s.Items {
		if i.Held < 0 || i.Confirmed < 0 || i.Available() < 0 || i.Held != held[i.SKU] || i.Confirmed < confirmed[i.SKU] {
			return fmt.Errorf("%w: item %+v, but %d held and at least %d confirmed", ErrCorrupt, i, held[i.SKU], confirmed[i.SKU])
		}
	}
	for _, o := range s.Outcomes {
		if o.Seq > s.Seq {
			return fmt.Errorf("%w: outcome %d of %d", ErrCorrupt, o.Seq, s.Seq)
		}
	}
	return nil
}
