package stage_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/stage"
)

func TestIdle(t *testing.T) {
	l := stage.New(&ends{}, stage.Idle(100))
	require.NoError(t, l.Open(1000))
	require.EqualValues(t, 1100, l.Alarm(0))
	l.Sent(1050, 1)
	require.NoError(t, l.Tick(1100))
	require.False(t, l.Closing())
	require.EqualValues(t, 1150, l.Alarm(0))
	l.Receive(1140, []byte("x"))
	require.NoError(t, l.Tick(1150))
	require.False(t, l.Closing())
	require.NoError(t, l.Tick(1240))
	require.True(t, l.Closing())
}

// TestRate reads whatever Rate lets through: at no time more than the rate, the burst and a read
// have room for; and no less, once it is held.
func TestRate(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		perSecond, burst, most := 1+rng.IntN(1<<rng.IntN(24)), 1+rng.IntN(1<<rng.IntN(20)), 1+rng.IntN(1<<14)
		l := stage.New(&ends{}, stage.Rate(perSecond, burst))
		now := int64(1)
		require.NoError(t, l.Open(now))
		began, read, late := now, 0, rng.Int64N(2)
		for range 200 {
			for !l.HoldsReading() {
				n := 1 + rng.IntN(most)
				require.NoError(t, l.Receive(now, make([]byte, n)))
				read += n
			}
			room := float64(perSecond)*time.Duration(now-began).Seconds() + float64(burst)
			require.Less(t, float64(read), room+float64(most)+10, "seed %d", seed)
			if late == 0 {
				require.GreaterOrEqual(t, float64(read), room-10, "seed %d: held too early", seed)
			}
			now = max(now, l.Alarm(0)+late*rng.Int64N(1e6))
			require.NoError(t, l.Tick(now))
			require.False(t, l.HoldsReading(), "seed %d: held at the alarm", seed)
		}
	}
	require.Panics(t, func() { stage.Rate(0, 1) })
}

// TestRateSavesNothingUp: whoever was silent for hours may send a burst, and no more.
func TestRateSavesNothingUp(t *testing.T) {
	l := stage.New(&ends{}, stage.Rate(100, 1000))
	require.NoError(t, l.Open(1))
	now := int64(5 * time.Hour)
	for range 2 {
		now += int64(5 * time.Hour)
		read := 0
		for ; !l.HoldsReading(); read += 100 {
			require.NoError(t, l.Receive(now, make([]byte, 100)))
		}
		require.Equal(t, 1100, read)
		require.NoError(t, l.Tick(now+int64(time.Hour)))
	}
}
