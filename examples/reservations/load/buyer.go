package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stackhouse-go/stackhouse/examples/reservations/client"
)

// buyer is one client.
type buyer struct {
	client      *client.Client
	name        string
	items       int
	from, until time.Time // what begins in between is measured

	n        int             // requests sent
	repeated int             // attempts that the service asked to repeat
	took     []time.Duration // of those that were measured, with what was repeated
	err      error           // the first
}

func sku(i int) string { return fmt.Sprintf("item-%d", i) }

// pause is how long a buyer waits before it repeats a request, less than it is told.
const pause = 20 * time.Millisecond

// buy sends requests until time is up or one fails.
func (b *buyer) buy(ctx context.Context) {
	for b.err == nil && time.Now().Before(b.until) {
		// All is drawn here: what is sent again must be the same request.
		item, n, end := sku(rand.IntN(b.items)), 1+rand.Int64N(3), []string{"confirm", "release"}[rand.IntN(2)]
		if rand.IntN(10) == 0 {
			b.measure(ctx, func() error { _, err := b.client.Item(ctx, item); return err })
		}
		var r client.Reservation
		b.measure(ctx, func() (err error) { r, err = b.client.Reserve(ctx, b.key(), item, n); return err })
		b.measure(ctx, func() error { _, err := b.client.End(ctx, b.key(), r.ID, end); return err })
	}
}

func (b *buyer) key() string { return fmt.Sprintf("%s-%d", b.name, b.n) }

// measure sends a request until it has an outcome, unless one has failed.
func (b *buyer) measure(ctx context.Context, send func() error) {
	if b.err != nil {
		return
	}
	b.n++
	began := time.Now()
	var repeated int
	repeated, b.err = resolve(ctx, send)
	b.repeated += repeated
	if began.After(b.from) && began.Before(b.until) {
		b.took = append(b.took, time.Since(began))
	}
}

// resolve sends a request, and again as long as the service asks for that: a disk that is slow
// once ends no load. It returns how often it was sent again.
func resolve(ctx context.Context, send func() error) (repeated int, err error) {
	for {
		var refusal *client.Error
		err = send()
		if !errors.As(err, &refusal) || !refusal.Repeat() {
			return repeated, err
		}
		select {
		case <-ctx.Done():
			return repeated, err
		case <-time.After(pause):
			repeated++
		}
	}
}
