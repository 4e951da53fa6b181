package core_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

type (
	// bell writes down when it is rung, ns.
	bell      struct{ rung map[string][]int64 }
	bellStack struct{ core.NoticeStack[string] }
)

func (b *bell) ring(s *bellStack) core.Yield {
	b.rung[s.Msg] = append(b.rung[s.Msg], core.Now(s))
	return s.Return()
}

var bellRing = core.HandleNotice((*bell).ring)

// belfry is schedules and the bell that they ring, on a virtual clock.
type belfry struct {
	*housetest.Sim
	t    *testing.T
	at   core.Address[core.Schedules]
	bell *bell
	ring core.NoticePort[string]
	wall time.Time // of the system's clock's zero
}

func newBelfry(t *testing.T, sim *housetest.Sim) *belfry {
	b := &belfry{Sim: sim, t: t, bell: &bell{map[string][]int64{}}, wall: time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)}
	b.at = core.Spawn(sim, func() *core.Schedules { return core.NewSchedules(b.time) })
	b.ring = bellRing.At(core.Spawn(sim, func() *bell { return b.bell }))
	return b
}

func (b *belfry) time() time.Time { return b.wall.Add(time.Duration(b.Now)) }

func (b *belfry) add(name string, times core.Times) error {
	_, err := housetest.Ask(b.t, b.Sim, core.SchedulesAdd.At(b.at), core.Schedule{Name: name, Times: times, Send: core.Sending(b.ring, name)})
	return err
}

func (b *belfry) do(what core.Handler[core.Schedules, string, struct{}], name string) error {
	_, err := housetest.Ask(b.t, b.Sim, what.At(b.at), name)
	return err
}

func (b *belfry) list() map[string]core.Scheduled {
	all, err := housetest.Ask(b.t, b.Sim, core.SchedulesList.At(b.at), struct{}{})
	if err != nil {
		b.t.Fatal(err)
	}
	m := map[string]core.Scheduled{}
	for _, s := range all {
		m[s.Name] = s
	}
	return m
}

// peal is a reference: a schedule as one would keep it who does nothing else.
type peal struct {
	next, every   int64 // ns
	once, paused  bool
	calendar      bool
	fired, missed uint64
}

// minutes is a calendar: each time that the time of day is a multiple.
type minutes struct{ every time.Duration }

func (m minutes) Next(after time.Time) time.Time {
	if m.every == 0 {
		return time.Time{}
	}
	return after.Truncate(m.every).Add(m.every)
}

// near is how far apart model and actor may be, ns: turns take time.
const near = 100_000

