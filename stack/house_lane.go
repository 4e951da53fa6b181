package stack

import "github.com/stackhouse-go/stackhouse/internal/invariant"

// Lane is one queue of a house.
type Lane uint8

// The lanes. A visit takes from the last one first.
const (
	Calls   Lane = iota // asks and notices, in one lane so that a sender's order holds across both
	Replies             // answers to what the actor asked
	System              // stop, supervision
)

// queue is stacks in order of arrival, chained by next.
type queue struct{ head, tail *Stack }

// push appends s, which no chain holds: its next is nil.
func (q *queue) push(s *Stack) {
	if invariant.Enabled && s.next != nil {
		panic("stack: a stack is queued while a chain holds it")
	}
	if q.head == nil {
		q.head = s
	} else {
		q.tail.next = s
	}
	q.tail = s
}

func (q *queue) pop() *Stack {
	s := q.head
	if s != nil {
		q.head = s.next
		s.next = nil
	}
	return s
}

// circle is a queue whose last stack links to the first. It takes one word, for a lane that is
// mostly empty.
type circle struct{ last *Stack }

// push appends s, which no chain holds: its next is nil.
func (c *circle) push(s *Stack) {
	if c.last == nil {
		s.next = s
	} else {
		s.next = c.last.next
		c.last.next = s
	}
	c.last = s
}

// pushFirst puts s, which no chain holds, before all others.
func (c *circle) pushFirst(s *Stack) {
	last := c.last
	c.push(s)
	if last != nil {
		c.last = last
	}
}

func (c *circle) pop() *Stack {
	if c.last == nil {
		return nil
	}
	s := c.last.next
	if s == c.last {
		c.last = nil
	} else {
		c.last.next = s.next
	}
	s.next = nil
	return s
}

// join moves all stacks of other behind those of q.
func (q *queue) join(other *queue) {
	if other.head == nil {
		return
	}
	if q.head == nil {
		q.head = other.head
	} else {
		q.tail.next = other.head
	}
	q.tail = other.tail
	*other = queue{}
}

// popCounted removes the first call that counts in a mailbox; nil: there is none.
func (q *queue) popCounted() *Stack {
	var before *Stack
	for s := q.head; s != nil; before, s = s, s.next {
		if s.by.counts == 0 {
			continue
		}
		if before == nil {
			return q.pop()
		}
		if before.next = s.next; s.next == nil {
			q.tail = before
		}
		s.next = nil
		return s
	}
	return nil
}
