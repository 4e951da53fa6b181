package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
)

// sample is how many reservations and requests of each buyer a check looks at one by one, beside
// all items.
const sample = 10

// check compares the service with the journals. The buyers must have settled.
func (c *crowd) check(ctx context.Context) error {
	var journals []*journal
	var errs []error
	for _, b := range c.buyers {
		journals = append(journals, &b.journal)
		for _, wrong := range b.wrong {
			errs = append(errs, errors.New(wrong))
		}
	}
	for sku, want := range sum(journals, c.stock) {
		errs = append(errs, c.checkItem(ctx, sku, want))
	}
	for _, b := range c.buyers {
		for range min(sample, len(b.all)) {
			errs = append(errs, c.checkReservation(ctx, b.all[rand.IntN(len(b.all))]))
		}
		for range min(sample, len(b.records)) {
			errs = append(errs, b.repeat(ctx, b.records[rand.IntN(len(b.records))]))
		}
	}
	for sku, want := range sum(journals, c.stock) {
		errs = append(errs, c.checkItem(ctx, sku, want)) // repetitions changed nothing
	}
	return errors.Join(errs...)
}

func (c *crowd) checkItem(ctx context.Context, sku string, want stand) error {
	i, err := c.client.Load().Item(ctx, sku)
	if err != nil {
		return fmt.Errorf("item %s: %w", sku, err)
	}
	if got := (stand{i.Stock, i.Held, i.Confirmed}); got != want {
		return fmt.Errorf("item %s: it has %+v, the journals say %+v", sku, got, want)
	}
	if i.Held+i.Confirmed > i.Stock {
		return fmt.Errorf("item %s is oversold: %+v", sku, i)
	}
	return nil
}

func (c *crowd) checkReservation(ctx context.Context, want *reservation) error {
	r, err := c.client.Load().Reservation(ctx, want.id)
	if err != nil {
		return fmt.Errorf("reservation %s was acknowledged: %w", want.id, err)
	}
	if got := (reservation{r.ID, r.SKU, r.State, r.Quantity}); got != *want {
		return fmt.Errorf("reservation: it is %+v, acknowledged was %+v", got, *want)
	}
	return nil
}

// repeat sends an acknowledged request again: the answer must be the first one's.
func (b *buyer) repeat(ctx context.Context, r *record) error {
	if !r.done {
		return nil
	}
	again, err := b.send(ctx, r)
	if err != nil {
		return fmt.Errorf("%s was acknowledged, and repeated: %w", r.key, err)
	}
	if again.ID != r.id {
		return fmt.Errorf("%s was answered with %s, and repeated with %s", r.key, r.id, again.ID)
	}
	return nil
}

// acknowledged is how many changes were, in all.
func (c *crowd) acknowledged() (n int) {
	for _, b := range c.buyers {
		for _, r := range b.records {
			if r.done {
				n++
			}
		}
	}
	return n
}
