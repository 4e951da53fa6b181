package idleness

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAgainstModel compares a model, which looks at each nanosecond, with a timer that looks when
// Next says: both find the same at the same time.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		s := New(int64(rng.IntN(3)*rng.IntN(20)), 0)
		idle := s.idle
		var after, since, last, resumed, told int64 // the model's
		paused, notified := false, false
		timer := int64(0)
		listen := func(now int64) {
			if at := s.Next(now); at == 0 {
				timer = 0
			} else if timer == 0 || timer > at {
				timer = at
			}
		}
		listen(0)
		for now := int64(1); now < 300; now++ {
			switch rng.IntN(40) {
			case 0:
				s.Begun(1)
				s.Ended(now)
				last, notified = now, false
			case 1:
				after, since, notified = int64(rng.IntN(30)), now, false
				s.Tell(now, after)
				listen(now)
			case 2:
				if pause := rng.IntN(2) == 0; pause != paused {
					paused, resumed = pause, now
					require.True(t, s.Pause(now, pause))
				} else {
					require.False(t, s.Pause(now, pause))
				}
				listen(now)
			}
			tells := after > 0 && !notified && now-max(last, since) >= after
			stops := idle > 0 && !paused && now-max(last, resumed) >= idle
			if timer == 0 || timer > now {
				require.False(t, tells, "seed %d, at %d: late", seed, now)
				require.False(t, stops, "seed %d, at %d: late", seed, now)
				continue
			}
			timer = 0
			require.Equal(t, tells, s.Tells(now), "seed %d, at %d", seed, now)
			require.False(t, s.Tells(now), "again")
			if tells {
				notified, told = true, told+1
			}
			require.Equal(t, stops, s.Idle(now), "seed %d, at %d", seed, now)
			if stops { // as if a call were in progress
				s.Anew(now)
				resumed = now
			}
			listen(now)
			require.True(t, timer == 0 || timer > now, "seed %d, at %d: for nothing", seed, now)
		}
	}
}

func TestCalls(t *testing.T) {
	s := New(0, 3)
	require.Zero(t, s.Next(5))
	require.False(t, s.Idles())
	s.Begun(2)
	require.False(t, s.Spent())
	s.Begun(2)
	require.True(t, s.Spent())
	s.Pause(1, true)
	require.False(t, s.Spent())
	s.Forget()
	require.True(t, s.Spent())
	require.True(t, s.Stop())
	require.False(t, s.Stop())
}

// A call that begins after Stop spares the actor, and one that has begun before doesn't.
func TestSpared(t *testing.T) {
	s := New(10, 0)
	s.Begun(1)
	s.Stop()
	require.False(t, s.Spared(20))
	require.Zero(t, s.Next(20))
	s.Begun(1)
	require.True(t, s.Spared(20))
	require.EqualValues(t, 30, s.Next(20))
	require.True(t, s.Stop())

	s = New(10, 2)
	s.Begun(2)
	s.Stop()
	s.Begun(1)
	require.False(t, s.Spared(20), "it has had its calls")
}

// After Stop there is nothing to look for. A time beyond the last that a clock can say is never.
func TestNever(t *testing.T) {
	s := New(10, 0)
	require.EqualValues(t, 10, s.Next(0))
	s.Stop()
	require.Zero(t, s.Next(0))
	s = New(math.MaxInt64, 0)
	s.Ended(5)
	require.Zero(t, s.Next(5))
	s.Tell(0, 7)
	require.EqualValues(t, 12, s.Next(5))
	s.Forget()
	require.Zero(t, s.Next(5))
	s.Tell(5, -1)
	require.Zero(t, s.Next(5))
}
