//go:build !portable

package channel_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
)

// noted is a lineCodec of several workers that notes how often each line came to the server.
type noted struct {
	lineCodec
	seen []atomic.Int32 // by number
}

func (c *noted) Decode(in []byte, req *request) (int, error) {
	n, err := c.lineCodec.Decode(in, req)
	if n > 0 && err == nil {
		i, _ := strconv.Atoi(string(req.line[1:]))
		c.seen[i].Add(1)
	}
	return n, err
}

// TestClientsWhoseConnectionsAreKilled: every ask ends, as what became of it says.
func TestClientsWhoseConnectionsAreKilled(t *testing.T) { killConnections(t, 50_000, 20, 5) }

func TestLongClientsWhoseConnectionsAreKilled(t *testing.T) {
	long(t)
	killConnections(t, 1_000_000, 600, 500)
}

// killConnections spreads kills over the asks. On a busy machine the asks may end before; there
// must be least.
func killConnections(t *testing.T, asks, kills, least int) {
	if _, err := exec.LookPath("ss"); err != nil || os.Getuid() != 0 {
		t.Skip("ss kills connections, for root")
	}
	seen := make([]atomic.Int32, asks)
	w := openWorld(t, place{network: "tcp", workers: 2}, func(c *config) {
		c.Codec = func() channel.Codec[request, reply] { return &noted{seen: seen} }
	})
	client := w.dialClient(func(c *clientConfig) {
		c.Conns, c.InflightMax, c.PendingMax, c.BackoffMin = 2, 8, 18, time.Millisecond
	})
	var next, again atomic.Int64
	var mu sync.Mutex
	ends := map[string]int{}
	unsent := map[int]bool{}
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= asks {
					return
				}
				line := fmt.Sprintf("x%d", i)
				ctx, cancel := w.ctx, context.CancelFunc(func() {})
				if i%50 == 0 {
					ctx, cancel = context.WithTimeout(w.ctx, time.Duration(i%1000)*time.Microsecond)
				}
				text, err := get(ctx, client.Port(), line)
				for ; errors.Is(err, core.ErrNotSent) && i%2 == 0; again.Add(1) {
					time.Sleep(time.Millisecond)
					text, err = get(ctx, client.Port(), line)
				}
				cancel()
				end := endOf(err)
				if err == nil && text != line {
					end = "another's reply"
				}
				mu.Lock()
				ends[end]++
				unsent[i] = end == "not sent" || end == "overloaded"
				mu.Unlock()
			}
		})
	}
	_, port, err := net.SplitHostPort(w.server.Addr())
	require.NoError(t, err)
	killed := 0
	for int(next.Load()) < asks {
		if killed < kills && int(next.Load())*kills >= asks*killed {
			require.NoError(t, exec.Command("ss", "-K", "dst", "127.0.0.1", "dport", "=", port).Run())
			killed = int(client.Stats().Connects) - 2
		}
		time.Sleep(time.Millisecond)
	}
	all.Wait()
	t.Logf("%v, %d asked again, %d connections killed", ends, again.Load(), killed)
	require.GreaterOrEqual(t, killed, least)
	total := 0
	for end, n := range ends {
		require.Contains(t, []string{"replied", "not sent", "lost", "timeout", "cancelled", "overloaded"}, end)
		total += n
	}
	require.Equal(t, asks, total)
	require.NotZero(t, ends["lost"])
	for i := range seen {
		n := seen[i].Load()
		require.LessOrEqual(t, n, int32(1), "line %d came several times", i)
		require.False(t, unsent[i] && n > 0, "line %d wasn't sent, and came", i)
	}
	require.NoError(t, client.Close(w.ctx))
}

// endOf names how an ask has ended.
func endOf(err error) string {
	if err == nil {
		return "replied"
	}
	for known, name := range map[error]string{core.ErrNotSent: "not sent", core.ErrLost: "lost", core.ErrTimeout: "timeout", core.ErrCancelled: "cancelled", core.ErrOverloaded: "overloaded"} {
		if errors.Is(err, known) {
			return name
		}
	}
	return err.Error()
}
