package cluster

// debtor is something that owes the other end frames, which wait for room in the track's stream. It
// owes each at most once, so what waits is bounded by what there is.
type debtor interface {
	links() *debt
	// pay writes what is owed. It reports false if there was no room for it: then it is called again
	// once there is more.
	pay() bool
}

// debt is a debtor's place among those of its track.
type debt struct {
	next debtor
	owed bool
}

func (d *debt) links() *debt { return d }

// debts are debtors in order.
type debts struct{ first, last debtor }

func (q *debts) push(d debtor) {
	l := d.links()
	if l.owed {
		return
	}
	l.owed = true
	if q.first == nil {
		q.first = d
	} else {
		q.last.links().next = d
	}
	q.last = d
}

func (q *debts) pop() debtor {
	d := q.first
	l := d.links()
	q.first, l.next, l.owed = l.next, nil, false
	return d
}

// pay has the first one pay. It reports false if there was no room: then it stays the first.
func (q *debts) pay() bool {
	d := q.pop()
	if d.pay() {
		return true
	}
	l := d.links()
	l.next, l.owed = q.first, true
	if q.first == nil {
		q.last = d
	}
	q.first = d
	return false
}
