package core_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// A guest whose broadcast isn't answered in time gets ErrTimeout, though its members' asks
// end at the same moment, all of them.
func TestBroadcastOfAGuestAtItsDeadline(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 1, AskTimeout: 5 * time.Millisecond, Supervise: resumes, Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	g := &core.Group[loner]{}
	g.Join(core.Spawn(sys, func() *loner { return &loner{} }))
	all := core.Broadcast(lonerAdd, g)
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
	err := core.Begin(core.Broadcast(lonerAdd, g), 7).GetInto(func(a *core.Answers[int]) {
		require.Equal(t, 3, a.Len())
		for n, err := range a.All() {
			require.NoError(t, err)
			require.Equal(t, 7, n)
		}
	})
	require.NoError(t, err)
	ended(t, sys)
}

// twice gets in a step what it begins there, twice, and answers what the second time panics with.
type twice struct{ port core.Port[int, int] }

func (w *twice) get(s *core.AskStack[int, string]) (y core.Yield) {
	p := core.Begin(w.port, 7)
	if _, err := p.Get(); !errors.Is(err, core.ErrBlockingOnWorker) {
		return s.Throw(fmt.Errorf("the first: %w", err))
	}
	defer func() { y = s.Return(fmt.Sprint(recover())) }()
	_, err := p.Get()
	return s.Throw(fmt.Errorf("the second: %w", err))
}

var twiceGet = core.Handle((*twice).get)

// A Pending is good for one Get, and Answers for as long as their function reads them.
func TestUseAfterTheEnd(t *testing.T) {
	sys := borrowing(t, 2, 0)
	at := core.Spawn(sys, func() *loner { return &loner{} })
	p := core.Begin(lonerAdd.At(at), 7)
	n, err := p.Get()
	require.NoError(t, err)
	require.Equal(t, 7, n)
	require.PanicsWithValue(t, "core: a Pending is used after its Get", func() { p.Get() })
	require.PanicsWithValue(t, "core: a Pending is used after its Get", func() { p.Ready() })

	// Nor is it after a Get that failed, whose answer is still to come, as it is of an actor on
	// the same worker.
	panics, err := core.Ask(t.Context(), twiceGet.At(core.Spawn(at.Beside(), func() *twice { return &twice{lonerAdd.At(at)} })), 0)
	require.NoError(t, err)
	require.Equal(t, "core: a Pending is used after its Get", panics)

	g := &core.Group[loner]{}
	g.Join(at)
	dead, err := core.Ask(t.Context(), core.Broadcast(lonerAdd, g), 7)
	require.NoError(t, err)
	const text = "core: Answers are read after their end; a guest reads them in AskInto or GetInto"
	require.PanicsWithValue(t, text, func() { dead.Get(0) })
	require.PanicsWithValue(t, text, func() { dead.Err() })
	require.PanicsWithValue(t, text, func() {
		for range dead.All() {
			break
		}
	})
	ended(t, sys)
}
