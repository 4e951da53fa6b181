package core

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"
)

var (
	// ErrScheduled: another schedule has the name.
	ErrScheduled = errors.New("stackhouse: a schedule of that name exists")
	// ErrNoSchedule: no schedule has the name; it may have fired for the last time.
	ErrNoSchedule = errors.New("stackhouse: no schedule of that name")
)

// Schedules is an actor that sends notices at set times, by schedules with names:
//
//	schedules := core.Spawn(sys, func() *core.Schedules { return core.NewSchedules(time.Now) })
//	core.Ask(ctx, core.SchedulesAdd.At(schedules), core.Schedule{
//		Name: "report", Times: core.Every(time.Hour), Send: core.Sending(report, Report{}),
//	})
//
// A schedule never fires early; it is late by as long as the worker is busy. Times that it missed,
// because it was paused or late by more than its interval, are counted, not made up for. When the
// actor stops or is restarted, its schedules end. If the target of a schedule has stopped, its
// notices are dead letters until it is cancelled.
type Schedules struct {
	wall    func() time.Time
	sleeper NoticeHandler[Schedules, int64]
	all     []*planned
	wakes   int64 // when the current sleeper wakes, ns; 0: nobody sleeps
}

// NewSchedules returns the actor. wall returns the time of day for calendars: time.Now, or a test's
// clock. nil: calendars are refused.
func NewSchedules(wall func() time.Time) *Schedules {
	return &Schedules{wall: wall, sleeper: schedulesSleep}
}

// Schedule is a notice that is sent at set times. Its name must be new.
type Schedule struct {
	Name  string
	Times Times
	Send  Message
}

// Times says when a schedule fires.
type Times struct {
	after, every time.Duration
	calendar     Calendar
}

// Once is a single time: now plus after.
func Once(after time.Duration) Times { return Times{after: max(0, after)} }

// Every is the times now plus d, now plus 2d and so on. It panics unless d is positive.
func Every(d time.Duration) Times {
	if d <= 0 {
		panic("core: a schedule needs an interval")
	}
	return Times{after: d, every: d}
}

// Calendar computes times from the time of day; module cron makes some.
type Calendar interface {
	// Next returns the first time later than after; the zero time: there is none. It is called in a
	// turn of the actor's worker and must not block.
	Next(after time.Time) time.Time
}

// By is the times of a calendar. The time of day is read at least once a minute, so that a change
// of the clock is noticed by then. A clock that is set back doesn't make a time fire twice.
func By(c Calendar) Times {
	if c == nil {
		panic("core: a schedule without a calendar")
	}
	return Times{calendar: c}
}

// Message is a notice that can be sent repeatedly.
type Message struct{ send func(s Running) }

// Sending is msg to p. Each time p gets a copy, so msg must not have a Release method.
func Sending[Msg any](p NoticePort[Msg], msg Msg) Message {
	refuseReleased[Msg]()
	return Message{func(s Running) { p.Notice(s, msg) }}
}

// Scheduled is the state of a schedule.
type Scheduled struct {
	Name   string
	Paused bool
	In     time.Duration // until it fires next; 0 while it is paused
	Fired  uint64        // times that it was sent
	// times that it wasn't sent, because it was paused or late; for a calendar at most 1,000 are
	// counted at once
	Missed uint64
}

// What others may ask of Schedules. Pause, Resume and Cancel take a name.
var (
	SchedulesAdd   = Handle((*Schedules).add)   // ErrScheduled
	SchedulesList  = Handle((*Schedules).list)  // in the order in which they were added
	SchedulesPause = Handle((*Schedules).pause) // until it is resumed. ErrNoSchedule
	// a Once whose time has passed fires at once. ErrNoSchedule
	SchedulesResume = Handle((*Schedules).resume)
	SchedulesCancel = Handle((*Schedules).cancel) // ErrNoSchedule

	schedulesSleep = HandleNotice((*Schedules).sleep)
)

type (
	scheduleAdd  struct{ AskStack[Schedule, struct{}] }
	scheduleList struct {
		AskStack[struct{}, []Scheduled]
	}
	scheduleName  struct{ AskStack[string, struct{}] }
	scheduleSleep struct {
		NoticeStack[int64] // when it wakes, ns
		tick               Future[Tick]
	}

	// planned is a schedule in progress.
	planned struct {
		Schedule
		due           int64     // when it fires, ns; a calendar's: the latest time of its next look
		at            time.Time // when a calendar's fires
		paused        bool
		fired, missed uint64
	}
)

const (
	// sleepMax is the longest sleep: then a change of the clock is noticed, and a sleeper that was
	// replaced by an earlier one ends.
	sleepMax = int64(time.Minute)
	// missedMax is how many missed times of a calendar are counted at once: each takes a call of
	// Next.
	missedMax = 1000
)

func (a *Schedules) add(s *scheduleAdd) Yield {
	p := &planned{Schedule: s.Req}
	switch {
	case a.find(p.Name) != nil:
		return s.Throw(ErrScheduled)
	case p.Send.send == nil:
		return s.Throw(errors.New("stackhouse: a schedule without a message"))
	case p.Times.calendar == nil:
		p.due = Now(s)
		p.due += min(int64(p.Times.after), math.MaxInt64-p.due)
	case a.wall == nil:
		return s.Throw(errors.New("stackhouse: schedules without a time of day have no calendars"))
	default:
		now := a.wall()
		if p.at = p.Times.calendar.Next(now); p.at.IsZero() {
			return s.Throw(errors.New("stackhouse: a schedule that never fires"))
		}
		p.look(Now(s), now)
	}
	a.all = append(a.all, p)
	if err := a.wake(s); err != nil {
		a.remove(p)
		return s.Throw(err)
	}
	return s.Return(struct{}{})
}

