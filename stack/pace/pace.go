package pace

import "math"

const (
	// Max is the longest stride. A reading then costs each message less than a nanosecond, and
	// suddenly slow messages are noticed after at most so many.
	Max = 64
	// stridesPerTurn is how many strides a turn's time has. If messages keep their pace, the end
	// of the time is noticed at most one stride late.
	stridesPerTurn = 8
)

// Pace says when to read the clock. It belongs to one worker, which counts the messages that it has
// ever handled: that number is the argument handled. With the zero Pace the clock is read for each
// message.
type Pace struct {
	Next uint64 // the clock is read next when handled has reached this

	stride uint64 // messages from one reading to the next. Invariant: stride <= Max
	last   uint64 // handled at the last reading
	there  uint64 // messages since then in turns that the worker ran for other workers
	lastAt int64  // the last reading, ns
}

// Never keeps the clock from being read, until Pass or Measure.
func (p *Pace) Never() { p.Next = math.MaxUint64 }

// Stride returns how many messages there are from one reading to the next, from 1 to Max.
func (p *Pace) Stride() int { return int(max(1, p.stride)) }

// Pass notes a reading of the clock that says now, ns. The messages since the last one don't change
// the stride, because something else took time too.
func (p *Pace) Pass(now int64, handled uint64) {
	p.stride = max(1, p.stride)
	p.lastAt, p.last, p.there, p.Next = now, handled, 0, handled+p.stride
}

// Since returns how many messages there were since the last reading, and how long they took, ns, by
// a reading that says now.
func (p *Pace) Since(now int64, handled uint64) (n uint64, took int64) {
	return handled - p.last + p.there, now - p.lastAt
}

// Measure is Pass, but adapts the stride to how long the messages took. turn is the time of a turn,
// ns; 0: it has no limit, and the stride grows to Max.
func (p *Pace) Measure(now int64, handled uint64, turn int64) {
	// only such readings tell how long this worker's messages take
	if n, took := p.Since(now, handled); p.there == 0 && (n >= p.stride || took >= turn) {
		p.adapt(n, uint64(max(0, took)), uint64(turn))
	}
	p.Pass(now, handled)
}

// adapt sets the stride to as many messages as take an eighth of turn, ns, if n messages took so
// long, ns. It at most doubles.
func (p *Pace) adapt(n, took, turn uint64) {
	stride, part := uint64(Max), turn/stridesPerTurn
	// else Max messages are quick enough even if n is 1, and the product might overflow
	if turn > 0 && part/Max < took {
		stride = part * n / took
	}
	p.stride = max(1, min(stride, 2*p.stride, Max))
}

// Assisted notes that p's worker ran turns of another worker, whose pace is other, and which has
// raised its number of handled messages from before to handled. These messages count for the next
// reading as messages of p's worker do.
func (p *Pace) Assisted(other *Pace, before, handled uint64) {
	if other.last != before { // the clock was read there
		p.lastAt = other.lastAt
	}
	p.there += handled - other.last
}
