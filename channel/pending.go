package channel

import "github.com/stackhouse-go/stackhouse/stack"

// pending is asks that wait for a connection, in the order in which they came. The slice is used
// again and again: it grows to the largest number that ever waited.
type pending struct {
	asks  []*stack.Stack
	first int // the oldest, if there is one
	n     int
}

func (q *pending) len() int { return q.n }

func (q *pending) push(s *stack.Stack) {
	if q.n == len(q.asks) {
		q.grow()
	}
	q.asks[(q.first+q.n)%len(q.asks)] = s
	q.n++
}

//go:noinline
func (q *pending) grow() {
	larger := make([]*stack.Stack, max(16, 2*len(q.asks)))
	for i := range q.n {
		larger[i] = q.asks[(q.first+i)%len(q.asks)]
	}
	q.asks, q.first = larger, 0
}

// oldest returns the ask that has waited longest; there must be one.
func (q *pending) oldest() *stack.Stack { return q.asks[q.first] }

// pop takes out the oldest.
func (q *pending) pop() *stack.Stack {
	s := q.asks[q.first]
	q.asks[q.first] = nil
	q.first = (q.first + 1) % len(q.asks)
	q.n--
	return s
}
