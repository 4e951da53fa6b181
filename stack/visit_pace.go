package stack

// BeginTurn begins a turn. now is the clock, just read, ns. follows says that the worker has only
// run turns since the last reading: then the messages since that are timed. Only who runs w's turn
// calls it.
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

// Pass notes a reading of the clock, which is in w.Now. The messages since the last reading aren't
// timed, because something else took time too. Only who runs w's turn calls it.
func (w *Engine) Pass() { w.pace.Pass(w.Now, w.handled) }

// Measure notes a reading of the clock, which is in w.Now, and how long the messages since the last
// reading took: if long enough, it tells of a slow step. Only who runs w's turn calls it.
func (w *Engine) Measure() {
	n, took := w.pace.Since(w.Now, w.handled)
	w.pace.Measure(w.Now, w.handled, w.TurnTime)
	if n > 0 && took >= w.SlowStep && w.SlowStep > 0 {
		w.slow(n, took)
		w.Pass()
	}
	w.setVisitMax()
}

// readClock reads the clock in Run, if turns or steps have a limit.
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

// setVisitMax sets how many messages a visit handles at most from now on.
func (w *Engine) setVisitMax() {
	if w.visitMax = w.pace.Visit(w.Budget, w.TurnTime); w.borrower != nil {
		w.visitMax = 1
	}
}
