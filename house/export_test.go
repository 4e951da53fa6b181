package house

import (
	"runtime"
	"time"

	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// LongSpinners returns how many workers spin beyond 5 µs.
func (s *System) LongSpinners() int { return int(s.longSpinners.Load()) }

// SetMoment has what a shutdown tells to end have so long for that, at least.
func (s *System) SetMoment(d time.Duration) { s.moment = d }

// AwaitWorkers waits until all workers have left, abandoned ones too.
func (s *System) AwaitWorkers() {
	for _, w := range s.workers {
		<-w.gone
	}
}

// TrimOffloads waits until the goroutines of all pools are idle, has those end that weren't
// needed, and waits until each pool that has any has so many left.
func (s *System) TrimOffloads(left int) {
	for _, p := range s.pools() {
		p.await(func() bool { return len(p.idle) == len(p.runners) })
	}
	s.trimOffloads()
	for _, p := range s.pools() {
		p.await(func() bool { return len(p.runners) <= left })
	}
}

func (p *OffloadPool) await(cond func() bool) {
	for {
		p.mu.Lock()
		ok := cond()
		p.mu.Unlock()
		if ok {
			return
		}
		runtime.Gosched()
	}
}

// Held is what a part of a system has in use.
type Held struct {
	Armed int // timers
	Made  int // pooled objects that exist
	Out   int // of them, that are taken, or on their way home
}

// Add adds what another part has.
func (h *Held) Add(other Held) {
	h.Armed += other.Armed
	h.Made += other.Made
	h.Out += other.Out
}

func (h *Held) count(all []pool.Usage) {
	for _, u := range all {
		h.Made += u.Made
		h.Out += u.Made - u.Free
	}
}

// Holds returns what the worker has that runs s.
func Holds(s stack.Running) (h Held) {
	w := stack.Of(s).Engine()
	h.Armed = (*Worker)(w.Driver.(*driver)).wheel.Len()
	h.count(w.Shard.Usage())
	return h
}

// GuestsHold returns what guests have.
func (s *System) GuestsHold() (h Held) {
	h.count(s.guests.Pools.Usage())
	return h
}

// Names returns how many names are taken.
func (s *System) Names() (n int) {
	for i := range s.names.stripes {
		s.names.stripes[i].mu.RLock()
		n += len(s.names.stripes[i].houses)
		s.names.stripes[i].mu.RUnlock()
	}
	return n
}

// KeepBusy has all workers nap, as if the network kept them busy for long. It comes before Start.
func (s *System) KeepBusy() {
	for _, w := range s.workers {
		w.eventful = 1 << 30
	}
}