func (a *Schedules) list(s *scheduleList) Yield {
	all := make([]Scheduled, len(a.all))
	for i, p := range a.all {
		all[i] = Scheduled{Name: p.Name, Paused: p.paused, Fired: p.fired, Missed: p.missed}
		switch {
		case p.paused:
		case p.Times.calendar != nil:
			all[i].In = max(0, p.at.Sub(a.wall()))
		default:
			all[i].In = time.Duration(max(0, p.due-Now(s)))
		}
	}
	return s.Return(all)
}

func (a *Schedules) pause(s *scheduleName) Yield {
	p := a.find(s.Req)
	if p == nil {
		return s.Throw(ErrNoSchedule)
	}
	p.paused = true
	return s.Return(struct{}{})
}

func (a *Schedules) resume(s *scheduleName) Yield {
	p := a.find(s.Req)
	if p == nil {
		return s.Throw(ErrNoSchedule)
	}
	if p.paused {
		a.skip(s, p)
		p.paused = false
		if err := a.wake(s); err != nil {
			p.paused = true
			return s.Throw(err)
		}
	}
	return s.Return(struct{}{})
}

func (a *Schedules) cancel(s *scheduleName) Yield {
	p := a.find(s.Req)
	if p == nil {
		return s.Throw(ErrNoSchedule)
	}
	a.remove(p)
	return s.Return(struct{}{})
}

func (a *Schedules) find(name string) *planned {
	for _, p := range a.all {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func (a *Schedules) remove(p *planned) {
	a.all = slices.DeleteFunc(a.all, func(o *planned) bool { return o == p })
}

// soonest returns when the sleeper must wake, ns; 0: never.
func (a *Schedules) soonest(s Running) (at int64) {
	for _, p := range a.all {
		if !p.paused && (at == 0 || p.due < at) {
			at = p.due
		}
	}
	if at != 0 {
		at = min(at, Now(s)+sleepMax)
	}
	return at
}

// wake starts a sleeper that wakes at soonest, unless the current one wakes by then. The error is
// ErrMailboxFull.
func (a *Schedules) wake(s Running) error {
	at := a.soonest(s)
	if at == 0 || a.wakes != 0 && a.wakes <= at {
		return nil
	}
	if err := a.sleeper.At(Self[Schedules](s)).Notice(s, at); err != nil {
		return err
	}
	a.wakes = at // this makes the current sleeper stale
	return nil
}

func (a *Schedules) sleep(s *scheduleSleep) Yield {
	if s.Msg != a.wakes {
		return s.Return()
	}
	Timer.Ask(s, &s.tick, time.Duration(max(0, s.Msg-Now(s))))
	return Suspend(s, (*Schedules).woken)
}

// woken fires what is due, the most overdue first.
func (a *Schedules) woken(s *scheduleSleep) Yield {
	if s.Msg != a.wakes {
		return s.Return()
	}
	var due []*planned
	for _, p := range a.all {
		if !p.paused && p.due <= Now(s) && !a.early(s, p) {
			due = append(due, p)
		}
	}
	slices.SortStableFunc(due, func(p, q *planned) int { return cmp.Compare(p.due, q.due) })
	var firing *planned
	defer func() {
		if firing != nil { // its calendar has panicked: if the actor goes on, so do the others
			a.remove(firing)
			a.wakes = 0
			a.wake(s)
		}
	}()
	for _, p := range due {
		firing = p
		p.fired++
		p.Send.send(s)
		a.next(s, p)
	}
	firing = nil
	if a.wakes = a.soonest(s); a.wakes == 0 {
		return s.Return()
	}
	s.Msg = a.wakes
	return a.sleep(s)
}

// early reports whether a calendar's time hasn't come yet, and sets when to look again.
func (a *Schedules) early(s Running, p *planned) bool {
	if p.Times.calendar == nil {
		return false
	}
	now := a.wall()
	p.look(Now(s), now)
	return now.Before(p.at)
}

// look sets when a calendar's time is next compared with the time of day, at the latest.
func (p *planned) look(now int64, wall time.Time) {
	p.due = now + min(int64(max(0, p.at.Sub(wall))), sleepMax)
}

// next plans the time after the one that has come.
func (a *Schedules) next(s Running, p *planned) {
	switch {
	case p.Times.calendar != nil:
		if p.at = p.Times.calendar.Next(p.at); p.at.IsZero() {
			a.remove(p)
			return
		}
	case p.Times.every == 0:
		a.remove(p)
		return
	default:
		p.due += int64(p.Times.every)
	}
	a.skip(s, p)
}

// skip counts the times that have passed as missed.
func (a *Schedules) skip(s Running, p *planned) {
	now := Now(s)
	if p.Times.calendar == nil {
		if every := int64(p.Times.every); every > 0 && p.due <= now {
			n := (now-p.due)/every + 1
			p.missed += uint64(n)
			p.due += n * every
		}
		return
	}
	wall := a.wall()
	for n := 1; !p.at.IsZero() && !p.at.After(wall); n++ {
		from := p.at
		if n == missedMax {
			from = wall
		}
		p.missed++
		p.at = p.Times.calendar.Next(from)
	}
	if p.at.IsZero() {
		a.remove(p)
		return
	}
	p.look(now, wall)
}
