package self

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Both ways must tell any two goroutines apart, and agree with themselves while
// the goroutine moves between threads and its stack moves in memory.
func TestIDs(t *testing.T) {
	for name, id := range map[string]func() uintptr{"fast": ID, "traced": traced} {
		t.Run(name, func(t *testing.T) {
			const n = 100
			var all, met sync.WaitGroup
			ids := make([]uintptr, n)
			met.Add(n)
			for i := range n {
				all.Go(func() {
					ids[i] = id()
					met.Done()
					met.Wait() // all of them live
					for range 10 {
						runtime.Gosched()
						if deep(100, id) != ids[i] {
							t.Error("a goroutine's ID changed")
						}
					}
				})
			}
			all.Wait()
			seen := map[uintptr]bool{0: true}
			for _, id := range ids {
				require.False(t, seen[id], "two goroutines with one ID, or one with 0")
				seen[id] = true
			}
		})
	}
}

// deep calls id with a stack that has grown.
func deep(n int, id func() uintptr) uintptr {
	var room [256]byte
	if n == 0 {
		return id()
	}
	v := deep(n-1, id)
	runtime.KeepAlive(&room)
	return v
}

func BenchmarkID(b *testing.B) {
	for b.Loop() {
		ID()
	}
}
