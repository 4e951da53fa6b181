package ledger

import "time"

// ItemsMax is how many items a partition has at most: each takes some 200 bytes.
const ItemsMax = 1_000_000

// Limits says how long a ledger keeps what, and how many outcomes it has at most. Hold is at most
// Keep, so that the outcome of each held reservation is kept: reservations, held and ended ones
// together, are at most twice OutcomesMax then.
type Limits struct {
	Hold        time.Duration // a reservation that isn't confirmed by then is released
	Keep        time.Duration // an outcome, and a reservation that has ended
	OutcomesMax int           // beyond it changes are refused, as none is forgotten early
}

// Ledger is a partition in memory.
type Ledger struct {
	limits       Limits
	now          int64 // see Pass; never goes back
	seq          int64
	items        map[string]*Item
	reservations map[int64]*Reservation
	outcomes     map[string]*Outcome // by key

	// Each in the order of At, but for what a clock that was set back made.
	holds fifo      // reservations, some of which have ended since
	ended fifo      // reservations that are confirmed or released
	past  fifo      // Seq of outcomes
	keys  keysBySeq // of past

	// What was changed since Stored was last called, as it was then; the zero value: it wasn't
	// there.
	oldItems        map[string]Item
	oldReservations map[int64]Reservation
	fresh           []Outcome // what Take returns next
}

// keysBySeq finds the key of an outcome.
type keysBySeq map[int64]string

// Look returns an item or a reservation as it is stored: without what is still to be written. The
// error is a Refusal.
func (l *Ledger) Look(op Op) (Answer, error) {
	if op.Kind == LookItem {
		return l.lookItem(op)
	}
	return l.lookReservation(op)
}

// Apply does one operation that changes something. The error is a Refusal. An operation with the
// key of an earlier one gets that one's answer, if it is the same request.
func (l *Ledger) Apply(op Op) (Answer, error) {
	if o := l.outcomes[op.Key]; o != nil {
		if o.Op != op {
			return Answer{}, KeyReused
		}
		return o.Answer, nil
	}
	if len(l.outcomes) >= l.limits.OutcomesMax {
		return Answer{}, TooManyOutcomes
	}
	answer, err := l.change(op)
	if err != nil {
		return Answer{}, err
	}
	l.remember(Outcome{Seq: l.seq, At: l.now, Op: op, Answer: answer})
	return answer, nil
}

func (l *Ledger) change(op Op) (Answer, error) {
	switch op.Kind {
	case SetStock:
		return l.setStock(op)
	case Reserve:
		return l.reserve(op)
	case Confirm, Release:
		return l.end(op)
	}
	panic("ledger: an operation of no kind")
}

func (l *Ledger) lookItem(op Op) (Answer, error) {
	item, changed := l.oldItems[op.SKU]
	if now := l.items[op.SKU]; !changed && now != nil {
		item = *now
	}
	if item.SKU == "" {
		return Answer{}, UnknownItem
	}
	return Answer{Item: item}, nil
}

func (l *Ledger) lookReservation(op Op) (Answer, error) {
	r, changed := l.oldReservations[op.Number]
	if now := l.reservations[op.Number]; !changed && now != nil {
		r = *now
	}
	if r.Number == 0 {
		return Answer{}, UnknownReservation
	}
	return Answer{Reservation: r}, nil
}

func (l *Ledger) setStock(op Op) (Answer, error) {
	item := l.items[op.SKU]
	switch {
	case item == nil && len(l.items) >= ItemsMax:
		return Answer{}, TooManyItems
	case item == nil:
		l.oldItems[op.SKU] = Item{}
		item = &Item{SKU: op.SKU}
		l.items[op.SKU] = item
	case op.Quantity < item.Held+item.Confirmed:
		return Answer{}, StockBelowReserved
	}
	l.willChange(item)
	item.Stock = op.Quantity
	l.seq++
	return Answer{Item: *item}, nil
}

func (l *Ledger) reserve(op Op) (Answer, error) {
	item := l.items[op.SKU]
	switch {
	case item == nil:
		return Answer{}, UnknownItem
	case op.Quantity > item.Available():
		return Answer{}, OutOfStock
	}
	l.willChange(item)
	item.Held += op.Quantity
	l.seq++
	r := &Reservation{Number: l.seq, SKU: op.SKU, Quantity: op.Quantity, State: Held, At: l.now}
	l.oldReservations[r.Number] = Reservation{}
	l.reservations[r.Number] = r
	l.holds.push(r.Number)
	return Answer{Reservation: *r}, nil
}

// end confirms or releases.
func (l *Ledger) end(op Op) (Answer, error) {
	r := l.reservations[op.Number]
	switch {
	case r == nil:
		return Answer{}, UnknownReservation
	case r.State != Held:
		return Answer{}, NotHeld
	}
	state := Released
	if op.Kind == Confirm {
		state = Confirmed
	}
	l.endHeld(r, state)
	l.seq++
	return Answer{Reservation: *r}, nil
}

func (l *Ledger) endHeld(r *Reservation, state State) {
	item := l.items[r.SKU]
	l.willChange(item)
	if _, changed := l.oldReservations[r.Number]; !changed {
		l.oldReservations[r.Number] = *r
	}
	item.Held -= r.Quantity
	if state == Confirmed {
		item.Confirmed += r.Quantity
	}
	r.State, r.At = state, l.now
	l.ended.push(r.Number)
}

// willChange keeps what Look is to see until the change is stored.
func (l *Ledger) willChange(item *Item) {
	if _, changed := l.oldItems[item.SKU]; !changed {
		l.oldItems[item.SKU] = *item
	}
}

// remember keeps an outcome for repetitions.
func (l *Ledger) remember(o Outcome) {
	l.keep(o)
	l.fresh = append(l.fresh, o)
}

func (l *Ledger) keep(o Outcome) {
	l.outcomes[o.Op.Key] = &o
	l.keys[o.Seq] = o.Op.Key
	l.past.push(o.Seq)
}
