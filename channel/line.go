package channel

import "slices"

// line is the connections of a site that wait for one thing, in the order in which they came. A
// connection waits in one line at most: see conn.inLine.
type line struct {
	waiting []waiter
	first   int // waiting[:first] have left
}

// waiter is a conn of any types, as a line knows it.
type waiter interface{ resume() }

func (l *line) len() int { return len(l.waiting) - l.first }

// add puts c behind all others. c must not be waiting.
func (l *line) add(c waiter) {
	if l.first > 32 && 2*l.first > len(l.waiting) {
		n := copy(l.waiting, l.waiting[l.first:])
		clear(l.waiting[n:])
		l.waiting, l.first = l.waiting[:n], 0
	}
	l.waiting = append(l.waiting, c)
}

// take removes the first one; there must be one.
func (l *line) take() waiter {
	c := l.waiting[l.first]
	l.waiting[l.first] = nil
	l.first++
	return c
}

// remove removes c, which must be in the line.
func (l *line) remove(c waiter) {
	i := l.first + slices.Index(l.waiting[l.first:], c)
	copy(l.waiting[l.first+1:i+1], l.waiting[l.first:i])
	l.waiting[l.first] = nil
	l.first++
}
