package ledger

// Take returns what was changed since it was last called, nil if nothing was, and forgets what is
// beyond the number that is kept. Who can't write the change throws the ledger away.
func (l *Ledger) Take() *Change {
	if len(l.fresh) == 0 {
		return nil
	}
	c := &Change{Seq: l.seq, Outcomes: l.fresh}
	for sku := range l.changedItems {
		c.Items = append(c.Items, *l.items[sku])
	}
	for number := range l.changedReservations {
		c.Reservations = append(c.Reservations, *l.reservations[number])
	}
	l.forgetReservations(c)
	l.forgetOutcomes(c)
	l.fresh = nil
	clear(l.changedItems)
	clear(l.changedReservations)
	return c
}

// forgetReservations leaves one that stands in the change to a later one: no row is
// written and removed in one write.
func (l *Ledger) forgetReservations(c *Change) {
	for l.ended.len() > l.retain && !l.changedReservations[l.ended.first()] {
		number := l.ended.pop()
		delete(l.reservations, number)
		c.Forget = append(c.Forget, number)
	}
}

// forgetOutcomes leaves those of the change to a later one.
func (l *Ledger) forgetOutcomes(c *Change) {
	for l.past.len() > l.retain && l.past.first() < c.Outcomes[0].Seq {
		seq := l.past.pop()
		delete(l.outcomes, l.keys[seq])
		delete(l.keys, seq)
		c.ForgetUpTo = seq
	}
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
