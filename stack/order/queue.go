package order

import "github.com/stackhouse-go/stackhouse/internal/invariant"

// Link returns the field of a call that points to the next call of its chain. The field is nil
// while no chain has the call.
type Link[C any] func(*C) **C

// queue is calls in order of arrival.
type queue[C any] struct{ head, tail *C }

func (q *queue[C]) push(c *C, link Link[C]) {
	if invariant.Enabled && *link(c) != nil {
		panic("order: a call is queued while a chain holds it")
	}
	if q.head == nil {
		q.head = c
	} else {
		*link(q.tail) = c
	}
	q.tail = c
}

func (q *queue[C]) pop(link Link[C]) *C {
	c := q.head
	if c != nil {
		next := link(c)
		q.head, *next = *next, nil
	}
	return c
}
