package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/examples/reservations/client"
)

// What is demanded while the store is down, and after.
const (
	// until a store that goes down is down, and one that comes is there
	grace        = 500 * time.Millisecond
	answerWithin = 6 * time.Second // the service's limit, and the machine's
	backWithin   = 10 * time.Second
)

// outage is a way to take the store away and give it back.
type outage struct {
	name     string
	down, up func() error
}

// prove takes the store away for a while, under load.
func (o outage) prove(ctx context.Context, c *crowd, during time.Duration, alive func() bool) error {
	if err := c.restock(ctx); err != nil {
		return err
	}
	settle := c.buy(ctx)
	time.Sleep(time.Second)
	c.replies.take()
	if err := o.down(); err != nil {
		return err
	}
	down := time.Now()
	time.Sleep(during)
	up := time.Now()
	if err := o.up(); err != nil {
		return err
	}
	back := time.Now()
	settle()
	settled := time.Since(back)
	replies := c.replies.take()
	codes, err := o.judge(replies, down.Add(grace), up)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", o.name, err)
	case c.refused() == 0:
		return fmt.Errorf("%s: there was enough for everybody: nothing could be oversold", o.name)
	case !alive():
		return fmt.Errorf("%s: the service ended", o.name)
	case settled > backWithin:
		return fmt.Errorf("%s: all was answered only %v after the store was back", o.name, settled)
	}
	if err := c.check(ctx); err != nil {
		return fmt.Errorf("%s: %w", o.name, err)
	}
	fmt.Printf("proof: %s for %v: %v; all answered %v after; nothing lost, nothing twice, nothing oversold\n",
		o.name, during, codes, settled.Round(time.Millisecond))
	return nil
}

// judge looks at all that clients were told between from and to.
func (o outage) judge(replies []reply, from, to time.Time) (codes map[string]int, err error) {
	codes = map[string]int{}
	clear := []string{"store_down", "outcome_unknown", "timeout", "overloaded"}
	for _, r := range replies {
		if r.took > answerWithin {
			return nil, fmt.Errorf("a request took %v", r.took)
		}
		e := (*client.Error)(nil)
		switch {
		case r.done && r.at.After(from) && r.at.Before(to):
			return nil, fmt.Errorf("a change was acknowledged %v after the store was gone", r.at.Sub(from)+grace)
		case r.err == nil:
			continue
		case !errors.As(r.err, &e):
			return nil, fmt.Errorf("the service hung up: %w", r.err)
		case !slices.Contains(clear, e.Code), e.Status == 503 && e.RetryAfter == "":
			return nil, fmt.Errorf("an answer that isn't clear: %w", e)
		}
		codes[e.Code]++
	}
	if codes["store_down"] == 0 || codes["outcome_unknown"] == 0 {
		return nil, fmt.Errorf("nobody was told that the store is down: %v", codes)
	}
	return codes, nil
}
