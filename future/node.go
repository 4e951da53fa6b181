package future

// Node is a promise's place in a timing wheel, or in the Queue once it is due. While it stands in a
// wheel or queue only these write its fields, on the worker that owns the promise's house; the
// fields are exported because the wheel is in a package of its own. The zero Node stands nowhere.
type Node struct {
	Prev, Next *Node
	When       int64 // nanoseconds on the system's clock; the node is due when the clock reaches it
	// 1 + index of the wheel's slot that holds it; 0 in no wheel and no queue; -1 in a Queue
	Slot int32
	// the node is not a promise's but a house's, which then looks whether it is idle; written once
	House bool
}

// DueAt sets When, in ns, of n, which stands nowhere.
func (n *Node) DueAt(when int64) { n.When = when }

// Armed reports whether the node stands in a wheel.
func (n *Node) Armed() bool { return n.Slot > 0 }

// Queued reports whether the node is due and stands in its house's Queue.
func (n *Node) Queued() bool { return n.Slot < 0 }

// Queue is the due nodes of one house, in the order in which they came due. The zero Queue is
// empty.
type Queue struct{ head, tail *Node }

// Empty reports whether no node is due.
func (q *Queue) Empty() bool { return q.head == nil }

// Push appends n. It panics if n stands in a wheel or a queue.
func (q *Queue) Push(n *Node) {
	if n.Slot != 0 {
		refusePush()
	}
	n.Slot, n.Prev, n.Next = -1, q.tail, nil
	if q.tail == nil {
		q.head = n
	} else {
		q.tail.Next = n
	}
	q.tail = n
}

// Pop removes and returns the oldest node; nil if there is none.
func (q *Queue) Pop() *Node {
	n := q.head
	if n != nil {
		q.Remove(n)
	}
	return n
}

// Remove takes n, which must stand in q, out of it.
func (q *Queue) Remove(n *Node) {
	if n.Slot >= 0 {
		refuseRemove()
	}
	if n.Prev == nil {
		q.head = n.Next
	} else {
		n.Prev.Next = n.Next
	}
	if n.Next == nil {
		q.tail = n.Prev
	} else {
		n.Next.Prev = n.Prev
	}
	n.Prev, n.Next, n.Slot = nil, nil, 0
}

//go:noinline
func refusePush() { panic("future: push of a node that is armed or queued") }

//go:noinline
func refuseRemove() { panic("future: remove of a node that is not queued") }
