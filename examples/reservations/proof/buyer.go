package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/examples/reservations/client"
)

// buyer sends one request at a time, and repeats it until it knows what became of it.
type buyer struct {
	journal
	name   string
	client func() *client.Client // of the service that runs now
	seen   func(reply)
	skus   []string

	n        int // keys given out
	confirms int // reservations that it may confirm, see patience
	unlucky  int // reservations refused
}

// reply is one attempt's end.
type reply struct {
	at   time.Time
	took time.Duration
	done bool // a change was acknowledged
	// of the outage; nil: it was acknowledged, or refused for good, as what changes nothing needs
	// no store
	err error
}

// retryAfter is how long a buyer waits before it repeats a request, far less than it is told.
const retryAfter = 5 * time.Millisecond

// buy does one thing after the other until stop is closed. It returns when the last is resolved,
// or ctx ends.
func (b *buyer) buy(ctx context.Context, stop <-chan struct{}) {
	for ctx.Err() == nil {
		select {
		case <-stop:
			return
		default:
		}
		b.resolve(ctx, b.draw())
	}
}

// draw decides what to do next.
func (b *buyer) draw() *record {
	b.n++
	r := &record{key: fmt.Sprintf("%s-%d", b.name, b.n), what: "reserve"}
	if i := rand.IntN(10); len(b.held) > i { // the more are held, the sooner one ends
		h := b.held[rand.IntN(len(b.held))]
		r.what, r.id, r.sku, r.quantity = "release", h.id, h.sku, h.quantity
		if b.confirms > 0 && rand.IntN(3) == 0 {
			r.what = "confirm"
			b.confirms--
		}
	} else {
		r.sku, r.quantity = b.skus[rand.IntN(len(b.skus))], 1+rand.Int64N(4)
	}
	b.records = append(b.records, r)
	return r
}

// resolve sends a request until it is answered or refused.
func (b *buyer) resolve(ctx context.Context, r *record) {
	for ctx.Err() == nil {
		began := time.Now()
		answer, err := b.send(ctx, r)
		refusal := (*client.Error)(nil)
		final := err == nil || errors.As(err, &refusal) && refusal.Status < 500
		end := reply{at: time.Now(), took: time.Since(began), done: err == nil}
		if !final {
			end.err = err
		}
		b.seen(end)
		switch {
		case err == nil:
			b.acknowledged(r, answer)
			return
		case final:
			b.refused(r, refusal)
			return
		}
		time.Sleep(retryAfter)
	}
	b.complain("%s: no answer in time", r.key)
}

func (b *buyer) send(ctx context.Context, r *record) (client.Reservation, error) {
	if r.what == "reserve" {
		return b.client().Reserve(ctx, r.key, r.sku, r.quantity)
	}
	return b.client().End(ctx, r.key, r.id, r.what)
}

// acknowledged notes what from now on must not be lost.
func (b *buyer) acknowledged(r *record, a client.Reservation) {
	state := map[string]string{"reserve": "held", "confirm": "confirmed", "release": "released"}[r.what]
	if a.State != state || a.SKU != r.sku || a.Quantity != r.quantity {
		b.complain("%s: asked for %+v, answered %+v", r.key, *r, a)
		return
	}
	r.id, r.done = a.ID, true
	if r.what == "reserve" {
		h := &reservation{a.ID, a.SKU, a.State, a.Quantity}
		b.held, b.all = append(b.held, h), append(b.all, h)
		return
	}
	i := slices.IndexFunc(b.held, func(h *reservation) bool { return h.id == r.id })
	b.held[i].state = a.State
	b.held = slices.Delete(b.held, i, i+1)
}

// refused has changed nothing. Nobody else ends this buyer's reservations, so that
// there is one good reason only.
func (b *buyer) refused(r *record, e *client.Error) {
	if b.unlucky++; r.what != "reserve" || e.Code != "out_of_stock" {
		b.complain("%s: %s of %s, which is held: %v", r.key, r.what, r.id, e)
	}
}
