package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
)

// TestLongBesideAFlood has goroutines tell an actor of another process as much as the link takes,
// and times asks of another actor there meanwhile: over the same link, and over that of a second
// node of this system, which has a stream of its own.
func TestLongBesideAFlood(t *testing.T) {
	if isChild() {
		there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
		for _, name := range []string{"flooded", "other"} {
			_, err := core.SpawnWith(there.sys, func() *ledger { return &ledger{} }, core.Props{Name: name})
			require.NoError(t, err)
		}
		fmt.Println("listens", there.node.Addr())
		io.Copy(io.Discard, os.Stdin)
		return
	}
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG")
	}
	there := newChild(t)
	for _, window := range []int{1 << 20, 256 << 10} {
		c := Config{Name: fmt.Sprint("here", window), Peers: map[string]string{"there": there.address}, Window: window}
		here := newPlace(t, c)
		c.Name, c.Plaintext = fmt.Sprint("beside", window), true
		beside, err := Start(t.Context(), here.sys, c)
		require.NoError(t, err)
		find := func(n *Node, path string) core.AnyAddress {
			far, err := n.Lookup(t.Context(), "there", path)
			require.NoError(t, err)
			return far
		}
		flooded, same, second := find(here.node, "/user/flooded"), find(here.node, "/user/other"), find(beside, "/user/other")
		for _, size := range []int{200, 60 << 10, 1 << 20} {
			ctx, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for drop := padded(0, size); core.NoticeWait(ctx, tells.At(flooded), drop) == nil; {
					}
				})
			}
			var took [2][]time.Duration
			for range 6 {
				for i, far := range []core.AnyAddress{same, second} {
					took[i] = append(took[i], asked(t, far, 500*time.Millisecond)...)
				}
			}
			stop()
			all.Wait()
			for i, by := range []string{"same link", "second node"} {
				slices.Sort(took[i])
				n := len(took[i])
				t.Logf("window %7d, notices of %7d bytes: %-11s p50 %8v, p99 %8v", window, size, by, took[i][n/2].Round(time.Microsecond), took[i][n*99/100].Round(time.Microsecond))
			}
			require.Less(t, took[0][len(took[0])*99/100], 100*time.Millisecond)
		}
	}
}

// asked asks now and then, for some time, and returns how long each took.
func asked(t *testing.T, far core.AnyAddress, d time.Duration) (took []time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		began := time.Now()
		_, err := core.Ask(t.Context(), add.At(far), addReq{1})
		require.NoError(t, err)
		took = append(took, time.Since(began))
	}
	return took
}
