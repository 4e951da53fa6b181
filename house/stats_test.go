package house

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/count"
)

// TestStatsOfEachCounter: what each worker counts is in Stats under its own name, and once. The
// counters stand in the order of the fields.
func TestStatsOfEachCounter(t *testing.T) {
	counters := []int{
		count.Turns, count.Visits, count.Messages, count.Answers, count.Late, count.Expired,
		count.Cancelled, count.Timeouts, count.Refused, count.Full, count.DeadLetter,
		count.Failures, count.Restarts, count.Forwards, count.Given, count.Parks, count.Naps,
		count.Woken, count.Wakes, count.Vain, count.Spins, count.Slow, count.Borrowed,
		count.Trimmed,
	}
	sys, err := New(Config{Workers: 2, Manual: true})
	require.NoError(t, err)
	first, second := sys.workers[0], sys.workers[1]
	for i, c := range counters {
		first.hot.Count.Add(c, uint64(i+1))
		second.hot.Count.Add(c, 100)
	}
	second.queued.Record(time.Second)
	first.publish()
	second.publish()
	own, all := reflect.ValueOf(first.Stats()), reflect.ValueOf(sys.Stats())
	require.Equal(t, len(counters)+1, own.NumField(), "and QueueWait")
	for i := range counters {
		name := own.Type().Field(i).Name
		require.EqualValues(t, i+1, own.Field(i).Uint(), name)
		require.EqualValues(t, i+101, all.Field(i).Uint(), name)
	}
	require.Zero(t, first.Stats().QueueWait)
	for _, wait := range []Wait{second.Stats().QueueWait, sys.Stats().QueueWait} {
		require.GreaterOrEqual(t, wait.Max, time.Second)
		require.NotZero(t, wait.P50)
	}
	require.NoError(t, sys.Shutdown(t.Context()))
}

// TestTrimOfAWorker: the first one trims what all share, too; each counts what it leaves to the
// collector.
func TestTrimOfAWorker(t *testing.T) {
	sys, err := New(Config{Workers: 2, Manual: true})
	require.NoError(t, err)
	made := func() (n int) {
		for _, u := range sys.guests.Pools.Usage() {
			n += u.Made
		}
		return n
	}
	calls := make([]*stack.Stack, 100)
	for i := range calls {
		calls[i] = sys.guests.Begin(nil, doerHear)
	}
	for _, s := range calls {
		sys.guests.Pools.Put(&s.Object)
	}
	for range 3 {
		sys.workers[1].trim()
		require.Equal(t, len(calls), made())
	}
	for range 3 {
		sys.workers[0].trim()
	}
	require.Less(t, made(), len(calls)/2)
	sys.workers[0].publish()
	require.EqualValues(t, len(calls)-made(), sys.workers[0].Stats().Trimmed, "those of guests are its")

	for range 2 {
		for i := range calls {
			calls[i] = sys.workers[1].hot.Begin(doerHear)
		}
		for _, s := range calls {
			sys.workers[1].hot.Shard.Put(&s.Object)
		}
	}
	for range 3 {
		sys.workers[1].trim()
	}
	sys.workers[1].publish()
	require.NotZero(t, sys.workers[1].Stats().Trimmed)
	require.NoError(t, sys.Shutdown(t.Context()))
}

// TestStatsOfLongTurns: a worker that is busy shows each turn of 200 ms, and what it did in 100
// ms, or in 64 turns.
func TestStatsOfLongTurns(t *testing.T) {
	for _, c := range []struct {
		takes int64 // a turn, ns
		want  int   // turns that aren't shown, at most
	}{{200_000_000, 0}, {10_000_000, 9}, {1000, publishEvery - 1}} {
		var d *duo
		d = newDuo(t, func(_ *duo, w *stack.Engine) {
			d.now += c.takes
			tell(w, d.door, 1)
		})
		d.a.hot.Budget = 1_000_000
		d.a.hot.TurnTime = 1 // a message a turn
		d.a.hot.SlowStep = 0
		tell(&d.a.hot, d.door, 1)
		most := 0
		for n := 1; n < 200; n++ {
			d.a.Turn()
			most = max(most, n-int(d.a.Stats().Turns))
			if s := d.a.Stats(); s.Messages != s.Turns {
				t.Fatalf("%d messages in %d turns", s.Messages, s.Turns)
			}
		}
		if most != c.want {
			t.Errorf("turns of %d ns: %d weren't shown, want %d at most", c.takes, most, c.want)
		}
		d.door.Stop(&d.system.guests)
		for d.a.Turn() {
		}
	}
}