// TestSchedulesAgainstModel: one-shots, intervals and calendars fire when they should, while
// others are added, paused, resumed and cancelled.
func TestSchedulesAgainstModel(t *testing.T) {
	fired, missed := uint64(0), uint64(0)
	eachSeedOf(t, 30, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		r := rand.New(rand.NewPCG(sim.Seed, 67))
		b := newBelfry(t, sim)
		model, want := map[string]*peal{}, map[string][]int64{}
		pass := func(d int64) {
			end := sim.Now + d
			sim.Run(time.Duration(d))
			for name, p := range model {
				for !p.paused && p.next <= end {
					want[name] = append(want[name], p.next)
					p.fired++
					p.next += p.every
					if p.once {
						delete(model, name)
						break
					}
				}
			}
		}
		clear := func() bool { // nothing is about to fire, nor has just
			for _, p := range model {
				if d := p.next - sim.Now; d > -3*near && d < 3*near {
					return false
				}
			}
			return true
		}
		for range 300 {
			for pass(r.Int64N(1e9)); !clear(); {
				pass(7 * near)
			}
			name := fmt.Sprint(r.IntN(8))
			p := model[name]
			var err error
			switch k := r.IntN(9); k {
			case 0, 1, 2:
				d := int64(1+r.IntN(40)) * 50e6
				if r.IntN(10) == 0 {
					d *= 100 // beyond the longest sleep
				}
				q := &peal{next: sim.Now + d, every: d, once: k == 0, calendar: k == 2}
				switch k {
				case 0:
					err = b.add(name, core.Once(time.Duration(d)))
				case 1:
					err = b.add(name, core.Every(time.Duration(d)))
				case 2:
					m := minutes{time.Duration(d)}
					q.next = int64(m.Next(b.time()).Sub(b.wall))
					if q.next-sim.Now < 3*near {
						continue
					}
					err = b.add(name, core.By(m))
				}
				if p == nil {
					model[name] = q
				} else if errors.Is(err, core.ErrScheduled) {
					err = nil
				}
			case 3, 4:
				if err = b.do(core.SchedulesPause, name); p != nil {
					p.paused = true
				}
			case 5, 6:
				if err = b.do(core.SchedulesResume, name); p != nil && p.paused {
					p.paused = false
					n := uint64(0)
					for ; !p.once && p.next <= sim.Now; n++ {
						p.next += p.every
					}
					if p.calendar {
						n = min(n, 1000)
					}
					p.missed += n
					p.next = max(p.next, sim.Now)
				}
			case 7:
				err = b.do(core.SchedulesCancel, name)
				delete(model, name)
			case 8:
				pass(r.Int64N(120e9))
				continue
			}
			if k := err == nil; p != nil && !k || p == nil && !k && !errors.Is(err, core.ErrNoSchedule) {
				t.Fatalf("schedule %s: %v", name, err)
			}
		}
		for pass(1e6); !clear(); {
			pass(7 * near)
		}
		list := b.list()
		for name, p := range model {
			s, ok := list[name]
			if !ok || s.Paused != p.paused || s.Missed != p.missed || s.Fired != p.fired {
				t.Errorf("schedule %s is %+v, %v; want %+v", name, s, ok, *p)
			}
			if in := int64(s.In); !p.paused && (in < p.next-sim.Now-near || in > p.next-sim.Now+near) {
				t.Errorf("schedule %s is due in %d ns, want %d", name, in, p.next-sim.Now)
			}
			fired, missed = fired+s.Fired, missed+s.Missed
		}
		if len(list) != len(model) {
			t.Errorf("%d schedules, want %d", len(list), len(model))
		}
		for name := range 8 {
			got, want := b.bell.rung[fmt.Sprint(name)], want[fmt.Sprint(name)]
			if !slices.EqualFunc(got, want, func(g, w int64) bool { return g > w-near && g < w+near }) {
				t.Errorf("%d rang at %v, want %v", name, got, want)
			}
		}
	})
	if !t.Failed() && (fired < 1000 || missed == 0) {
		t.Errorf("%d times rung, %d missed: too calm", fired, missed)
	}
}

