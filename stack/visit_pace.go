package stack

import "github.com/stackhouse-go/stackhouse/stack/pace"

// BeginTurn begins a turn: the clock, just read, is now. It follows the last one if the worker
// has done nothing in between but that turn: what came before now is then looked at. Only who
// runs w's turn calls it.
func (w *Engine) BeginTurn(now int64, follows bool) {
	w.Now, w.Gathers = now, false
	w.turnAt.Store(now)
	if w.Owes() {
		w.late.Join(&w.later)
	}
	if follows {
		w.Measure()
	} else {
		w.Pass()
	}
}

// Pass has what was handled since the last reading of the clock count for nothing, as others had
// the time, at one that is in w.Now. Only who runs w's turn calls it.
func (w *Engine) Pass() { w.pace.Pass(w.Now, w.handled) }

// Measure notes what the messages since the last reading of the clock took, at one that is in
// w.Now. Only who runs w's turn calls it.
func (w *Engine) Measure() {
	n, took := w.pace.Since(w.Now, w.handled)
	w.pace.Measure(w.Now, w.handled, w.TurnTime)
	if n > 0 && took >= w.SlowStep && w.SlowStep > 0 {
		w.slow(n, took)
		w.Pass()
	}
	w.setVisitMax()
}

// readClock reads the clock in Run, if anybody wants to know.
//
//go:noinline
func (w *Engine) readClock() {
	if w.TurnTime <= 0 && w.SlowStep <= 0 {
		w.pace.Never()
		return
	}
	w.Now = w.Driver.Clock()
	w.Measure()
}

// overtime reports whether the turn's time is up, by the clock as last read.
func (w *Engine) overtime() bool { return w.TurnTime > 0 && w.Now-w.turnAt.Load() >= w.TurnTime }

// setVisitMax says how many messages a visit handles from now on.
func (w *Engine) setVisitMax() {
	switch {
	case w.borrower != nil:
		w.visitMax = 1
	case w.TurnTime <= 0 || w.pace.Stride() == pace.Max:
		w.visitMax = w.Budget
	default:
		w.visitMax = max(1, min(w.Budget, w.pace.Stride()))
	}
}
