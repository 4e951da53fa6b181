package ledger

import "time"

// dueMax is how many holds, reservations and outcomes one write ends or forgets at most: more than
// a round of requests adds, so that it keeps up, and few enough for a store whose process was away
// for a day.
const dueMax = 4096

// Pass sets the time, in ns since 1970, and releases holds whose time is up. A time that lies
// before the last one is that one.
func (l *Ledger) Pass(now int64) {
	l.now = max(l.now, now)
	for released := 0; released < dueMax && l.holds.len() > 0; l.holds.pop() {
		r := l.reservations[l.holds.first()]
		if r == nil || r.State != Held {
			continue
		}
		if !l.over(r.At, l.limits.Hold) {
			return
		}
		l.endHeld(r, Released)
		released++
	}
}

// Due reports whether Take would return something though nothing is applied.
func (l *Ledger) Due() bool {
	return len(l.oldItems) > 0 || l.dueEnded() || l.dueOutcome()
}

func (l *Ledger) over(at int64, after time.Duration) bool { return l.now-at >= int64(after) }

// dueEnded reports whether the next reservation may be forgotten. One that stands in the change is
// left to a later one: no row is written and removed in one write.
func (l *Ledger) dueEnded() bool {
	if l.ended.len() == 0 {
		return false
	}
	r := l.reservations[l.ended.first()]
	_, changed := l.oldReservations[r.Number]
	return !changed && l.over(r.At, l.limits.Keep)
}

// dueOutcome reports whether the next outcome may be forgotten; those of the change are left to a
// later one.
func (l *Ledger) dueOutcome() bool {
	if l.past.len() == 0 || len(l.fresh) > 0 && l.past.first() >= l.fresh[0].Seq {
		return false
	}
	return l.over(l.outcomes[l.keys[l.past.first()]].At, l.limits.Keep)
}
