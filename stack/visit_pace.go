package stack

import "math"

// pace is how often a worker that runs houses reads the clock: a read takes as long as a
// small step, or as several, so it is shared by the messages that take an eighth of a turn's
// time together, at most strideMax of them. The same number bounds a visit, next to Budget.
//
// A stride follows from what the messages since the last reading took: shorter ones at once,
// longer ones by doubling, so that among quick messages slow ones aren't forgotten at once.
// What is shorter than a stride and takes less than a turn's time says nothing, as the end of
// a turn is in it.
type pace struct {
	stride uint64 // messages from one reading to the next. Invariant: 1 <= stride <= strideMax
	next   uint64 // Engine.handled at which the clock is read next
	last   uint64 // Engine.handled at the last reading
	there  uint64 // messages handled since then in turns of others
	lastAt int64  // the last reading, ns
	until  int64  // when the turn's time is up, ns
}

const (
	// strideMax is for how many messages the clock isn't read, at most. Together they pay for
	// a reading less than a nanosecond each; slow ones that come all of a sudden are seen
	// behind them.
	strideMax = 64
	// stridesPerTurn is how many strides a turn's time has: so late it is found to be up, at
	// most, if messages keep their pace.
	stridesPerTurn = 8
)

// BeginTurn begins a turn: the clock, just read, is now. It follows the last one if the worker
// has done nothing in between but that turn: what came before now is then looked at. Only who
// runs w's turn calls it.
func (w *Engine) BeginTurn(now int64, follows bool) {
	w.Now, w.Gathers = now, false
	w.turnAt.Store(now)
	if w.Owes() {
		w.late.join(&w.later)
	}
	if p := &w.pace; follows {
		w.Measure()
	} else {
		p.stride = max(1, p.stride)
		w.Pass()
	}
	w.pace.until = later(now, w.TurnTime)
}

// Pass has what was handled since the last reading of the clock count for nothing, as others had
// the time, at one that is in w.Now. Only who runs w's turn calls it.
func (w *Engine) Pass() {
	p := &w.pace
	p.lastAt, p.last, p.there, p.next = w.Now, w.handled, 0, w.handled+p.stride
}

// Measure notes what the messages since the last reading of the clock took, at one that is in
// w.Now. Only who runs w's turn calls it.
func (w *Engine) Measure() {
	p := &w.pace
	n, took := w.handled-p.last+p.there, w.Now-p.lastAt
	if n > 0 && took >= w.SlowStep && w.SlowStep > 0 {
		w.slow(n, took)
	}
	// otherwise how long messages take here doesn't follow
	if p.there == 0 && (n >= p.stride || took >= w.TurnTime) {
		p.adapt(n, uint64(max(0, took)), uint64(w.TurnTime))
	}
	w.Pass()
	w.setVisitMax()
}

// adapt makes the stride as many messages as take a part of turn, ns, if n took so long. With a
// turn of 0 it doesn't matter how long.
func (p *pace) adapt(n, took, turn uint64) {
	stride, part := uint64(strideMax), turn/stridesPerTurn
	// otherwise any n are quick enough, and the product might overflow
	if turn > 0 && part/strideMax < took {
		stride = part * n / took
	}
	p.stride = max(1, min(stride, 2*p.stride, strideMax))
}

// readClock reads the clock in Run, if anybody wants to know.
//
//go:noinline
func (w *Engine) readClock() {
	if w.TurnTime <= 0 && w.SlowStep <= 0 {
		w.pace.next = math.MaxUint64
		return
	}
	w.Now = w.Driver.Clock()
	w.Measure()
}

// overtime reports whether the turn's time is up, by the clock as last read.
func (w *Engine) overtime() bool { return w.TurnTime > 0 && w.Now >= w.pace.until }

// setVisitMax says how many messages a visit handles from now on.
func (w *Engine) setVisitMax() {
	switch {
	case w.borrower != nil:
		w.visitMax = 1
	case w.TurnTime <= 0 || w.pace.stride == strideMax:
		w.visitMax = w.Budget
	default:
		w.visitMax = max(1, min(w.Budget, int(w.pace.stride)))
	}
}
