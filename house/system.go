package house

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/path"
)

// System is a set of workers and the actors that live on them. A process may have several; guests
// may use all of them, while a step sends only to actors of its own. Its phases:
//
//	made      Spawn and Notice work; nothing runs
//	started   workers run
//	draining  Shutdown has begun, and its hooks run. If there are hooks, the workers of a system
//	          that was never started run from now on
//	closing   workers run in any case; actors stop: what is spawned is stopped from birth
//	closed    nothing runs; every message is answered with ErrStopped
type System struct {
	config  Config
	workers []*Worker
	guests  stack.Guests
	offload *OffloadPool  // core.Offload's
	moment  time.Duration // the constant, except in tests

	names directory // its locks are taken before mu
	kinds sync.Map  // those of actors by name, by TakeKind

	mu       sync.Mutex
	phase    phase
	houses   register
	serial   uint64         // of the last house spawned
	offloads []*OffloadPool // s.offload first
	hooks    []ShutdownHook
	ending   chan struct{} // closed when a shutdown begins: draining
	empty    chan struct{} // closed when the last house has stopped: closing
	closed   chan struct{} // closed when Shutdown's work is done
	outcome  error         // of Shutdown; written before closed is closed

	// Invariant: 0 <= longSpinners < len(workers).
	_            [128]byte
	longSpinners atomic.Int32 // workers that spin beyond shortSpin: see startLongSpin
	_            [128]byte

	idle atomic.Uint64 // a bit for each worker that has nothing to do, see share.go
	_    [120]byte
}

type phase uint8

const (
	made phase = iota
	started
	draining
	closing
)

// ErrClosed is the error of Start and NewOffloadPool once a shutdown has begun.
var ErrClosed = errors.New("house: the system was shut down")

// New makes a system; nothing runs until Start. The error says which setting makes no sense.
func New(c Config) (*System, error) {
	c, err := c.validate()
	if err != nil {
		return nil, err
	}
	s := &System{config: c, names: directory{seed: maphash.MakeSeed()}, moment: moment, ending: make(chan struct{}), closed: make(chan struct{}), empty: make(chan struct{})}
	s.guests.Origin, _ = path.NewOrigin(c.Name, c.Advertise)
	s.guests.Extensions = c.Extensions
	s.guests.AskTimeout = int64(c.AskTimeout)
	s.guests.Clock = c.Clock
	if c.Manual {
		s.guests.Await = c.Await
	}
	s.guests.Wakes = c.WakeForGuests
	s.offload = newOffloadPool(OffloadConfig{Name: "default", Goroutines: c.OffloadMax, Queue: c.OffloadQueue}, c)
	s.offloads = append(s.offloads, s.offload)
	for i := range c.Workers {
		s.workers = append(s.workers, newWorker(s, i))
	}
	return s, nil
}

// Start runs the workers. If they run already it does nothing; after a shutdown has begun it fails
// with ErrClosed. ctx is for the start only: cancelling it later changes nothing. If a worker can't
// be started, none is. Any goroutine may call it.
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
	}
	if err := s.launch(); err != nil {
		return err
	}
	s.phase = started
	return nil
}

// launch starts the workers' loops, unless they run already, or the system is Manual.
func (s *System) launch() error {
	if s.config.Manual {
		if s.config.Await != nil { // who waits runs turns
			s.guests.Started.Store(true)
		}
		return nil
	}
	if s.workers[0].poller != nil {
		return nil
	}
	if err := s.openPollers(); err != nil {
		return fmt.Errorf("house: start: %w", err)
	}
	raiseProcs(len(s.workers), s.config.SpareProcs)
	for _, w := range s.workers {
		go w.loop()
	}
	s.guests.Started.Store(true)
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
			w.poller, w.hot.Net = nil, nil
		}
	}
}

// Workers returns the system's workers, by index. Spawn on one of them to place an actor by hand.
func (s *System) Workers() []*Worker { return s.workers }

// Clock reads the system's clock, in nanoseconds: the one of core.Now. Any goroutine may call it.
func (s *System) Clock() int64 { return s.config.Clock() }

// Register puts a new house on the next worker, in turn. Only the runtime calls it: core.Spawn.
func (s *System) Register(h *stack.House, make stack.Factory) *stack.House {
	return s.register(h, make, nil)
}

// register gives a new house an owner, w or the next in turn. If its name is taken it returns the
// house that has it instead, and if there is no room in its quota, h.
func (s *System) register(h *stack.House, make stack.Factory, w *Worker) (taken *stack.House) {
	if h.Name() != "" {
		return s.names.claim(h, func() bool { return s.enter(h, make, w) })
	}
	s.enter(h, make, w)
	return nil
}

// enter gives h its number and its owner and puts it into the register; false: the system closes,
// and h is closed instead.
func (s *System) enter(h *stack.House, make stack.Factory, w *Worker) (lives bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	if w == nil {
		w = s.workers[s.serial%uint64(len(s.workers))]
	}
	h.Adopt(&w.hot, s.serial)
	if s.phase == closing {
		h.Close()
		return false
	}
	s.houses.add(h, make)
	return true
}

// factory returns the factory of h, which hasn't stopped.
func (s *System) factory(h *stack.House) stack.Factory {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.houses.factory(h)
}

// Find returns the house with the path, as in "/user/orders"; nil if no house has it, or it has
// stopped. Houses without a name aren't found. Any goroutine may call it.
func (s *System) Find(p path.Path) *stack.House {
	if here := s.guests.Origin; p.System() != "" && here.Below(p.Local()) != p {
		return nil
	}
	return s.names.find([]byte(p.Local()))
}

// FindTop returns the house of the actor /user/kind.id; nil if there is none. Any goroutine may
// call it; it allocates nothing.
func (s *System) FindTop(kind, id string) *stack.House { return s.names.findTop(kind, id) }

// TakeKind reports whether nobody has called it for that kind before; core.NewNamed's business.
func (s *System) TakeKind(kind string) bool {
	_, taken := s.kinds.LoadOrStore(kind, true)
	return !taken
}

// Guests returns what the goroutines share that aren't workers; the runtime's business.
func (s *System) Guests() *stack.Guests { return &s.guests }

// remove takes a stopped house out of directory and register.
func (s *System) remove(h *stack.House) {
	if h.Name() != "" {
		s.names.leave(h)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.houses.remove(h)
	if s.phase == closing && s.houses.count() == 0 {
		close(s.empty)
	}
}

// Actors returns the number of actors that haven't stopped. Any goroutine may call it.
func (s *System) Actors() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.houses.count()
}
