package house

import (
	"bytes"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/stackhouse-go/stackhouse/stack"
)

// slowDuo is a duo whose Logger writes to what is returned.
func slowDuo(t *testing.T, do func(d *duo, w *stack.Engine)) (*duo, *bytes.Buffer) {
	d, log := newDuo(t, do), new(bytes.Buffer)
	d.system.config.Logger = slog.New(slog.NewTextHandler(log, nil))
	return d, log
}

// slow is longer than Config.SlowStep, and than the pause between lines.
const slow = 200_000_000

// TestSlowStepOfAssistedWorker: a worker that runs another's turn reports a slow step there as
// its own, and names the last message that it has handled, wherever.
func TestSlowStepOfAssistedWorker(t *testing.T) {
	back := int64(0)
	d, log := slowDuo(t, func(d *duo, w *stack.Engine) {
		if d.now += back; back == 0 {
			tell(w, d.to, 1)
		}
	})
	turn := func(own, far, home int64, pattern string) {
		t.Helper()
		log.Reset()
		d.far.do = func(w *stack.Engine) {
			d.now += far
			if back = home; back > 0 {
				tell(w, d.door, 1)
			}
		}
		heard := d.far.heard
		d.now += slow
		d.a.hot.Defer(&stack.Deferred{Run: func(*stack.Deferred) { d.now += own }})
		tell(&d.a.hot, d.door, 1)
		d.a.hot.WakesLeft = 0
		d.a.Turn()
		back = 0
		if d.far.heard == heard || d.b.hot.Woken() {
			t.Fatal("the turn wasn't borrowed")
		}
		if n := strings.Count(log.String(), "\n"); n > 1 || pattern == "" && n > 0 || !regexp.MustCompile(pattern).MatchString(log.String()) {
			t.Errorf("steps of %d ns in a borrowed turn: %q", far, log.String())
		}
	}
	turn(0, slow/2-1, 0, "")
	turn(0, slow/2, 0, `took=100ms worker=0 messages=2 actor=house.doer#1 step=house\.\(\*doer\)\.hear skipped=0`)
	turn(0, slow/2-1, 0, "")
	turn(0, slow, 0, `took=200ms worker=0 messages=2 actor=house.doer#1 step=house\.\(\*doer\)\.hear skipped=0`)
	turn(slow, 1000, 0, `took=200\.001ms worker=0 messages=2 actor=house.doer#1 step=house\.\(\*doer\)\.hear skipped=0`)
	turn(0, 1000, slow, `took=200ms worker=0 messages=1 actor=house.doer#2 step=house\.\(\*doer\)\.hear skipped=0`)
	d.a.publish()
	if n := d.a.Stats().SlowSteps; n != 4 {
		t.Errorf("%d slow steps are counted, want 4", n)
	}
}

// TestSlowStepsOfAssistedWorkers: where the other worker has read the clock itself, nothing is
// told twice.
func TestSlowStepsOfAssistedWorkers(t *testing.T) {
	d, log := slowDuo(t, func(d *duo, w *stack.Engine) { tell(w, d.to, 3) })
	d.far.do = func(*stack.Engine) { d.now += slow }
	d.b.hot.TurnTime, d.b.hot.Budget = 0, 1
	tell(&d.a.hot, d.door, 1)
	d.a.Turn()
	if !regexp.MustCompile(`took=200ms worker=1 messages=1 [^\n]*\n.* took=400ms worker=0 messages=3 [^\n]*\n$`).MatchString(log.String()) {
		t.Errorf("of three slow steps: %s", log.String())
	}
	d.a.publish()
	d.b.publish()
	if a, b := d.a.Stats().SlowSteps, d.b.Stats().SlowSteps; a != 1 || b != 1 {
		t.Errorf("%d and %d slow steps are counted, want 1 and 1", a, b)
	}
}
