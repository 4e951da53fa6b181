package house

import "math/bits"

// A worker whose actors wait for long gives some to a worker that has nothing to do. Work that
// is soon done stays where it is: to wake a thread, and to talk to it from then on, costs more
// than waiting for a moment. So
//
//   - a worker that spins for longer than shortSpin, or is about to park, offers its help, by its
//     bit in System.idle, and takes the offer back when there is something to do. One that spins
//     finds what it is given as it finds mail;
//   - a worker whose first waiting actor has waited for ShareAfter, at the beginning of several
//     turns in a row, claims such a bit and gives half of the actors that wait to that worker. It
//     does so only if the next ones are likely to wait for half of that, going by the last turn,
//     or if the first has waited very long: a long queue that is soon done, behind one long
//     visit, stays.
//
// Workers don't take houses: only the owner of a house gives it away (stack/send_handover.go). A
// worker that asked for houses would have to guess which other one is going to be loaded.

// shareTurns is how many turns in a row must begin with a backlog: a single one may come from a
// pause that the operating system made.
const shareTurns = 3

// idleMax is how many workers can offer help: the bits of System.idle.
const idleMax = 64

// offerHelp says that the worker has nothing to do, and takes actors of others.
func (w *Worker) offerHelp() {
	if bit := uint64(1) << w.hot.Index; w.hot.Index < idleMax && w.system.config.ShareAfter > 0 && w.system.idle.Load()&bit == 0 {
		w.system.idle.Or(bit)
	}
}

// endHelp takes the offer back, if no worker has claimed it.
func (w *Worker) endHelp() {
	if bit := uint64(1) << w.hot.Index; w.hot.Index < idleMax && w.system.idle.Load()&bit != 0 {
		w.system.idle.And(^bit)
	}
}

// claimHelp returns a worker that offers help, and takes its offer; nil if there is none. It passes
// over a worker whose turn is borrowed, which wouldn't be woken.
func (s *System) claimHelp() *Worker {
	for left := s.idle.Load(); left != 0; left &= left - 1 {
		w := s.workers[bits.TrailingZeros64(left)]
		if bit := uint64(1) << w.hot.Index; !w.hot.Borrowed() && s.idle.And(^bit)&bit != 0 {
			return w
		}
	}
	return nil
}

// longWaits: an actor that has waited for longWaits times ShareAfter moves even if it isn't likely
// to wait again.
const longWaits = 4

// recurs reports whether the last of so many ready houses will wait for limit, ns, if each turn
// takes as long as the last one, at most limit, and visits as many of them.
func recurs(houses int, visited uint64, took, limit int64) bool {
	turns := (uint64(houses) + visited) / max(1, visited) // a part of one, too
	return int64(turns)*min(took, limit) >= limit
}

// share gives houses to a worker that has nothing to do, if this one has had too much to do for
// several turns. It is called at the beginning of each turn, just after the clock was read; last is
// when the last turn began.
func (w *Worker) share(last int64) {
	after := int64(w.system.config.ShareAfter)
	if after < 0 {
		return
	}
	before := w.visited
	waiting, visited := w.hot.Cold()
	w.visited = visited
	if backlog := w.hot.Backlog(); backlog < after || backlog < longWaits*after && !recurs(waiting, visited-before, w.hot.Now-last, after/2) {
		w.behind = 0
		return
	}
	if w.behind++; w.behind < shareTurns || w.system.idle.Load() == 0 {
		return
	}
	n := w.hot.Surplus()
	if n == 0 {
		w.behind = 0 // what stays is looked at again in some turns
		return
	}
	if to := w.system.claimHelp(); to != nil {
		w.behind = 0
		w.hot.HandOver(&to.hot, n)
	}
}
