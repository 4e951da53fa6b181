package quota

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuota(t *testing.T) {
	q := New(2)
	require.True(t, q.Join())
	require.False(t, q.Full())
	require.True(t, q.Join())
	require.True(t, q.Full())
	require.False(t, q.Join())
	require.Equal(t, 2, q.Len())
	q.Leave()
	require.False(t, q.Full())
	require.True(t, q.Join())
}

func TestNoQuota(t *testing.T) {
	var q *Quota
	require.True(t, q.Join())
	q.Leave()
}

// TestQuotaAtOnce: never more than max are in, and all that were in have left.
func TestQuotaAtOnce(t *testing.T) {
	q := New(3)
	var in atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10_000 {
				if q.Join() {
					if n := in.Add(1); n > 3 {
						t.Errorf("%d are in", n)
					}
					in.Add(-1)
					q.Leave()
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, q.Len())
}
