package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// A guest whose broadcast isn't answered in time gets ErrTimeout, though its members' asks
// end at the same moment, all of them.
func TestBroadcastOfAGuestAtItsDeadline(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 1, AskTimeout: 5 * time.Millisecond, Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	g := &core.Group[loner]{}
	g.Join(core.Spawn(sys, func() *loner { return &loner{} }))
	all := lonerAdd.Broadcast(g)
	for range 10 {
		err := core.AskInto(t.Context(), all, -int(time.Hour), func(*core.Answers[int]) { t.Error("answers") })
		require.ErrorIs(t, err, core.ErrTimeout)
	}
	ended(t, sys)
}

// What comes in Answers lives until GetInto's function has read it.
func TestPendingAnswers(t *testing.T) {
	sys := borrowing(t, 2, 0)
	g := &core.Group[loner]{}
	for range 3 {
		g.Join(core.Spawn(sys, func() *loner { return &loner{} }))
	}
	err := core.Begin(lonerAdd.Broadcast(g), 7).GetInto(func(a *core.Answers[int]) {
		require.Equal(t, 3, a.Len())
		for n, err := range a.All() {
			require.NoError(t, err)
			require.Equal(t, 7, n)
		}
	})
	require.NoError(t, err)
	ended(t, sys)
}
