package core_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// What messages pointed to is the collector's once they are handled, whoever sent them: nothing
// pooled refers to it.
func TestMessagesLetGoOfWhatTheyPointTo(t *testing.T) {
	const n = 20 // more than one that goes by itself
	sim := housetest.New(t, 1, house.Config{Workers: 2})
	workers := sim.Workers()
	heard := 0
	_, hears := core.SpawnNoticeFunc(workers[0], func(s *core.NoticeStack[*[64]int]) core.Yield {
		heard += s.Msg[0]
		return s.Return()
	})
	var all []weak.Pointer[[64]int]
	one := func() *[64]int {
		p := &[64]int{1}
		all = append(all, weak.Make(p))
		return p
	}
	for range n {
		require.NoError(t, core.Notice(hears, one()))
	}
	sim.Rest()
	for _, w := range workers {
		_, tells := core.SpawnFunc(w, func(s *core.AskStack[int, int]) core.Yield {
			for range n {
				hears.Notice(s, one())
			}
			return s.Return(0)
		})
		_, err := housetest.Ask(t, sim, tells, 0)
		require.NoError(t, err)
		sim.Rest()
	}
	require.Equal(t, 3*n, heard)
	runtime.GC()
	runtime.GC()
	for i, p := range all {
		require.Nil(t, p.Value(), "message %d", i)
	}
}
