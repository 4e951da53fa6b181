//go:build !portable

// The portable poller allocates: goroutines and buffers stand behind each connection.

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestTakesAllocateNothing: of buckets that have tokens, and of one that has none.
func TestTakesAllocateNothing(t *testing.T) {
	const clients, depth = 4, 50
	n := 200_000
	if housetest.Slow {
		n = 10_000
	}
	w := newWorld(t, Bucket{burst: 1_000_000_000, every: time.Millisecond}, 0)
	require.Equal(t, "OK 0", w.dial().do("TAKE empty 1000000000"))
	var all [clients]*client
	var text [clients][]byte
	for i := range all {
		all[i] = w.dial()
		text[i] = []byte(strings.Repeat(fmt.Sprintf("TAKE key.%d 1\nTAKE empty 1000000\n", i), depth))
	}
	in := make([]byte, 16<<10)
	housetest.ZeroAlloc(t, n, func(n int) {
		for done := 0; done < n; done += 2 * depth * clients {
			for i, c := range all {
				if _, err := c.Write(text[i]); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range all {
				for answers := 0; answers < 2*depth; {
					k, err := c.Read(in)
					if err != nil || bytes.Contains(in[:k], []byte("ERR")) {
						t.Fatal(err, string(in[:k]))
					}
					answers += bytes.Count(in[:k], []byte("\n"))
				}
			}
		}
	})
}
