package rendezvous

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

func made() *Cell {
	c := &Cell{}
	c.Make()
	return c
}

// TestTransitions makes every transition from every state.
func TestTransitions(t *testing.T) {
	names := []string{"waiting", "awake", "done", "gone"}
	got := ""
	for from, name := range names {
		for _, m := range []struct {
			name string
			make func(*Cell) bool
		}{
			{"Waits", (*Cell).Waits},
			{"Leave", (*Cell).Leave},
			{"Finish", (*Cell).Finish},
		} {
			if m.name == "Finish" && from == int(done) {
				continue // a worker answers once
			}
			c := made()
			c.word.Store(uint32(from))
			agreed := m.make(c)
			got += fmt.Sprintf("%-7s  %-6s  %-7s  %-5v  %d\n", name, m.name, names[c.word.Load()], agreed, len(c.signal))
		}
	}
	require.Equal(t, `waiting  Waits   waiting  false  0
waiting  Leave   gone     true   0
waiting  Finish  done     true   1
awake    Waits   waiting  true   0
awake    Leave   awake    false  0
awake    Finish  done     true   0
done     Waits   done     false  0
done     Leave   done     false  0
gone     Waits   gone     false  0
gone     Leave   gone     false  0
gone     Finish  gone     false  0
`, got)
}

// TestBlock ends a wait in each way. The timer is stopped afterwards.
func TestBlock(t *testing.T) {
	c := made()
	require.True(t, c.Finish())
	require.NoError(t, c.Block(t.Context(), 0))
	require.True(t, c.Ready())
	c.Reset()
	require.False(t, c.Ready())
	require.True(t, c.Finish())
	require.NoError(t, c.Block(t.Context(), 1<<40))
	require.False(t, c.timer.Stop(), "the timer runs on")

	c.Reset()
	require.ErrorIs(t, c.Block(t.Context(), 1), fault.ErrTimeout)
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, c.Block(ended, 0), fault.ErrCancelled)
	require.True(t, c.Leave())
	require.True(t, c.Gone())
}

// TestOneFrees has both sides end at once, many times: exactly one of them must free.
func TestOneFrees(t *testing.T) {
	c := made()
	for i := range 10_000 {
		c.Reset()
		if i%2 == 0 {
			c.StayAwake()
		}
		answered, left := false, false
		var both sync.WaitGroup
		both.Go(func() { answered = c.Finish() })
		if i%2 == 1 || c.Waits() {
			left = c.Leave()
			if !left {
				c.Take()
			}
		}
		both.Wait()
		require.NotEqual(t, answered, left, "round %d", i)
		require.Empty(t, c.signal, "round %d", i)
	}
}

// TestCall: a function is called in place of the signal, each time that the cell is finished.
func TestCall(t *testing.T) {
	called := 0
	c := &Cell{}
	c.Call(func() { called++ })
	var l Line
	for i := range 3 {
		c.Reset()
		l.Join(c)
		l.Finish(func(*Cell) { t.Error("nobody gives up") })
		require.Equal(t, i+1, called)
	}
}
