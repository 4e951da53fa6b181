package channel_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// TestClientGoesMidPipeline: requests are suspended in other actors, queued,
// complete or half received when their client resets or closes its connection.
func TestClientGoesMidPipeline(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.InflightMax = 20 })
		healthy := w.dial()
		for round := range 10 {
			c := w.dial()
			begun := w.keeper.holding.Load()
			c.send("mark", "hold 1 a", "b", "after 3600000 c", "hold 1 d", "never", "hold 1 e")
			switch round % 3 {
			case 0:
				c.Write([]byte("the start of a request"))
			case 1: // full: the connection isn't read when its client goes
				c.send(strings.Split(strings.Repeat("never;", 30)+"x", ";")...)
			}
			w.await("the asks", func() bool { return w.keeper.holding.Load() == begun+3 })
			c.arrived()
			c.reset()
			w.await("the connection gone", func() bool { return w.server.Stats().Conns == 1 })
			w.await("the asks cancelled", func() bool { return w.freed.Load() == begun+3 })
			healthy.send("alive")
			healthy.expect("alive")
		}
	})
}

// TestClientClosesWithResultsUnsent: the server finds out by writing.
func TestClientClosesWithResultsUnsent(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		c := w.dial()
		c.send("hold 1 a", "hold 2 b", "never", "hold 2 c")
		w.await("the asks", func() bool { return w.keeper.holding.Load() == 3 })
		c.Close()
		w.letGo(1)
		// The first result draws a reset, which cancels the others.
		w.await("the connection gone", func() bool { return w.server.Stats().Conns == 0 })
		w.await("the asks cancelled", func() bool { return w.freed.Load() == 3 })
	})
}

// TestG5NoReplyReachesAnotherConnection: connections that come, go, break and
// reuse each other's descriptors, pools and tokens see nothing but their own.
func TestG5NoReplyReachesAnotherConnection(t *testing.T) {
	n := 10_000
	if invariant.Race {
		n = 1_000
	}
	everywhere(t, func(t *testing.T, p place) { nonces(t, p, n) })
}

// nonces makes n connections whose every request carries a nonce of their own.
func nonces(t *testing.T, p place, n int) {
	// many wait for the end of the test
	w := openWorld(t, p, func(c *config) { c.RequestsMax = 1 << 20 })
	w.letGo(1)
	const clients = 8
	seed := uint64(time.Now().UnixNano())
	var group sync.WaitGroup
	for worker := range clients {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(worker)))
			for i := range n / clients {
				if err := nonceClient(w, rng, fmt.Sprintf("nonce-%d-%d", worker, i)); err != nil {
					t.Errorf("seed %d: %v", seed, err)
					return
				}
			}
		})
	}
	group.Wait()
	w.letGo(2)
	// The last to come may still wait to be accepted while none is open.
	made := uint64(n / clients * clients)
	w.await("all connections accepted and gone", func() bool {
		stats := w.server.Stats()
		return stats.Accepted >= made && stats.Conns == 0
	})
	require.Equal(t, made, w.server.Stats().Accepted)
}

// nonceClient is one connection: it sends some requests, reads some of the
// results and goes, in order or by a reset.
func nonceClient(w *world, rng *rand.Rand, nonce string) error {
	conn, err := net.Dial(w.network, w.server.Addr())
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(lostAfter))
	forms := []string{"%s", "after 0 %s", "after 1 %s", "hold 1 %s", "hold 2 %s", "hold 1 %s"}
	var text strings.Builder
	sure := 0 // results that come whatever happens
	blocked := false
	for range rng.IntN(6) {
		form := rng.IntN(len(forms))
		fmt.Fprintf(&text, forms[form]+"\n", nonce)
		if blocked = blocked || form == 4; !blocked {
			sure++
		}
	}
	if _, err := conn.Write([]byte(text.String())); err != nil {
		return err
	}
	reads := 0
	if sure > 0 {
		reads = rng.IntN(sure + 1)
	}
	line := nonce + "\n"
	got := make([]byte, len(line)*reads)
	for at := 0; at < len(got); {
		n, err := conn.Read(got[at:])
		if at += n; err != nil {
			return fmt.Errorf("%s after %q: %w", nonce, got[:at], err)
		}
	}
	if want := strings.Repeat(line, reads); string(got) != want {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && rng.IntN(2) == 0 {
		tcp.SetLinger(0)
	}
	return nil
}
