package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/examples/reservations/client"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store/storetest"
)

// buySome has a crowd buy until a thousand changes are acknowledged.
func buySome(ctx context.Context, t *testing.T, c *crowd) {
	require.NoError(t, c.restock(ctx))
	settle := c.buy(ctx)
	require.Eventually(t, func() bool {
		c.replies.mu.Lock()
		defer c.replies.mu.Unlock()
		return len(c.replies.all) > 1000
	}, 30*time.Second, time.Millisecond)
	settle()
}

// TestCheck: what a sound service has done passes; what one has done whose store lost a write
// doesn't.
func TestCheck(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, lies := range []bool{false, true} {
		f := &storetest.Faulty{Store: &storetest.Memory{}}
		c := newCrowd("test", 8)
		s, err := serve(ctx, c, f, 2)
		require.NoError(t, err)
		buySome(ctx, t, c)
		if lies {
			f.Set(storetest.Lies)
			_, err := c.client.Load().SetStock(ctx, "lie", c.buyers[0].skus[0], 1000)
			require.NoError(t, err)
			c.stock[c.buyers[0].skus[0]] = 1000
			f.Set(storetest.Down) // what is stored must be loaded again
			_, err = c.client.Load().SetStock(ctx, "down", c.buyers[0].skus[0], 1000)
			require.Error(t, err)
			f.Set(storetest.None)
			require.Eventually(t, func() bool { // a look would be answered from memory
				_, err := c.client.Load().Reserve(ctx, "too-many", c.buyers[0].skus[0], 1_000_000)
				refusal := (*client.Error)(nil)
				return errors.As(err, &refusal) && refusal.Code == "out_of_stock"
			}, 10*time.Second, time.Millisecond)
		}
		err = c.check(ctx)
		require.Equal(t, lies, err != nil, "%v", err)
		require.NoError(t, s.close(ctx))
	}
}

// TestJudge: each thing that clients must not be told is found.
func TestJudge(t *testing.T) {
	from := time.Now()
	to := from.Add(time.Second)
	at := from.Add(time.Millisecond)
	failed := func(status int, code, after string) reply {
		return reply{at: at, err: &client.Error{Status: status, Code: code, RetryAfter: after}}
	}
	good := []reply{failed(503, "store_down", "1"), failed(503, "outcome_unknown", "1"), failed(504, "timeout", ""), {at: at}, {at: to.Add(1), done: true}}
	_, err := outage{}.judge(good, from, to)
	require.NoError(t, err)
	for name, bad := range map[string]reply{
		"acknowledged":   {at: at, done: true},
		"late":           {at: at, took: answerWithin + 1, err: good[0].err},
		"hung up":        {at: at, err: context.Canceled},
		"no code":        failed(500, "internal", ""),
		"no retry-after": failed(503, "store_down", ""),
	} {
		_, err := outage{}.judge(append(good, bad), from, to)
		require.Error(t, err, name)
	}
	_, err = outage{}.judge(good[1:], from, to)
	require.Error(t, err, "nobody was told")
}
