package siblings

// Links are a member's neighbours in its List: a field of the member. Zero in none.
type Links[T any] struct{ prev, next *T }

// Next returns the member that was added next; nil: none was.
func (n *Links[T]) Next() *T { return n.next }

// List is members, in the order in which they were added. The zero List is empty. One goroutine at
// a time may use a list and the links of its members.
type List[T any] struct{ first, last *T }

// First returns the member that was added first; nil: the list is empty.
func (l *List[T]) First() *T { return l.first }

// Add appends t, which is in no list. links returns the Links of a member.
func (l *List[T]) Add(t *T, links func(*T) *Links[T]) {
	links(t).prev = l.last
	if l.last == nil {
		l.first = t
	} else {
		links(l.last).next = t
	}
	l.last = t
}

// Remove takes t out, which is in the list.
func (l *List[T]) Remove(t *T, links func(*T) *Links[T]) {
	n := links(t)
	if n.prev == nil {
		l.first = n.next
	} else {
		links(n.prev).next = n.next
	}
	if n.next == nil {
		l.last = n.prev
	} else {
		links(n.next).prev = n.prev
	}
	*n = Links[T]{}
}
