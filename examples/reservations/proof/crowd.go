package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/examples/reservations/client"
)

// crowd is all buyers, and what they know together.
type crowd struct {
	name    string
	client  atomic.Pointer[client.Client]
	buyers  []*buyer
	stock   map[string]int64 // of each item, acknowledged
	replies replies
	changes int // of stock
}

// items is how many there are: few, so that requests meet in partitions and out of stock.
const items = 12

func newCrowd(name string, n int) *crowd {
	c := &crowd{name: name, stock: map[string]int64{}}
	var skus []string
	for i := range items {
		skus = append(skus, fmt.Sprintf("%s-item-%d", name, i))
		c.stock[skus[i]] = 0
	}
	for i := range n {
		c.buyers = append(c.buyers, &buyer{
			name: fmt.Sprintf("%s-%d", name, i), client: c.client.Load, seen: c.replies.add, skus: skus,
		})
	}
	return c
}

// meet has the crowd talk to the service at an address.
func (c *crowd) meet(address string) {
	if old := c.client.Swap(client.New(address, len(c.buyers))); old != nil {
		old.Close()
	}
}

// more is how many pieces of each item come in at a time, twice as many at first; patience is how
// many reservations a buyer may confirm until the next come in. So some pieces always go to and
// fro, and fewer than are wanted.
//
// Invariant: buyers * patience * the mean quantity <= items * more, with 16 buyers and 2.5 pieces.
const (
	more     = 4
	patience = 1
)

// restock adds some pieces of each item. The service must be well, and the buyers at rest.
func (c *crowd) restock(ctx context.Context) error {
	for _, b := range c.buyers {
		b.confirms = patience
	}
	for sku, n := range c.stock {
		if n += more; n == more {
			n += more
		}
		c.changes++
		if _, err := c.client.Load().SetStock(ctx, fmt.Sprintf("%s-stock-%d", c.name, c.changes), sku, n); err != nil {
			return fmt.Errorf("stock of %s: %w", sku, err)
		}
		c.stock[sku] = n
	}
	return nil
}

// buy sets the buyers going. The function that it returns has them stop and waits until all know
// what became of their last request.
func (c *crowd) buy(ctx context.Context) (settle func()) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, b := range c.buyers {
		all.Go(func() { b.buy(ctx, stop) })
	}
	return func() { close(stop); all.Wait() }
}

// replies is what all attempts came to.
type replies struct {
	mu  sync.Mutex
	all []reply
}

func (r *replies) add(end reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, end)
}

// take returns them and begins anew.
func (r *replies) take() []reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

// refused is how many reservations were refused as too few pieces were there.
func (c *crowd) refused() (n int) {
	for _, b := range c.buyers {
		n += b.unlucky
	}
	return n
}
