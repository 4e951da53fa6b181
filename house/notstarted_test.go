package house_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// TestNotStarted: who asks an actor of a system that nobody has started hears that, and not only
// that time has passed; what has a deadline goes by it as before.
func TestNotStarted(t *testing.T) {
	sys := newSystem(t, house.Config{Workers: 1, AskTimeout: time.Millisecond})
	p := counterCount.At(core.Spawn(sys, func() *Counter { return &Counter{} }))
	_, err := core.Ask(t.Context(), p, struct{}{})
	require.Equal(t, core.ErrNotStarted, err)
	require.ErrorIs(t, err, core.ErrTimeout)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = core.Ask(ctx, p, struct{}{})
	require.Equal(t, core.ErrNotStarted, err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = core.Ask(cancelled, p, struct{}{})
	require.Equal(t, core.ErrCancelled, err)

	require.NoError(t, sys.Start(t.Context()))
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = core.Ask(ctx, p, struct{}{})
	require.NoError(t, err)
	require.NoError(t, sys.Shutdown(t.Context()))
}
