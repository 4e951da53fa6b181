package pace

import "math"

const (
	// Max is for how many messages the clock isn't read, at most. Together they pay for a
	// reading less than a nanosecond each; slow ones that come all of a sudden are seen behind
	// them.
	Max = 64
	// stridesPerTurn is how many strides a turn's time has: so late it is found to be up, at
	// most, if messages keep their pace.
	stridesPerTurn = 8
)

// Pace is when to read the clock. Messages are counted by its worker, who is its owner: handled is
// how many it ever had. The zero Pace reads it for each message.
type Pace struct {
	Next uint64 // handled at which the clock is read next

	stride uint64 // messages from one reading to the next. Invariant: stride <= Max
	last   uint64 // handled at the last reading
	there  uint64 // messages handled since then in turns of others
	lastAt int64  // the last reading, ns
}

// Never has the clock not be read again, until Pass.
func (p *Pace) Never() { p.Next = math.MaxUint64 }

// Stride returns how many messages there are from one reading to the next, from 1 to Max.
func (p *Pace) Stride() int { return int(max(1, p.stride)) }

// Pass has what was handled since the last reading count for nothing, as others had the time, at
// one that says now, ns.
func (p *Pace) Pass(now int64, handled uint64) {
	p.stride = max(1, p.stride)
	p.lastAt, p.last, p.there, p.Next = now, handled, 0, handled+p.stride
}

// Since returns how many messages there were since the last reading, and how long they took, ns,
// by one that says now.
func (p *Pace) Since(now int64, handled uint64) (n uint64, took int64) {
	return handled - p.last + p.there, now - p.lastAt
}

// Measure is Pass that learns from what the messages took, where a turn has so long, ns. With a
// turn of 0 it doesn't matter how long messages take.
func (p *Pace) Measure(now int64, handled uint64, turn int64) {
	// otherwise how long messages take here doesn't follow
	if n, took := p.Since(now, handled); p.there == 0 && (n >= p.stride || took >= turn) {
		p.adapt(n, uint64(max(0, took)), uint64(turn))
	}
	p.Pass(now, handled)
}

// adapt makes the stride as many messages as take a part of turn, ns, if n took so long.
func (p *Pace) adapt(n, took, turn uint64) {
	stride, part := uint64(Max), turn/stridesPerTurn
	// otherwise any n are quick enough, and the product might overflow
	if turn > 0 && part/Max < took {
		stride = part * n / took
	}
	p.stride = max(1, min(stride, 2*p.stride, Max))
}

// Assisted notes that p's worker ran turns of the one whose pace other is, which had handled so
// many before and has handled so many now: p reads the clock behind them, as behind messages of
// its own.
func (p *Pace) Assisted(other *Pace, before, handled uint64) {
	if other.last != before { // the clock was read there
		p.lastAt = other.lastAt
	}
	p.there += handled - other.last
}
