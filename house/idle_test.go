package house_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// word is an actor that has as little as it can.
type word struct{ n uint64 }

func (w *word) add(s *core.AskStack[uint64, uint64]) core.Yield {
	w.n += s.Req
	return s.Return(w.n)
}

var wordAdd = core.Handle((*word).add)

// TestIdleActorBytes: an actor that waits for its first message is two objects,
// its struct and its house, of at most 320 bytes together.
func TestIdleActorBytes(t *testing.T) {
	if invariant.Race {
		t.Skip("the race detector's memory is not the actor's")
	}
	const actors = 100_000
	sys, err := house.New(house.Config{Workers: 2})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	defer sys.Shutdown(context.Background())
	all := make([]core.Address[word], actors)

	live := func() (bytes, objects uint64) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what the first one swept late
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, m.HeapObjects
	}
	bytes, objects := live()
	for i := range all {
		all[i] = core.Spawn(sys, func() *word { return &word{} })
	}
	after, more := live()
	perActor := float64(after-bytes) / actors
	t.Logf("%.1f bytes and %.3f objects an actor", perActor, float64(more-objects)/actors)
	require.LessOrEqual(t, perActor, 320.0)
	require.LessOrEqual(t, float64(more-objects)/actors, 2.001)

	n, err := core.Ask(t.Context(), wordAdd.At(all[actors-1]), 3) // they do live
	require.NoError(t, err)
	require.Equal(t, uint64(3), n)
}
