package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
)

// raw is a frame as Next cuts it.
func raw(t *testing.T, f []byte) frame.Raw {
	t.Helper()
	r, n, err := frame.Next(f)
	require.NoError(t, err)
	require.Equal(t, len(f), n)
	return r
}

// TestIncomingCounts frames of the stream, those that were skipped, too, and no others.
func TestIncomingCounts(t *testing.T) {
	i := MakeIncoming(0)
	i.Applied(raw(t, tell(1, 20)))
	require.EqualValues(t, 20, i.Position())
	i.Applied(raw(t, []byte("\x00\x00\x02\xff\x01")))
	require.EqualValues(t, 25, i.Position())
	for _, f := range [][]byte{(&frame.Ack{Position: 3}).Append(nil), (&frame.Ping{Asks: true}).Append(nil), (&frame.Bye{}).Append(nil), []byte("\x00\x00\x02\xff\x03")} {
		i.Applied(raw(t, f))
		require.EqualValues(t, 25, i.Position())
	}
}

// TestAckIsDue at a quarter of the window, and when a PING asks; HELLO is as good as an ACK.
func TestAckIsDue(t *testing.T) {
	i := MakeIncoming(80)
	i.Applied(raw(t, tell(1, 19)))
	require.False(t, i.Due())
	require.True(t, i.Untold())
	i.Applied(raw(t, (&frame.Ping{}).Append(nil)))
	require.False(t, i.Due())
	i.Applied(raw(t, tell(1, 7)))
	require.True(t, i.Due())
	require.EqualValues(t, 26, i.Tell())
	require.False(t, i.Due())
	require.False(t, i.Untold())
	i.Applied(raw(t, (&frame.Ping{Asks: true}).Append(nil)))
	require.True(t, i.Due())
	require.EqualValues(t, 26, i.Begin())
	require.False(t, i.Due())
	i.Applied(raw(t, tell(1, 20)))
	require.True(t, i.Due())
	i.Applied(raw(t, (&frame.Ping{Asks: true}).Append(nil)))
	i.Tell()
	require.False(t, i.Due())

	most := MakeIncoming(0)
	for range 3 {
		most.Applied(raw(t, tell(1, 1<<16)))
		require.False(t, most.Due())
	}
	most.Applied(raw(t, tell(1, 1<<16)))
	require.True(t, most.Due())
	few := MakeIncoming(1)
	require.False(t, few.Due())
	few.Applied(raw(t, tell(1, 7)))
	require.True(t, few.Due())
}
