package house_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// TestDeadSystemsAreForgotten: a system that has shut down leaves nothing behind in another one
// with which it has exchanged messages both ways.
func TestDeadSystemsAreForgotten(t *testing.T) {
	lives := started(t, house.Config{Workers: 2})
	a, p := spawn(lives)
	meet := func() {
		other := running(t, house.Config{Workers: 1})
		b, q := spawn(other)
		back := func(s *task) core.Yield {
			onHear.At(b).Notice(s, func() {})
			q.Ask(s, &s.f, reply(1))
			return s.wait(reply(2))
		}
		n, err := core.Ask(t.Context(), q, func(s *task) core.Yield {
			for range 3 { // a stack, and an envelope
				onHear.At(a).Notice(s, func() {})
			}
			p.Ask(s, &s.f, back)
			return s.wait(reply(3))
		})
		require.NoError(t, err)
		require.Equal(t, 3, n)
		require.NoError(t, shutdown(other))
	}
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	systems := int64(1000)
	if invariant.Enabled {
		systems = 100
	}
	for range 50 {
		meet()
	}
	before := held()
	for range systems {
		meet()
	}
	each := (held() - before) / systems
	t.Logf("%d bytes", each)
	if each >= 2048 {
		t.Errorf("%d bytes are left of each dead system", each)
	}
}
