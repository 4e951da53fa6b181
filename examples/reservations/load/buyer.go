package main

import (
	"context"
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

	n    int             // requests sent
	took []time.Duration // of those that were measured
	err  error           // the first
}

func sku(i int) string { return fmt.Sprintf("item-%d", i) }

// buy sends requests until time is up or one fails.
func (b *buyer) buy(ctx context.Context) {
	for b.err == nil && time.Now().Before(b.until) {
		if rand.IntN(10) == 0 {
			b.measure(func() error { _, err := b.client.Item(ctx, sku(rand.IntN(b.items))); return err })
		}
		var r client.Reservation
		b.measure(func() (err error) {
			r, err = b.client.Reserve(ctx, b.key(), sku(rand.IntN(b.items)), 1+rand.Int64N(3))
			return err
		})
		b.measure(func() error {
			_, err := b.client.End(ctx, b.key(), r.ID, []string{"confirm", "release"}[rand.IntN(2)])
			return err
		})
	}
}

func (b *buyer) key() string { return fmt.Sprintf("%s-%d", b.name, b.n) }

// measure sends a request, unless one has failed.
func (b *buyer) measure(send func() error) {
	if b.err != nil {
		return
	}
	b.n++
	began := time.Now()
	b.err = send()
	if began.After(b.from) && began.Before(b.until) {
		b.took = append(b.took, time.Since(began))
	}
}
