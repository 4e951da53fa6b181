package ledger

// ItemsMax is how many items a partition has at most: each takes some 200 bytes.
const ItemsMax = 1_000_000

// Ledger is a partition in memory.
type Ledger struct {
	seq          int64
	items        map[string]*Item
	reservations map[int64]*Reservation
	outcomes     map[string]*Outcome // by key

	retain int       // how many of each of the following are kept
	ended  fifo      // reservations that are confirmed or released
	past   fifo      // Seq of outcomes
	keys   keysBySeq // of past

	// What Take returns next.
	changedItems        map[string]bool
	changedReservations map[int64]bool
	fresh               []Outcome
}

// keysBySeq finds the key of an outcome.
type keysBySeq map[int64]string

// Apply does one operation. The error is a Refusal. An operation with the key of an earlier one
// gets that one's answer, if it is the same request.
func (l *Ledger) Apply(op Op) (Answer, error) {
	switch op.Kind {
	case LookItem:
		return l.lookItem(op)
	case LookReservation:
		return l.lookReservation(op)
	}
	if o := l.outcomes[op.Key]; o != nil {
		if o.Op != op {
			return Answer{}, KeyReused
		}
		return o.Answer, nil
	}
	answer, err := l.change(op)
	if err != nil {
		return Answer{}, err
	}
	l.remember(Outcome{Seq: l.seq, Op: op, Answer: answer})
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
	item := l.items[op.SKU]
	if item == nil {
		return Answer{}, UnknownItem
	}
	return Answer{Item: *item}, nil
}

func (l *Ledger) lookReservation(op Op) (Answer, error) {
	r := l.reservations[op.Number]
	if r == nil {
		return Answer{}, UnknownReservation
	}
	return Answer{Reservation: *r}, nil
}

func (l *Ledger) setStock(op Op) (Answer, error) {
	item := l.items[op.SKU]
	switch {
	case item == nil && len(l.items) >= ItemsMax:
		return Answer{}, TooManyItems
	case item == nil:
		item = &Item{SKU: op.SKU}
		l.items[op.SKU] = item
	case op.Quantity < item.Held+item.Confirmed:
		return Answer{}, StockBelowReserved
	}
	item.Stock = op.Quantity
	l.seq++
	l.changedItems[item.SKU] = true
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
	item.Held += op.Quantity
	l.seq++
	r := &Reservation{Number: l.seq, SKU: op.SKU, Quantity: op.Quantity, State: Held}
	l.reservations[r.Number] = r
	l.changed(item, r)
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
	item := l.items[r.SKU]
	item.Held -= r.Quantity
	if r.State = Released; op.Kind == Confirm {
		r.State = Confirmed
		item.Confirmed += r.Quantity
	}
	l.seq++
	l.ended.push(r.Number)
	l.changed(item, r)
	return Answer{Reservation: *r}, nil
}

func (l *Ledger) changed(item *Item, r *Reservation) {
	l.changedItems[item.SKU] = true
	l.changedReservations[r.Number] = true
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
