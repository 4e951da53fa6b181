package order

// Classes is how many classes there are.
const Classes = 8

// Priority is one queue for each class. The lowest class goes first, and calls of one class in
// order of arrival.
type Priority[C any] struct {
	link  Link[C]
	class func(*C) int
	lanes [Classes]queue[C]
	n     int
}

// NewPriority returns an empty Priority. class returns the class of a call, 0 to Classes-1; lower
// numbers count as 0, higher ones as Classes-1. It may panic: then the call wasn't pushed.
func NewPriority[C any](link Link[C], class func(*C) int) *Priority[C] {
	return &Priority[C]{link: link, class: class}
}

// Push adds a call.
func (p *Priority[C]) Push(c *C) {
	p.lanes[min(max(p.class(c), 0), Classes-1)].push(c, p.link)
	p.n++
}

// Pop removes the next call; nil: there is none.
func (p *Priority[C]) Pop() *C {
	if l := p.first(); l != nil {
		p.n--
		return l.pop(p.link)
	}
	return nil
}

// Peek returns the call that Pop would remove.
func (p *Priority[C]) Peek() *C {
	if l := p.first(); l != nil {
		return l.head
	}
	return nil
}

// Drain is Pop.
func (p *Priority[C]) Drain() *C { return p.Pop() }

// Len returns how many calls wait.
func (p *Priority[C]) Len() int { return p.n }

// first returns the queue of the lowest class that has calls; nil: all are empty.
func (p *Priority[C]) first() *queue[C] {
	for i := range p.lanes {
		if p.lanes[i].head != nil {
			return &p.lanes[i]
		}
	}
	return nil
}
