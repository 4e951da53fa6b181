package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
)

// Config is a Service's settings. All but Store and Partitions have defaults.
type Config struct {
	// Store has been opened for Partitions. Close closes it.
	Store      store.Store
	Partitions int
	// QueueMax is how many requests wait for a write of a partition. More are refused. 0: 1,024.
	QueueMax int
	// Hold is how long a reservation is held that nobody confirms, up to a second more. At most
	// Keep. 0: 10 min.
	Hold time.Duration
	// Keep is how long a partition remembers an outcome, and a reservation that has ended. Later a
	// repeated request counts as a new one. Times are the machine's: a clock that is set forward
	// ends them early. 0: 10 min.
	Keep time.Duration
	// OutcomesMax is how many outcomes a partition remembers at most. One more change is refused,
	// rather than that one is forgotten early: so many changes there can be in each Keep. One takes
	// 320 to 430 bytes of memory, by the length of its key and item, and each of up to twice as
	// many reservations 130 to 180. 0: 1,000,000, at most 800 MB.
	OutcomesMax int
	// Hosts is what names clients may call the service by, without ports, beside the loopback's
	// names and the addresses that it is reached at.
	Hosts []string
	// RequestLimit is how long a request takes at most. 0: 5 s.
	RequestLimit time.Duration
	// StoreLimit is how long a write takes at most; less than RequestLimit, so that clients
	// hear that the store is down, rather than nothing. 0: 2 s.
	StoreLimit time.Duration
	// LoadLimit is how long it takes at most to load a partition, all of it. 0: 30 s.
	LoadLimit time.Duration
	// Logger gets what goes wrong. nil: slog.Default().
	Logger *slog.Logger

	now func() int64 // the time of day, ns since 1970; nil: the machine's
}

func (c Config) validate() (Config, error) {
	if c.Store == nil || c.Partitions < 1 {
		return c, errors.New("service: Config has no Store, or no Partitions")
	}
	if min(c.QueueMax, c.OutcomesMax) < 0 || min(c.Hold, c.Keep, c.RequestLimit, c.StoreLimit, c.LoadLimit) < 0 {
		return c, errors.New("service: a number of Config is negative")
	}
	if c.QueueMax == 0 {
		c.QueueMax = 1024
	}
	if c.Hold == 0 {
		c.Hold = 10 * time.Minute
	}
	if c.Keep == 0 {
		c.Keep = 10 * time.Minute
	}
	if c.Hold > c.Keep {
		return c, errors.New("service: Config.Hold is more than Keep")
	}
	if c.OutcomesMax == 0 {
		c.OutcomesMax = 1_000_000
	}
	if c.RequestLimit == 0 {
		c.RequestLimit = 5 * time.Second
	}
	if c.StoreLimit == 0 {
		c.StoreLimit = min(2*time.Second, c.RequestLimit/2)
	}
	if c.LoadLimit == 0 {
		c.LoadLimit = 30 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.now == nil {
		c.now = func() int64 { return time.Now().UnixNano() }
	}
	return c, nil
}

// Service is the actors and the HTTP server.
type Service struct {
	config     Config
	system     *house.System
	partitions []member
	server     *http.Server
	lost       chan error
}

// Start loads all partitions. If the store doesn't give them within ctx it fails and has closed
// the store.
func Start(ctx context.Context, c Config) (*Service, error) {
	c, err := c.validate()
	if err != nil {
		return nil, err
	}
	// A store's call must end by its own limit, not by the ask's: that would leave its goroutine
	// behind.
	system, err := house.New(house.Config{AskTimeout: 2 * max(c.RequestLimit, c.StoreLimit, c.LoadLimit), Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	s := &Service{config: c, system: system, lost: make(chan error, 1)}
	s.server = s.newServer()
	system.OnShutdown(s.server.Shutdown) // the last requests need the actors
	if err := system.Start(ctx); err != nil {
		return nil, errors.Join(err, c.Store.Close())
	}
	schedules := core.Spawn(system, func() *core.Schedules { return core.NewSchedules(nil) })
	for i := range c.Partitions {
		s.partitions = append(s.partitions, spawn(system, c, i, s.lose))
		if _, err := core.Ask(ctx, core.SchedulesAdd.At(schedules), s.partitions[i].runs); err != nil {
			return nil, errors.Join(err, s.Close(ctx))
		}
	}
	for i := range s.partitions {
		if err := s.awaitLoad(ctx, i); err != nil {
			return nil, errors.Join(err, s.Close(ctx))
		}
	}
	return s, nil
}

// lose tells of the first that is lost.
func (s *Service) lose(err error) {
	select {
	case s.lost <- err:
	default:
	}
}

// awaitLoad asks for an item: the partition answers when it has its ledger.
func (s *Service) awaitLoad(ctx context.Context, i int) error {
	_, err := core.Ask(ctx, s.partitions[i].look, ledger.Op{Kind: ledger.LookItem})
	if refusal := ledger.Refusal(""); err == nil || errors.As(err, &refusal) {
		return nil
	}
	return fmt.Errorf("service: partition %d: %w", i, err)
}

// Serve answers requests until Close. The error is nil then.
func (s *Service) Serve(l net.Listener) error {
	if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Lost has an error when a partition can't go on in this process: it should end.
func (s *Service) Lost() <-chan error { return s.lost }

// Counts returns what all partitions have done.
func (s *Service) Counts(ctx context.Context) (sum Counts, err error) {
	for _, p := range s.partitions {
		c, err := core.Ask(ctx, p.count, struct{}{})
		if err != nil {
			return sum, err
		}
		sum.Requests += c.Requests
		sum.Changes += c.Changes
		sum.Writes += c.Writes
	}
	return sum, nil
}

// Close stops accepting, answers what is in flight, and closes the store.
func (s *Service) Close(ctx context.Context) error {
	return errors.Join(s.system.Shutdown(ctx), s.config.Store.Close())
}
