//go:build !portable

// The portable poller allocates: goroutines and buffers stand behind each connection.

package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestEchoesAllocateNothing: of both kinds of servers.
func TestEchoesAllocateNothing(t *testing.T) {
	const length, depth = 100, 50
	n := 100_000
	if housetest.Slow {
		n = 10_000
	}
	for _, l := range []int{0, length} {
		conn := dial(t, "tcp", serve(t.Context(), newSystem(t), "tcp", "127.0.0.1:0", l, nil))
		text, back := bytes.Repeat([]byte("0123456789"), length*depth/10), make([]byte, length*depth)
		housetest.ZeroAlloc(t, n, func(n int) {
			for done := 0; done < n; done += depth {
				if _, err := conn.Write(text); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(conn, back); err != nil || !bytes.Equal(text, back) {
					t.Fatal("not echoed:", err)
				}
			}
		})
	}
}
