package channel_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// A stranger's bad requests end neither a front, of whose requests panics are the results, nor a
// store behind it: that is held, requests for it end at once meanwhile, and connections go on.
func TestBadRequestsOfAStranger(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for _, pipelined := range []bool{false, true} {
			w := openWorld(t, p, nil, virtual)
			w.letGo(1)
			c := w.dial()
			line := func() string {
				got, err := c.r.ReadString('\n')
				require.NoError(t, err)
				return got
			}
			const bad, good = "hold -1 x", "hold 1 good"
			lines := append(slices.Repeat([]string{bad}, 6), good, good)
			if pipelined {
				c.send(lines...)
			}
			for i, what := range lines {
				if !pipelined {
					c.send(what)
				}
				if want := "-stackhouse: actor panicked"; i < 6 {
					require.Contains(t, line(), want, "%s, %d", bad, i)
				} else {
					require.Equal(t, "-"+core.ErrRestarted.Error()+"\n", line(), "%s, %d", bad, i)
				}
			}
			c.send("a", "panic on", "b")
			require.Equal(t, "a\n", line())
			require.Contains(t, line(), "-stackhouse: actor panicked")
			require.Equal(t, "b\n", line())
			w.await("the end of the hold", func() bool {
				w.clock.Add(1e8)
				c.send(good)
				return line() == "good\n"
			})
		}
	})
}

// A panic of a request's handler is that request's result, and a Failure: what else the front has
// in progress goes on, and the front does, with the state that it has.
func TestPanicOfARequestIsItsResult(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		other, c := w.dial(), w.dial()
		other.send("mark", "hold 1 a")
		other.expect("mark")
		w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
		before := w.system.Stats().Failures
		const n = 21
		for i := range n { // in the first step, and in a later one
			c.send([]string{"panic on", "after 0 b", "later on"}[i%3])
			got, err := c.r.ReadString('\n')
			require.NoError(t, err)
			if i%3 == 1 {
				require.Equal(t, "b\n", got)
			} else {
				require.Contains(t, got, "-stackhouse: actor panicked")
			}
		}
		w.await("the failures", func() bool { return w.system.Stats().Failures-before == n-n/3 })
		w.letGo(1)
		other.expect("a")
		for _, at := range w.fronts {
			_, err := core.Ask(w.ctx, frontPeek.At(at), struct{}{})
			require.NoError(t, err)
		}
		require.Zero(t, w.system.Stats().Restarts)
	})
}

// A strategy of the front's own says otherwise.
func TestPanicOfARequestOfAFrontWithAStrategy(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		p.props.OnFailure = &core.Strategy{Restarts: 1}
		w := openWorld(t, p, nil)
		other, c := w.dial(), w.dial()
		if p.workers > 1 { // the same front
			other = c
		}
		other.send("hold 1 a")
		w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
		c.send("panic on")
		other.expect("-" + core.ErrRestarted.Error())
		w.await("the restart", func() bool { return w.system.Stats().Restarts == 1 })
	})
}

// The mailbox of a front may order its calls in any way.
func TestFrontsOfEachMailbox(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for _, m := range []core.Mailbox{core.Bounded(100, core.DropOldest), core.Unbounded(), core.ByPriority(100), core.FairBySender(100)} {
			p.props.Mailbox = m
			w := openWorld(t, p, nil)
			w.letGo(1)
			for range 3 {
				c := w.dial()
				c.send("a", "hold 1 b", "after 0 c", "d")
				c.expect("a", "b", "c", "d")
			}
			require.Zero(t, w.system.Stats().Failures)
		}
	})
}

// Of many requests some panic, and no other fails.
func TestPanicsAmongManyRequests(t *testing.T) {
	const conns, each = 8, 1000
	rounds := 125 // a million requests, of which ten thousand panic
	if invariant.Race {
		rounds = 10
	}
	w := openWorld(t, place{network: "tcp", workers: 2}, nil)
	var group sync.WaitGroup
	for range conns {
		c := w.dial()
		group.Go(func() {
			text := strings.Repeat("panic on\n"+strings.Repeat("x\n", 99), each/100)
			for range rounds {
				if _, err := c.Write([]byte(text)); err != nil {
					t.Error(err)
					return
				}
				for i := range each {
					got, err := c.r.ReadString('\n')
					if err != nil || (got == "x\n") == (i%100 == 0) {
						t.Errorf("%q, %v", got, err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	w.await("the failures", func() bool { return w.system.Stats().Failures == uint64(conns*rounds*each/100) })
}
