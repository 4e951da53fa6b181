package sent

// Requests is the requests of a client that were encoded for one connection and have no reply. What
// a client knows of a request is an item of type T. A request is
//
//	outside    with the client: Admits says whether it may go now
//	in flight  by Add, until Take or TakeID: its reply has come, or the connection is over
//
// A client that gives a request up leaves it in flight: in order, the reply must find it there, and
// by number nobody may use its number before. It is the reply's tombstone.
//
// Replies come in the order of the requests, and Take finds theirs; or each names its request by
// the number that Add returned, and TakeID does. A request may go alone: nothing else is in flight
// then.
//
// Requests belongs to one goroutine at a time. Make makes it.
type Requests[T any] struct {
	slots       []slot[T] // by number
	limit       int
	free        int32 // first of the free slots; none: all are used
	first, last int32 // the oldest and the youngest in flight, or none
	n           int   // in flight. Invariant: n + length of the free chain == len(slots) <= limit
	alone       bool  // Invariant: alone implies n == 1
}

// slot is a place for a request in flight.
type slot[T any] struct {
	item          T
	at            uint64
	since         int64
	before, after int32 // in the order of Add; of a free slot, after is the next free one
	used          bool
}

const none = -1

// Make returns Requests of which at most limit are in flight; limit is at least 1.
func Make[T any](limit int) Requests[T] {
	if limit < 1 || limit > 1<<31-1 {
		panic("sent: a limit that makes no sense")
	}
	return Requests[T]{limit: limit, free: none, first: none, last: none}
}

// Len returns how many requests are in flight.
func (r *Requests[T]) Len() int { return r.n }

// Admits reports whether one more request may be sent now. alone says whether it must go alone.
func (r *Requests[T]) Admits(alone bool) bool {
	return r.n < r.limit && !r.alone && (r.n == 0 || !alone)
}

// Add puts a request in flight, which Admits must have admitted. Its first byte is number at of the
// connection's stream; now is on the client's clock, ns. Numbers are below the limit; one is used
// again once its request was taken.
func (r *Requests[T]) Add(item T, at uint64, now int64, alone bool) (number int) {
	if !r.Admits(alone) {
		panic("sent: a request that wasn't admitted")
	}
	i := r.free
	if i == none {
		i = int32(len(r.slots))
		r.slots = append(r.slots, slot[T]{})
	} else {
		r.free = r.slots[i].after
	}
	r.slots[i] = slot[T]{item: item, at: at, since: now, before: r.last, after: none, used: true}
	if r.last == none {
		r.first = i
	} else {
		r.slots[r.last].after = i
	}
	r.last = i
	r.n++
	r.alone = alone
	return int(i)
}

// Oldest returns the request that has been in flight longest, and since when; ok is false if none
// is.
func (r *Requests[T]) Oldest() (item T, since int64, ok bool) {
	if r.first == none {
		return item, 0, false
	}
	s := &r.slots[r.first]
	return s.item, s.since, true
}

// Take takes out the oldest request; ok is false if none is in flight. at is what Add got.
func (r *Requests[T]) Take() (item T, at uint64, ok bool) {
	if r.first == none {
		return item, 0, false
	}
	item, at = r.remove(r.first)
	return item, at, true
}

// TakeID takes out the request with that number, which may come from the other end; ok is false if
// it isn't in flight.
func (r *Requests[T]) TakeID(number uint64) (item T, at uint64, ok bool) {
	if number >= uint64(len(r.slots)) || !r.slots[number].used {
		return item, 0, false
	}
	item, at = r.remove(int32(number))
	return item, at, true
}

// remove takes the request in slot i out of the order, and frees the slot.
func (r *Requests[T]) remove(i int32) (T, uint64) {
	s := &r.slots[i]
	if s.before == none {
		r.first = s.after
	} else {
		r.slots[s.before].after = s.after
	}
	if s.after == none {
		r.last = s.before
	} else {
		r.slots[s.after].before = s.before
	}
	item, at := s.item, s.at
	*s = slot[T]{after: r.free}
	r.free = i
	r.n--
	r.alone = false // if one went alone, it was this one
	return item, at
}
