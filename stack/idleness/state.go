package idleness

import (
	"math"

	"github.com/stackhouse-go/stackhouse/stack/pace"
)

// State is what is noted of one actor. It belongs to the owner of the actor's house. The zero State
// neither tells nor stops the actor.
type State struct {
	last int64 // the end of the last visit in which a call began

	after    int64 // the actor is told when no call has begun for so long, ns; 0: never
	since    int64 // when Tell was called
	notified bool  // it was told, and no call has begun since

	idle    int64 // the actor stops when no call has begun for so long, ns; 0: never
	resumed int64 // when that time began to count anew
	calls   int64 // the actor stops after so many calls; 0: never
	begun   int64 // how many calls have begun, in all its instances
	paused  bool  // it doesn't stop by itself, see Pause
	drains  bool  // Stop was called: it stops
	stirred bool  // a call has begun since Stop
}

// New returns the State of an actor that stops when it has been idle for idle ns (0: never), or
// after a number of calls (0: never).
func New(idle, calls int64) State { return State{idle: idle, calls: calls} }

// Tell has the actor be told when no call has begun for after ns; 0: never.
func (s *State) Tell(now, after int64) { s.notified, s.since, s.after = false, now, max(0, after) }

// Forget forgets what the actor's instance, which ends, asked for: Tell and Pause.
func (s *State) Forget() { s.after, s.paused = 0, false }

// Begun notes that n calls begin.
func (s *State) Begun(n int) {
	s.notified, s.stirred = false, true
	s.begun += int64(n)
}

// Ended notes that a visit in which calls began ends now.
func (s *State) Ended(now int64) { s.last = now }

// Pause keeps the actor from stopping by itself. With false it may stop again, and its time counts
// anew. Pause reports whether this was a change.
func (s *State) Pause(now int64, pause bool) bool {
	if s.paused == pause {
		return false
	}
	s.paused, s.resumed = pause, now
	return true
}

// Idles reports whether the actor is to stop when it is idle for long enough.
func (s *State) Idles() bool { return s.idle > 0 }

// Anew has the time after which the actor stops count from now.
func (s *State) Anew(now int64) { s.resumed = now }

// Next returns when to call Tells and Idle next; 0: never.
func (s *State) Next(now int64) int64 {
	at := int64(math.MaxInt64)
	if s.idle > 0 && !s.paused && !s.drains {
		at = pace.Later(max(s.last, s.resumed), s.idle)
	}
	switch {
	case s.after > 0 && s.notified:
		at = min(at, pace.Later(now, s.after))
	case s.after > 0:
		at = min(at, pace.Later(max(s.last, s.since), s.after))
	case at == math.MaxInt64:
		return 0
	}
	return at
}

// Tells reports whether the actor is to be told now. It returns true once, until a call begins.
func (s *State) Tells(now int64) bool {
	if s.after == 0 || s.notified || now-max(s.last, s.since) < s.after {
		return false
	}
	s.notified = true
	return true
}

// Idle reports whether no call has begun for so long that the actor stops. The caller also looks
// whether any is in progress.
func (s *State) Idle(now int64) bool {
	return s.idle > 0 && !s.paused && now-max(s.last, s.resumed) >= s.idle
}

// Spent reports whether so many calls have begun that the actor stops.
func (s *State) Spent() bool { return s.calls > 0 && s.begun >= s.calls && !s.paused }

// Stop notes that the actor stops by itself, and reports false if it did so before.
func (s *State) Stop() bool {
	first := !s.drains
	s.drains, s.stirred = true, false
	return first
}

// Spared reports whether the actor, which was to stop, goes on because a call has begun since Stop.
// Then its time counts from now.
func (s *State) Spared(now int64) bool {
	spared := s.stirred && !s.Spent()
	if spared {
		s.drains, s.resumed = false, now
	}
	return spared
}
