package idleness

import (
	"math"

	"github.com/stackhouse-go/stackhouse/stack/pace"
)

// State belongs to the owner of the actor's house. The zero State finds out nothing.
type State struct {
	last int64 // the end of the last visit in which a call began

	after    int64 // how long none begins before the actor is told; 0: it doesn't ask
	since    int64 // when it began to ask
	notified bool  // since the last call began

	idle    int64 // how long none begins before it stops; 0: for ever
	resumed int64 // when the count of that time began anew
	calls   int64 // after how many it stops; 0: never
	begun   int64 // calls, of all instances
	paused  bool
	drains  bool // it stops
	stirred bool // a call has begun since it was to stop
}

// New returns the State of an actor that stops when it has been idle for so long, or after so many
// calls; 0: it doesn't.
func New(idle, calls int64) State { return State{idle: idle, calls: calls} }

// Tell has the actor be told when no call has begun for so long; 0: never.
func (s *State) Tell(now, after int64) { s.notified, s.since, s.after = false, now, max(0, after) }

// Forget forgets what an instance, which ends, asked for.
func (s *State) Forget() { s.after, s.paused = 0, false }

// Begun notes that n calls begin.
func (s *State) Begun(n int) {
	s.notified, s.stirred = false, true
	s.begun += int64(n)
}

// Ended notes the end of a visit in which calls began: they did at the latest now.
func (s *State) Ended(now int64) { s.last = now }

// Pause has the actor not stop by itself, or no longer not: then the time counts anew. It reports
// whether that changed.
func (s *State) Pause(now int64, pause bool) bool {
	if s.paused == pause {
		return false
	}
	s.paused, s.resumed = pause, now
	return true
}

// Idles reports whether the actor stops when it is idle.
func (s *State) Idles() bool { return s.idle > 0 }

// Anew has the time in which it is idle count from now.
func (s *State) Anew(now int64) { s.resumed = now }

// Next returns when to look, if it is now; 0: never.
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

// Tells reports whether the actor is to be told now: once, until a call begins.
func (s *State) Tells(now int64) bool {
	if s.after == 0 || s.notified || now-max(s.last, s.since) < s.after {
		return false
	}
	s.notified = true
	return true
}

// Idle reports whether no call has begun for so long that the actor stops, if none is in progress
// either.
func (s *State) Idle(now int64) bool {
	return s.idle > 0 && !s.paused && now-max(s.last, s.resumed) >= s.idle
}

// Spent reports whether the actor has had its calls.
func (s *State) Spent() bool { return s.calls > 0 && s.begun >= s.calls && !s.paused }

// Stop notes that the actor stops by itself, and reports false if it did so before.
func (s *State) Stop() bool {
	first := !s.drains
	s.drains, s.stirred = true, false
	return first
}

// Spared reports whether the actor goes on that was to stop, as it has been idle no longer: a call
// has begun since. The time counts from now.
func (s *State) Spared(now int64) bool {
	spared := s.stirred && !s.Spent()
	if spared {
		s.drains, s.resumed = false, now
	}
	return spared
}
