package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// loadMax is how long the buyers buy before the service is killed, at most; bootMax how long a
// service lives that is killed while it starts.
const (
	loadMax = 300 * time.Millisecond
	bootMax = 60 * time.Millisecond
)

// proveKills kills the service at random moments of its work, and now and then while it starts.
func proveKills(ctx context.Context, c *crowd, binary string, args []string, kills int) error {
	s, err := start(ctx, binary, args...)
	if err != nil {
		return err
	}
	defer func() { s.kill() }() // if it lives
	c.meet(s.address)
	boots := 0
	for i := range kills {
		if err := c.restock(ctx); err != nil {
			return fmt.Errorf("kill %d: %w", i, err)
		}
		settle := c.buy(ctx)
		time.Sleep(rand.N(loadMax))
		s.kill()
		if rand.IntN(4) == 0 {
			boots++
			if err := killBoot(binary, args); err != nil {
				return err
			}
		}
		next, err := start(ctx, binary, args...)
		if err != nil {
			return fmt.Errorf("kill %d: %w", i, err)
		}
		s = next
		c.meet(s.address)
		settle()
		if err := c.check(ctx); err != nil {
			return fmt.Errorf("kill %d: %w", i, err)
		}
	}
	if c.refused() == 0 {
		return errors.New("there was enough for everybody: nothing could be oversold")
	}
	unanswered := 0
	for _, r := range c.replies.take() {
		if r.err != nil {
			unanswered++
		}
	}
	fmt.Printf("proof: %d kills, %d of them in a start besides: %d changes acknowledged, %d refused, %d attempts without an answer; nothing lost, nothing twice, nothing oversold\n",
		kills, boots, c.acknowledged(), c.refused(), unanswered)
	return s.stop()
}

// killBoot kills a service while it loads.
func killBoot(binary string, args []string) error {
	s, _, err := launch(binary, args...)
	if err != nil {
		return err
	}
	time.Sleep(rand.N(bootMax))
	s.kill()
	return nil
}
