package channel

// quota is a site's share of Config.RequestsMax. While it is used up connections with more to ask
// aren't read; they go on in the order in which they came to that.
//
// Invariant: if somebody waits and there is room, somebody was woken and is on the way to look.
type quota struct {
	max, used int // requests in flight, without a result
	line      line
	woken     waiter // nil: nobody is on the way
}

// acquire counts a request that is to have a result, release one that has it, or is put aside.
func (q *quota) acquire() { q.used++ }

func (q *quota) release() {
	q.used--
	q.wakeNext()
}

// full reports whether c can't begin another request: others, too, may come first.
func (q *quota) full(c waiter) bool { return q.room(c) <= 0 }

// room is how many requests c may begin.
func (q *quota) room(c waiter) int {
	if q.woken != c && (q.woken != nil || q.line.len() > 0) {
		return 0
	}
	return q.max - q.used
}

// wait has c resume when it can. It must not be waiting.
func (q *quota) wait(c waiter) {
	q.line.add(c)
	q.wakeNext()
}

// wakeNext has the first in the line go on, if there is room and nobody is about to use it.
func (q *quota) wakeNext() {
	if q.woken != nil || q.used >= q.max || q.line.len() == 0 {
		return
	}
	q.woken = q.line.take()
	q.woken.resume()
}

// pass has the next one go on, if c was woken: it has looked.
func (q *quota) pass(c waiter) {
	if q.woken == c {
		q.woken = nil
		q.wakeNext()
	}
}
