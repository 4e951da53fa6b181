package copied

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// If two goroutines change a value at once, the slower one begins anew, so that no change is lost.
func TestChangesAtOnce(t *testing.T) {
	const workers, each = 8, 1000
	var v Value[int]
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				v.Change(func(n *int) *int {
					next := 1
					if n != nil {
						next += *n
					}
					return &next
				})
			}
		})
	}
	all.Wait()
	require.Equal(t, workers*each, *v.Load())
	kept := v.Load()
	v.Change(func(n *int) *int { return n })
	require.Same(t, kept, v.Load())
}
