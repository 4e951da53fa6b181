package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// keepsTick has a future of its own, which outlives the hooks that ask into it.
type keepsTick struct {
	tick        core.Future[core.Tick]
	start, stop error
	stopped     bool
}

func (k *keepsTick) PreStart(s *core.HookStack) core.Yield {
	core.Timer.AskWithin(s, &k.tick, time.Minute, time.Second)
	return core.Suspend(s, (*keepsTick).started)
}

func (k *keepsTick) started(s *core.HookStack) core.Yield {
	_, k.start = k.tick.Get()
	return s.Return()
}

func (k *keepsTick) PostStop(s *core.HookStack) core.Yield {
	core.Timer.Ask(s, &k.tick, time.Second)
	return core.Suspend(s, (*keepsTick).ended)
}

func (k *keepsTick) ended(s *core.HookStack) core.Yield {
	_, k.stop = k.tick.Get()
	k.stopped = true
	return s.Return()
}

// A timer that goes off has no error, whatever its future had before for another stack.
func TestTimerForgetsAnOldError(t *testing.T) {
	s := housetest.New(t, 1, house.Config{})
	k := &keepsTick{}
	a := core.Spawn(s, func() *keepsTick { return k })
	s.Run(5 * time.Second)
	require.ErrorIs(t, k.start, core.ErrTimeout)
	a.Stop()
	s.Run(5 * time.Second)
	require.True(t, k.stopped)
	require.NoError(t, k.stop)
}
