package stack

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRestarted: a listener hears of a restart, with the actor and the reason.
func TestRestarted(t *testing.T) {
	h := newHand(t, 1)
	topic := &h.guests.Events.Restarted
	l := topic.Listen(1)
	house := settleOn(h, 0, &writer{})
	why := fmt.Errorf("again")
	h.workers[0].tellRestarted(house, why)
	require.Equal(t, ActorRestarted{house.any(), why}, <-l.C())
	l.Close()
	require.True(t, topic.Silent())
	h.workers[0].tellRestarted(house, why)
	require.Zero(t, len(l.C()))
}