// TestScheduleLate: who is late by several intervals fires once, and counts the others.
func TestScheduleLate(t *testing.T) {
	b := newBelfry(t, stage(t, 1, 1))
	if err := b.add("a", core.Every(10*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if err := b.add("b", core.By(minutes{10 * time.Millisecond})); err != nil {
		t.Fatal(err)
	}
	core.Notice(hint.At(core.Spawn(b, func() *player { return &player{} })), func(_ *player, s *cue) core.Yield {
		b.Now += 95e6
		return s.Return()
	})
	b.Rest()
	for name, s := range b.list() {
		if s.Fired != 1 || s.Missed != 8 || len(b.bell.rung[name]) != 1 {
			t.Errorf("%s: %+v, rung at %v", name, s, b.bell.rung[name])
		}
	}
	b.Run(100 * time.Millisecond)
	for name, s := range b.list() {
		if s.Fired != 11 || s.Missed != 8 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestScheduleNeverEarly: also if there are others that are due a moment before.
func TestScheduleNeverEarly(t *testing.T) {
	b := newBelfry(t, stage(t, 1, 1))
	due := map[string]int64{}
	for i := range 100 {
		d := time.Duration(1+(i*37)%100) * 3 * time.Microsecond
		due[fmt.Sprint(i)] = b.Now + int64(d)
		if err := b.add(fmt.Sprint(i), core.Once(d)); err != nil {
			t.Fatal(err)
		}
	}
	b.Run(time.Second)
	for name, at := range due {
		if rung := b.bell.rung[name]; len(rung) != 1 || rung[0] < at {
			t.Errorf("%s rang at %v, due at %d", name, rung, at)
		}
	}
}

// TestScheduleClockIsSet: a calendar follows within a minute; no time comes twice.
func TestScheduleClockIsSet(t *testing.T) {
	b := newBelfry(t, stage(t, 1, 1))
	if err := b.add("a", core.By(minutes{24 * time.Hour})); err != nil {
		t.Fatal(err)
	}
	rung := func(want int) {
		t.Helper()
		if n := len(b.bell.rung["a"]); n != want {
			t.Fatalf("rung %d times, want %d", n, want)
		}
	}
	b.Run(time.Hour)
	b.wall = b.wall.Add(23 * time.Hour) // to midnight and a bit
	rung(0)
	b.Run(61 * time.Second)
	rung(1)
	b.wall = b.wall.Add(-10 * time.Minute)
	b.Run(time.Hour) // over midnight again
	rung(1)
	b.wall = b.wall.Add(-24 * time.Hour)
	b.Run(24 * time.Hour)
	rung(1)
	b.Run(24 * time.Hour)
	rung(2)
	b.wall = b.wall.Add(5 * 365 * 24 * time.Hour)
	b.Run(2 * time.Minute)
	rung(3)
	if s := b.list()["a"]; s.Missed != 1000 || s.In > 24*time.Hour {
		t.Errorf("%+v", s)
	}
}

// TestSchedulesRefuse: what can't fire is refused.
func TestSchedulesRefuse(t *testing.T) {
	b := newBelfry(t, stage(t, 1, 1))
	if err := b.add("never", core.By(minutes{})); err == nil {
		t.Error("a calendar without times was taken")
	}
	if _, err := housetest.Ask(t, b.Sim, core.SchedulesAdd.At(b.at), core.Schedule{Name: "mute", Times: core.Once(1)}); err == nil {
		t.Error("a schedule without a message was taken")
	}
	plain := core.Spawn(b, func() *core.Schedules { return core.NewSchedules(nil) })
	_, err := housetest.Ask(t, b.Sim, core.SchedulesAdd.At(plain), core.Schedule{Times: core.By(minutes{1}), Send: core.Sending(b.ring, "")})
	if err == nil {
		t.Error("a calendar was taken where there is no time of day")
	}
	for _, h := range []core.Handler[core.Schedules, string, struct{}]{core.SchedulesPause, core.SchedulesResume, core.SchedulesCancel} {
		if err := b.do(h, "none"); !errors.Is(err, core.ErrNoSchedule) {
			t.Errorf("error %v", err)
		}
	}
	if n := len(b.list()); n != 0 {
		t.Errorf("%d schedules", n)
	}
}

// A schedule that fires at the end of time doesn't keep others from firing.
func TestScheduleAtTheEndOfTime(t *testing.T) {
	b := newBelfry(t, stage(t, 1, 1))
	b.Run(time.Second)
	if err := errors.Join(b.add("end", core.Once(math.MaxInt64)), b.add("soon", core.Once(time.Second))); err != nil {
		t.Fatal(err)
	}
	b.Run(2 * time.Minute)
	if r := b.bell.rung; len(r["soon"]) != 1 || len(r["end"]) != 0 {
		t.Errorf("rung %v", r)
	}
}

// brittle is a calendar that has one time, and panics when it is asked for another.
type brittle struct{ asked *int }

func (b brittle) Next(after time.Time) time.Time {
	if *b.asked++; *b.asked > 1 {
		panic("no more pages")
	}
	return after.Add(10 * time.Millisecond)
}

// TestScheduleWhoseCalendarPanics: if the actor goes on behind the failure, so do its other
// schedules.
func TestScheduleWhoseCalendarPanics(t *testing.T) {
	b := newBelfry(t, stage(t, 1, 1))
	asked := 0
	if err := errors.Join(b.add("brittle", core.By(brittle{&asked})), b.add("other", core.Every(10*time.Millisecond))); err != nil {
		t.Fatal(err)
	}
	b.Run(time.Second)
	if r := b.bell.rung; len(r["brittle"]) != 1 || len(r["other"]) < 99 {
		t.Errorf("rung %d and %d times", len(r["brittle"]), len(r["other"]))
	}
	if all := b.list(); len(all) != 1 || stats(b.Sim).Failures != 1 {
		t.Errorf("schedules %v, %d failures", all, stats(b.Sim).Failures)
	}
}
