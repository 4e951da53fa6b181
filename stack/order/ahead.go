package order

// Ahead is a Mailbox with calls that go ahead of all others in it, in their order.
type Ahead[C any] struct {
	Mailbox[C]
	link  Link[C]
	first queue[C]
	n     int // in first
}

// NewAhead returns an Ahead of the calls in m.
func NewAhead[C any](link Link[C], m Mailbox[C]) *Ahead[C] { return &Ahead[C]{Mailbox: m, link: link} }

// PushAhead adds a call behind those that go ahead.
func (a *Ahead[C]) PushAhead(c *C) {
	a.first.push(c, a.link)
	a.n++
}

// Pop removes the next call; nil: there is none.
func (a *Ahead[C]) Pop() *C {
	if c := a.popAhead(); c != nil {
		return c
	}
	return a.Mailbox.Pop()
}

// Peek returns the call that Pop would remove, or nil.
func (a *Ahead[C]) Peek() *C {
	if a.first.head != nil {
		return a.first.head
	}
	return a.Mailbox.Peek()
}

// Drain is Pop in any order but for those that go ahead.
func (a *Ahead[C]) Drain() *C {
	if c := a.popAhead(); c != nil {
		return c
	}
	return a.Mailbox.Drain()
}

// Len returns the number of calls.
func (a *Ahead[C]) Len() int { return a.n + a.Mailbox.Len() }

func (a *Ahead[C]) popAhead() *C {
	c := a.first.pop(a.link)
	if c != nil {
		a.n--
	}
	return c
}
