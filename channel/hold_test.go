package channel_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// A stranger's bad requests end neither a front nor a store behind it: it is held, requests end at once meanwhile, and its
// connections go on.
func TestBadRequestsOfAStranger(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for _, bad := range []string{"panic on", "hold -1 x"} {
			for _, pipelined := range []bool{false, true} {
				w := openWorld(t, p, nil, virtual, func(_ *world, c *house.Config) { c.Supervise = &core.Strategy{} })
				w.letGo(1)
				c := w.dial()
				line := func() string {
					got, err := c.r.ReadString('\n')
					require.NoError(t, err)
					return got
				}
				const good = "hold 1 good"
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
				w.await("the end of the hold", func() bool {
					w.clock.Add(1e8)
					c.send(good)
					return line() == "good\n"
				})
				for _, at := range w.fronts { // the requests that ended in the hold have left no count in its mailbox
					_, err := core.Ask(w.ctx, frontNap.At(at), struct{}{})
					require.NoError(t, err)
				}
			}
		}
	})
}
