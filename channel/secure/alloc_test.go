package secure_test

import (
	"crypto/tls"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// TestRecordsNoMallocs: what is read costs one allocation, of crypto/tls's, for each record, and
// what is written none.
func TestRecordsNoMallocs(t *testing.T) {
	if invariant.Race {
		t.Skip("the race detector allocates")
	}
	for _, size := range []int{64, 16 << 10} {
		c, s, _ := pair(t, tls.VersionTLS13)
		meet(t, c, s, 0)
		text := make([]byte, size)
		const n = 10_000
		echo := func() {
			require.NoError(t, c.Send(1, text))
			s.Receive(1, c.down)
			require.NoError(t, s.Send(1, s.up))
			c.Receive(1, s.down)
			c.down, s.down, c.up, s.up = c.down[:0], s.down[:0], c.up[:0], s.up[:0]
		}
		for range 200 { // crypto/tls writes short records at first
			echo()
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range n {
			echo()
		}
		runtime.ReadMemStats(&after)
		require.Less(t, after.Mallocs-before.Mallocs, uint64(2*n+n/50), "of %d echoes, each two records", n)
		c.Close(1)
		s.Close(1)
	}
}

// TestIdleConnections: how many bytes one takes, behind small records and behind a long one.
func TestIdleConnections(t *testing.T) {
	if invariant.Race {
		t.Skip("the race detector needs more")
	}
	const n = 200
	for size, most := range map[int]uint64{64: 16 << 10, 16 << 10: 36 << 10} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			heap := func() uint64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.GC() // pools are empty behind the second
				runtime.ReadMemStats(&m)
				return m.HeapAlloc + m.StackInuse
			}
			client, _, by := pair(t, version)
			client.Close(1)
			var all []*end
			before := heap()
			for range n {
				c, s := newEnd("127.0.0.1:1", by.Client("a.test")), newEnd("127.0.0.1:2", by.Server())
				meet(t, c, s, 0)
				require.NoError(t, c.Send(1, make([]byte, size)))
				s.Receive(1, c.sent())
				require.NoError(t, s.Send(1, s.up))
				s.sent()
				s.up = nil
				c.Close(1)
				all = append(all, s)
			}
			until(t, func() bool { return by.Stats().Running == 0 })
			each := (heap() - before) / n
			t.Logf("%s, a record of %d bytes: %d bytes", tls.VersionName(version), size, each)
			require.Less(t, each, most)
			closeAll(all)
		}
	}
}
