package house_test

import (
	"runtime"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// idler is a one-word actor.
type idler struct{ n uint64 }

type idleStack struct {
	core.AskStack[struct{}, uint64]
}

func (a *idler) ask(s *idleStack) core.Yield { a.n++; return s.Return(a.n) }

var onIdle = core.Handle((*idler).ask)

const (
	idleBytes   = 320
	idleObjects = 2 // the house and the user's struct
)

// TestIdleActorBytes: an actor that waits for nothing costs little, and no more
// after it was asked.
func TestIdleActorBytes(t *testing.T) {
	const n = 100_000
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	all := make([]core.Address[idler], n)
	before := liveHeap()
	for i := range all {
		all[i] = core.Spawn(sim, func() *idler { return &idler{} })
	}
	after := liveHeap()
	wantIdle(t, "new", before, after, n)
	for i := 0; i < n; i += 100 {
		if got, err := housetest.Ask(t, sim, onIdle.At(all[i]), struct{}{}); got != 1 || err != nil {
			t.Fatal(got, err)
		}
	}
	wantIdle(t, "asked", before, liveHeap(), n)
	runtime.KeepAlive(all)
}

func liveHeap() runtime.MemStats {
	runtime.GC()
	runtime.GC() // what the first one's sweep found is counted now
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m
}

func wantIdle(t *testing.T, what string, before, after runtime.MemStats, n int) {
	t.Helper()
	bytes := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / float64(n)
	objects := (float64(after.HeapObjects) - float64(before.HeapObjects)) / float64(n)
	t.Logf("%s actors: %.1f bytes, %.3f objects each", what, bytes, objects)
	// The pools and the test itself have a few objects too.
	if bytes > idleBytes || objects > idleObjects+0.1 {
		t.Errorf("%s actors: %.1f bytes and %.3f objects each, want at most %d and %d", what, bytes, objects, idleBytes, idleObjects)
	}
}
