package ledger

// Take returns what was changed since it was last called, nil if nothing was, and forgets what has
// been kept for its time. Who has written the change calls Stored before anything else is applied.
// Who can't write it only looks from then on.
func (l *Ledger) Take() *Change {
	if !l.Due() {
		return nil
	}
	c := &Change{Seq: l.seq, Outcomes: l.fresh}
	for sku := range l.oldItems {
		c.Items = append(c.Items, *l.items[sku])
	}
	for number := range l.oldReservations {
		c.Reservations = append(c.Reservations, *l.reservations[number])
	}
	for i := 0; i < dueMax && l.dueEnded(); i++ {
		number := l.ended.pop()
		delete(l.reservations, number)
		c.Forget = append(c.Forget, number)
	}
	for i := 0; i < dueMax && l.dueOutcome(); i++ {
		seq := l.past.pop()
		delete(l.outcomes, l.keys[seq])
		delete(l.keys, seq)
		c.ForgetUpTo = seq
	}
	l.fresh = nil
	return c
}

// Stored says that what Take returned is durable: from now on Look sees it.
func (l *Ledger) Stored() {
	clear(l.oldItems)
	clear(l.oldReservations)
}

// fifo is a queue of numbers.
type fifo struct {
	numbers []int64
	head    int // how many of numbers are gone
}

func (f *fifo) push(n int64) { f.numbers = append(f.numbers, n) }
func (f *fifo) len() int     { return len(f.numbers) - f.head }
func (f *fifo) first() int64 { return f.numbers[f.head] }

// pop moves what is left to the front when half is gone, so that a number is moved once or so.
func (f *fifo) pop() int64 {
	n := f.numbers[f.head]
	f.head++
	if f.head > len(f.numbers)/2 {
		f.numbers = f.numbers[:copy(f.numbers, f.numbers[f.head:])]
		f.head = 0
	}
	return n
}
