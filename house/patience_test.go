package house

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// What has ended in time isn't blamed though its limits have ended by the time that is looked.
func TestPatienceBlamesNothingThatHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ended := make(chan struct{})
	p := patience{ctx: ctx, over: ctx}
	require.False(t, p.wait(ended))
	close(ended)
	for range 100 {
		require.True(t, p.wait(ended))
	}
}
