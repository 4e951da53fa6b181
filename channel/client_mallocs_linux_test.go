//go:build !portable

// The portable poller allocates: goroutines and buffers stand behind each connection.

package channel_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// pusher asks a server many times, some asks at once.
type pusher struct {
	server core.Port[request, reply]
	line   []byte
	want   string
}

type pushStack struct {
	core.AskStack[int, int]
	left int
	wave [16]core.Future[reply]
}

var pusherRun = core.Handle((*pusher).run)

func (p *pusher) run(s *pushStack) core.Yield {
	s.left = s.Req
	return p.next(s)
}

func (p *pusher) next(s *pushStack) core.Yield {
	for i := range s.wave {
		p.server.Ask(s, &s.wave[i], request{p.line})
	}
	return core.Suspend(s, (*pusher).got)
}

func (p *pusher) got(s *pushStack) core.Yield {
	for i := range s.wave {
		if rep, err := s.wave[i].Get(); err != nil || string(rep.text) != p.want {
			return s.Throw(fmt.Errorf("%.100q, %v", rep.text, err))
		}
	}
	if s.left -= len(s.wave); s.left <= 0 {
		return s.Return(0)
	}
	return p.next(s)
}

// TestLongClientAsksCollectNothing: a minute of asks over each kind of socket, and the collector
// has nothing to do.
func TestLongClientAsksCollectNothing(t *testing.T) {
	long(t)
	for _, network := range []string{"tcp", "unix"} {
		w := openWorld(t, place{network: network, workers: 2}, nil)
		client := w.dialClient(nil)
		var all []core.Port[int, int]
		for _, on := range w.system.Workers() {
			all = append(all, pusherRun.At(core.Spawn(on, func() *pusher {
				return &pusher{client.Port(), []byte("echo of some bytes"), "echo of some bytes"}
			})))
		}
		var before, after runtime.MemStats
		asked := 0
		runtime.GC()
		runtime.ReadMemStats(&before)
		for began := time.Now(); time.Since(began) < time.Minute; {
			for _, at := range all {
				const n = 16 << 10
				_, err := core.Ask(w.ctx, at, n)
				require.NoError(t, err)
				asked += n
			}
		}
		runtime.ReadMemStats(&after)
		t.Logf("%s: %d asks, %d mallocs", network, asked, after.Mallocs-before.Mallocs)
		require.Equal(t, before.NumGC, after.NumGC)
	}
}

// TestClientAsksAllocateNothing: a million of them, and their replies.
func TestClientAsksAllocateNothing(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for _, workers := range []int{1, 2} {
			for _, line := range []string{"echo of some bytes", "big 3000", "staged echo"} {
				var stages func() []stage.Stage
				if line[0] == 's' {
					if network == "unix" {
						continue // stages don't know what the network is
					}
					stages = ciphers
				}
				n := 1_000_000
				if invariant.Race || invariant.Enabled {
					n = 10_000
				} else if line[0] != 'e' || network == "unix" || workers == 2 {
					n = 100_000
				}
				t.Run(fmt.Sprintf("%s-%d-%.4s", network, workers, line), func(t *testing.T) {
					w := openWorld(t, place{network: network, workers: workers}, func(c *config) { c.Stages = stages })
					client := w.dialClient(func(c *clientConfig) { c.Stages = stages })
					p := &pusher{client.Port(), []byte(line), line}
					if line[0] == 'b' {
						p.want = big(3000)
					}
					var all []core.Port[int, int]
					for _, on := range w.system.Workers() {
						all = append(all, pusherRun.At(core.Spawn(on, func() *pusher { return p })))
					}
					run := func(n int) {
						var calls [2]core.Pending[int]
						for i, at := range all {
							calls[i] = core.Begin(at, n/len(all))
						}
						for i := range all {
							_, err := calls[i].Get()
							require.NoError(t, err)
						}
					}
					run(n / 10)
					housetest.ZeroAlloc(t, n, run)
				})
			}
		}
	}
}
