package house

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/stack"
)

// TestStatsOfLongTurns: a worker that is busy shows each turn of 200 ms, and what it did in 100 ms, or in 64
// turns.
func TestStatsOfLongTurns(t *testing.T) {
	for _, c := range []struct {
		takes int64 // a turn, ns
		want  int   // turns that aren't shown, at most
	}{{200_000_000, 0}, {10_000_000, 9}, {1000, publishEvery - 1}} {
		var d *duo
		d = newDuo(t, func(_ *duo, w *stack.Worker) {
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
