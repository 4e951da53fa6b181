package house

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
)

// System is a set of workers and the actors that live on them. A process may
// have many; messages cross from one to another like between workers.
//
//	made      Spawn and Notice work; nothing runs
//	started   workers run
//	draining  Shutdown began: what OnShutdown registered runs
//	closing   actors stop: what is spawned is stopped from birth
//	closed    nothing runs; every message is answered with ErrStopped
type System struct {
	config  Config
	workers []*Worker
	guests  stack.Guests
	offload offload

	mu      sync.Mutex
	phase   phase
	houses  register
	serial  uint64 // of the last house spawned
	drains  []func(context.Context) error
	empty   chan struct{} // closing: closed when the last house has stopped
	closed  chan struct{} // closed: Shutdown's work is over
	outcome error         // of Shutdown; written before closed is closed

	// Invariant: 0 <= longSpinners < len(workers).
	_            [128]byte
	longSpinners atomic.Int32 // workers that spin beyond shortSpin: startLongSpin and endLongSpin
	_            [128]byte
}

type phase uint8

const (
	made phase = iota
	started
	draining
	closing
)

// ErrClosed is what Start returns after Shutdown.
var ErrClosed = errors.New("house: the system was shut down")

// New makes a system; nothing runs until Start.
func New(c Config) (*System, error) {
	c, err := c.validate()
	if err != nil {
		return nil, err
	}
	s := &System{config: c, closed: make(chan struct{}), empty: make(chan struct{})}
	s.guests.AskTimeout = int64(c.AskTimeout)
	s.guests.Clock = c.Clock
	s.guests.Wakes = c.WakeForGuests
	s.offload.init(c)
	for i := range c.Workers {
		s.workers = append(s.workers, newWorker(s, i))
	}
	return s, nil
}

// Start runs the workers. It is idempotent. The context limits the start only:
// cancelling it later changes nothing. If a worker can't be started, none is.
func (s *System) Start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.phase {
	case started:
		return nil
	case draining, closing:
		return ErrClosed
	}
	if !s.config.Manual {
		if err := checkCPUs(s.config.CPUs); err != nil {
			return fmt.Errorf("house: start: %w", err)
		}
		if err := s.openPollers(); err != nil {
			return fmt.Errorf("house: start: %w", err)
		}
		raiseProcs(len(s.workers), s.config.SpareProcs)
		for _, w := range s.workers {
			go w.loop()
		}
	}
	s.phase = started
	return nil
}

func (s *System) openPollers() error {
	for _, w := range s.workers {
		p, err := netio.Open()
		if err != nil {
			s.closePollers()
			return err
		}
		w.poller = p
		w.hot.Net = p
	}
	return nil
}

func (s *System) closePollers() {
	for _, w := range s.workers {
		if w.poller != nil {
			w.poller.Close()
		}
	}
}

// Workers returns the system's workers. Spawn on one to place an actor by hand.
func (s *System) Workers() []*Worker { return s.workers }

// Clock reads the system's clock, in nanoseconds: what core.Now is about. Any
// goroutine may call it.
func (s *System) Clock() int64 { return s.config.Clock() }

// Settle puts a new house on the workers in turn: core.Spawn(system, …).
func (s *System) Settle(h *stack.House) { s.settle(h, nil) }

func (s *System) settle(h *stack.House, w *Worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	if w == nil {
		w = s.workers[s.serial%uint64(len(s.workers))]
	}
	h.Adopt(&w.hot, s.serial)
	if s.phase == closing {
		h.Close()
		return
	}
	s.houses.add(h)
}

// remove forgets a stopped house.
func (s *System) remove(h *stack.House) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.houses.remove(h)
	if s.phase == closing && s.houses.count() == 0 {
		close(s.empty)
	}
}

// Actors returns the number of actors that haven't stopped.
func (s *System) Actors() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.houses.count()
}

// OnShutdown has f called when Shutdown begins, before actors stop: the place to
// stop accepting and to finish what is in flight. The last registered is called
// first.
func (s *System) OnShutdown(f func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drains = append(s.drains, f)
}

// Shutdown drains, stops every actor, ends the workers and releases all. It is
// idempotent: every call waits for the end of the first and returns its
// outcome, or the error of its own context. If ctx ends first the outcome names what was
// abandoned. In a step it fails with ErrBlockingOnWorker.
func (s *System) Shutdown(ctx context.Context) error {
	if stack.OnWorker() {
		return stack.ErrBlockingOnWorker
	}
	s.mu.Lock()
	first := s.phase < draining
	ran := s.phase == started && !s.config.Manual
	drains := s.drains
	if first {
		s.phase = draining
	}
	s.mu.Unlock()
	if first {
		s.outcome = s.shutdown(ctx, drains, ran)
		close(s.closed)
		return s.outcome
	}
	select {
	case <-s.closed:
		return s.outcome
	case <-ctx.Done():
		return ctx.Err()
	}
}
