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
func slowDuo(t *testing.T, do func(d *duo, w *stack.Worker)) (*duo, *bytes.Buffer) {
	d, log := newDuo(t, do), new(bytes.Buffer)
	d.system.config.Logger = slog.New(slog.NewTextHandler(log, nil))
	return d, log
}

// slow is longer than Config.SlowStep, and than the pause between lines.
const slow = 200_000_000

// TestSlowStepOfAssistedWorker: a worker that runs another's turn reports a step there that was slow, as
// the other's: at first one of several messages, then alone.
func TestSlowStepOfAssistedWorker(t *testing.T) {
	back := int64(0)
	d, log := slowDuo(t, func(d *duo, w *stack.Worker) {
		if d.now += back; back == 0 {
			tell(w, d.to, 1)
		}
	})
	turn := func(own, far, home int64, pattern string) {
		t.Helper()
		log.Reset()
		d.far.do = func(w *stack.Worker) {
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
	turn(0, slow/2, 0, `took=100ms worker=1 messages=2 actor=house.doer#1 step=house\.\(\*doer\)\.hear skipped=0`)
	turn(0, slow/2-1, 0, "")
	turn(0, slow, 0, `took=200ms worker=1 messages=1 actor=house.doer#1 step=house\.\(\*doer\)\.hear skipped=0`)
	turn(slow, 1000, 0, `took=200ms worker=0 messages=1 actor=house.doer#2 step=house\.\(\*doer\)\.hear skipped=0`)
	turn(0, 1000, slow, `took=200ms worker=0 messages=1 actor=house.doer#2 step=house\.\(\*doer\)\.hear skipped=0`)
	d.a.publish()
	if n := d.a.Stats().SlowSteps; n != 4 {
		t.Errorf("%d slow steps are counted, want 4", n)
	}
}

// TestSlowStepsOfAssistedWorkers: where the other worker has read the clock itself, nothing is told twice.
func TestSlowStepsOfAssistedWorkers(t *testing.T) {
	d, log := slowDuo(t, func(d *duo, w *stack.Worker) { tell(w, d.to, 3) })
	d.far.do = func(*stack.Worker) { d.now += slow }
	d.b.hot.TurnTime, d.b.hot.Budget = 0, 1
	tell(&d.a.hot, d.door, 1)
	d.a.Turn()
	if n := strings.Count(log.String(), "took=200ms worker=1 messages=1 "); n != 3 || strings.Count(log.String(), "\n") != 3 {
		t.Errorf("of three slow steps: %s", log.String())
	}
	d.a.publish()
	d.b.publish()
	if a, b := d.a.Stats().SlowSteps, d.b.Stats().SlowSteps; a != 1 || b != 2 {
		t.Errorf("%d and %d slow steps are counted, want 1 and 2", a, b)
	}
}

// TestSlowStepOfGuest: of the asks for which guests borrow a worker's turn one in 16 is timed, and behind a slow
// one all.
func TestSlowStepOfGuest(t *testing.T) {
	d, log := slowDuo(t, nil)
	takes := int64(0)
	h, _ := stack.NewHouse(func() *asked { return &asked{func() { d.now += takes }} })
	d.b.Settle(h, nil)
	lines := 0
	ask := func() {
		t.Helper()
		d.now += slow
		c := d.system.guests.Call(h, askedAnswer)
		if err := d.system.guests.Wait(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		d.system.guests.Done(c)
		if d.b.hot.Woken() {
			t.Fatal("the turn wasn't borrowed")
		}
		if log.Len() > 0 && !strings.Contains(log.String(), "took=100ms worker=1 messages=1 actor=house.asked#3 step=house.(*asked).answer skipped=0") {
			t.Errorf("%q", log.String())
		}
		lines += strings.Count(log.String(), "\n")
		log.Reset()
	}
	takes = slow/2 - 1
	for range lentTimed + 1 { // the first and the last are timed
		ask()
	}
	takes = slow / 2
	for range lentTimed - 1 {
		ask()
	}
	if lines != 0 {
		t.Errorf("%d lines of asks that aren't timed, or aren't slow", lines)
	}
	for range 10 {
		ask()
	}
	if lines != 10 {
		t.Errorf("%d lines of the one that is timed and nine more, want 10", lines)
	}
	takes = 0
	for range 1000 {
		ask()
	}
	if d.b.hot.Timed() {
		t.Error("a thousand asks later all are timed still")
	}
	d.b.publish()
	if n := d.b.Stats().SlowSteps; n != 10 {
		t.Errorf("%d slow steps are counted, want 10", n)
	}
}
