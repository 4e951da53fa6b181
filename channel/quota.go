package channel

// quota is a site's share of Config.RequestsMax. While it is used up, connections with more
// requests aren't read; they wait in the line and go on in its order.
//
// Invariant: if a connection waits and there is room, one was woken and hasn't called pass yet.
type quota struct {
	max, used int // requests in flight, without a result
	line      line
	woken     waiter // out of the line, and to use the room next; nil: none
}

// acquire counts a request that is to have a result; release stops counting one that has its
// result, is held back, or has offered a part.
func (q *quota) acquire() { q.used++ }

func (q *quota) release() {
	q.used--
	q.wakeNext()
}

// full reports whether c can't begin another request, for want of room or because others come
// first.
func (q *quota) full(c waiter) bool { return q.room(c) <= 0 }

// room is how many requests c may begin.
func (q *quota) room(c waiter) int {
	if q.woken != c && (q.woken != nil || q.line.len() > 0) {
		return 0
	}
	return q.max - q.used
}

// wait puts c into the line; its resume is called when it may go on. It must not be waiting.
func (q *quota) wait(c waiter) {
	q.line.add(c)
	q.wakeNext()
}

// wakeNext resumes the first in the line, if there is room and none was woken before it.
func (q *quota) wakeNext() {
	if q.woken != nil || q.used >= q.max || q.line.len() == 0 {
		return
	}
	q.woken = q.line.take()
	q.woken.resume()
}

// pass resumes the next one, if c was woken: c has used the room that it could.
func (q *quota) pass(c waiter) {
	if q.woken == c {
		q.woken = nil
		q.wakeNext()
	}
}
