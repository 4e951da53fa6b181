package house

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/turns"
	"github.com/stackhouse-go/stackhouse/stack"
)

// TestNoticesGather: what a goroutine sends while a worker has nothing but notices of goroutines
// waits for the next turn; what another worker sends, or what comes behind that, doesn't.
func TestNoticesGather(t *testing.T) {
	for _, c := range []struct {
		name         string
		first, later func(d *duo) // what is sent before the turn, and in its first step
		want         int          // messages that the turn handles
	}{
		{"notices only", (*duo).goroutineTells, (*duo).goroutineTells, 1},
		{"a worker's behind a goroutine's", (*duo).goroutineTells, (*duo).workerTells, 1},
		{"behind a worker's", (*duo).workerTells, (*duo).goroutineTells, 2},
		{"workers only", (*duo).workerTells, (*duo).workerTells, 2},
		{"a goroutine's behind both", func(d *duo) { d.workerTells(); d.goroutineTells() }, (*duo).goroutineTells, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDuo(t, nil)
			d.b.hot.Unpark()
			d.far.do = func(w *stack.Engine) {
				if d.far.heard == 1 {
					c.later(d)
				}
			}
			c.first(d)
			d.b.Turn()
			if d.far.heard != c.want {
				t.Errorf("a turn handles %d messages, want %d", d.far.heard, c.want)
			}
			for d.b.Turn() {
			}
			want(t, "all are handled", d.far.heard == max(2, c.want), true)
		})
	}
}

func (d *duo) goroutineTells() {
	n := 1
	if err := stack.Tell(&d.system.guests, d.to, doerHear, &n); err != nil {
		panic(err)
	}
}

func (d *duo) workerTells() {
	d.a.hot.Push(d.to, d.a.hot.Begin(doerHear))
	d.a.hot.RunDeferred()
}

// TestGatherTime: turns that take goroutines' notices only begin a µs apart, if the worker has
// nothing else to do. The loop doesn't wait for a clock that stands still, and knows what the turn
// took.
func TestGatherTime(t *testing.T) {
	for _, c := range []struct {
		name  string
		tells func(d *duo)
		// what a step and a reading of the clock take, and for how long it is to wait, ns
		step, tick, waits int64
		slow              uint64
	}{
		{"notices", (*duo).goroutineTells, 0, 100, gatherTime, 0},
		{"a step of some time", (*duo).goroutineTells, 900, 100, gatherTime, 0},
		{"a step of more", (*duo).goroutineTells, gatherTime, 1, gatherTime + 1, 0},
		{"a slow step", (*duo).goroutineTells, 1e9, 0, 1e9, 1},
		{"a clock that stands still", (*duo).goroutineTells, 0, 0, 0, 0},
		{"another worker's", (*duo).workerTells, 0, 100, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tick := int64(0)
			d := newDuo(t, nil)
			d.b.hot.Unpark()
			reads := 0
			d.system.config.Clock = func() int64 {
				if reads++; reads > 10*gatherLooks {
					panic("the loop waits for the clock for ever")
				}
				d.now += tick
				return d.now
			}
			d.b.yieldedAt = d.now
			d.far.do = func(*stack.Engine) { d.now += c.step }
			c.tells(d)
			began := d.now
			d.system.config.Manual = false // as the loop has it
			turner := turns.Begin()
			d.b.Turn()
			tick = c.tick
			d.b.resume()
			tick = 0
			turner.End()
			d.system.config.Manual = true
			if waited := d.now - began; waited != c.waits {
				t.Errorf("the next turn begins %d ns behind this one, want %d", waited, c.waits)
			}
			d.b.hot.Count.Publish()
			if n := d.b.Stats().SlowSteps; n != c.slow {
				t.Errorf("%d slow steps, want %d", n, c.slow)
			}
		})
	}
}
