package deferred

// Work is deferred work, a field of the object that it is about. It must not be copied.
type Work struct {
	Run  func(d *Work) // does the work; d is the Work itself
	next *Work
	set  bool // it is in a Queue
}

// Queue belongs to one worker. The zero Queue is empty.
type Queue struct{ first, last *Work }

// Any reports whether there is work.
func (q *Queue) Any() bool { return q.first != nil }

// Add appends d, unless it is in this queue or another one.
func (q *Queue) Add(d *Work) {
	if d.set {
		return
	}
	d.set = true
	if q.first == nil {
		q.first = d
	} else {
		q.last.next = d
	}
	q.last = d
}

// Join moves all work of p behind that of q.
func (q *Queue) Join(p *Queue) {
	if q.first == nil {
		q.first = p.first
	} else {
		q.last.next = p.first
	}
	q.last = p.last
	*p = Queue{}
}

// Run does all work, including work added meanwhile.
func (q *Queue) Run() {
	for q.first != nil {
		d := q.first
		q.first = d.next
		d.next, d.set = nil, false
		d.Run(d)
	}
	q.last = nil // not to keep the last Work's connection alive
}
