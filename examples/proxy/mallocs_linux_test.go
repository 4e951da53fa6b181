//go:build !portable

// The portable poller allocates: goroutines and buffers stand behind each connection.

package main

import (
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// pipes is some connections through the proxy, with both ends of each.
type pipes struct {
	t         testing.TB
	ends      [64][2]*net.TCPConn
	text, got [100]byte
}

func (w *world) pipes() *pipes {
	p := &pipes{t: w.TB}
	for i := range p.ends {
		client, server := w.dial()
		p.ends[i] = [2]*net.TCPConn{client, server}
		for _, c := range p.ends[i] {
			require.NoError(w, c.SetDeadline(time.Time{}))
		}
	}
	for i := range p.text {
		p.text[i] = byte(i)
	}
	return p
}

// run passes n messages, both ways in turn, on all connections at once.
func (p *pipes) run(n int) {
	for done := 0; done < n; done += 2 * len(p.ends) {
		for from := range 2 {
			for i := range p.ends {
				if _, err := p.ends[i][from].Write(p.text[:]); err != nil {
					p.t.Fatal(err)
				}
			}
			for i := range p.ends {
				if _, err := io.ReadFull(p.ends[i][1-from], p.got[:]); err != nil || p.got != p.text {
					p.t.Fatal("other bytes came", err)
				}
			}
		}
	}
}

// TestPassingAllocatesNothing: messages through connections that an actor has opened, and those
// that it has accepted. They are fewer than a million, as each takes four system calls.
func TestPassingAllocatesNothing(t *testing.T) {
	n := 100_000
	if housetest.Slow {
		n = 10_000
	}
	housetest.ZeroAlloc(t, n, newWorld(t).pipes().run)
}

// TestLongPassingCollectsNothing: a million messages without a malloc, then a minute of them, and
// the collector has nothing to do.
func TestLongPassingCollectsNothing(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG=1: this takes minutes")
	}
	p := newWorld(t).pipes()
	housetest.ZeroAlloc(t, 1_000_000, p.run)
	var before, after runtime.MemStats
	passed := 0
	runtime.GC()
	runtime.ReadMemStats(&before)
	for began := time.Now(); time.Since(began) < time.Minute; passed += 10_000 {
		p.run(10_000)
	}
	runtime.ReadMemStats(&after)
	t.Logf("%d messages, %d mallocs", passed, after.Mallocs-before.Mallocs)
	require.Equal(t, before.NumGC, after.NumGC)
}
