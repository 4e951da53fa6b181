package lifecycle

import (
	"math/bits"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// Phase is where an actor is in its life: see the package's comment.
type Phase uint8

// The phases.
const (
	Up Phase = iota
	Starting
	Failed
	Ending
	Stopping
	Gone
)

// Hook is code that runs at the start or the end of an instance, or a step of a restart that takes
// the place of such code.
type Hook uint8

// The hooks.
const (
	PreStart Hook = iota
	PostRestart
	Pause // no hook: the delay in a restart
	Make  // no hook: the factory
	PreRestart
	PostStop
)

// Hooks are the hooks that an actor has, one bit for each.
type Hooks uint8

// With returns hs with h in it, if there is true; otherwise hs.
func (hs Hooks) With(h Hook, there bool) Hooks {
	if there {
		hs |= 1 << h
	}
	return hs
}

// Has reports whether h is among hs.
func (hs Hooks) Has(h Hook) bool { return hs>>h&1 != 0 }

// Effect is something that is to be done in an actor's house.
type Effect uint8

// The effects, in the order in which they are done if one event calls for several.
const (
	None         Effect = iota // nothing is left to do
	CountRestart               // count a restart: another instance was made
	Refuse                     // refuse calls from now on, queued ones too
	Hold                       // hold calls
	EndTimer                   // disarm the timer that looks whether the actor is idle
	// end the suspended stacks: in Ending with ErrRestarted, except those of servers' connections;
	// otherwise all of them, with ErrStopped. Then put the stashed calls before the queued ones
	EndStacks
	Recall       // put the held calls back into the lane, where asks end now, see Down
	ReleaseAll   // end all holds of calls, whatever their reasons
	closes       // the machine's own: stop the children, or end the instance
	StopChildren // tell the children to stop
	// the actor is gone: end the stacks of connections that EndStacks has left, and tell all that
	// wait for its end
	Bury
	Forget         // forget what the instance that ended had asked for
	TellRestarted  // tell that the actor has restarted, because of Cause
	TellStarted    // tell that the actor has started
	Release        // end the hold of calls that Hold began
	CountIdle      // count from now on how long the actor is idle
	LookIdle       // call Idle if nothing is in progress
	ResumeChildren // tell the children to go on
	// ask the supervisor what becomes of Failure, and call Resume, Wait, Restart or Stop
	Decide
	Run // run the hook ToRun, and call Ended
)

// Machine is the life of one actor. The zero Machine is the life of an actor without hooks, which
// is Up. After each event its caller calls Next, and does the effect that it returns, until that is
// None. One goroutine at a time calls the methods.
type Machine struct {
	phase     Phase
	hooks     Hooks
	toRun     Hook
	unborn    bool // there is no instance, or its start hook hasn't begun: no end hook runs
	unstarted bool // the start of the instance hasn't ended well: Resume has no effect
	// TellStarted or TellRestarted was done; without a start hook the spawner tells of the start
	announced bool
	drains    bool // it stops once nothing is in progress any more
	atEnd     bool // the end hook of this instance has begun, if there is one
	ended     bool // the end hook has ended, or there is none
	children  int32
	kept      int32  // stacks whose end is put off until their kept jobs are home
	todo      uint32 // the effects that are left to do, one bit for each
	delay     int64  // in the restart under way, ns; negative: Down
	cause     error  // of the restart under way
	failure   error  // that is being decided
}

// New returns the life of an actor with hooks. If it has a PreStart it handles calls only after
// Start and the end of that hook.
func New(hooks Hooks) Machine {
	starts := hooks.Has(PreStart)
	return Machine{hooks: hooks, unborn: starts, unstarted: starts}
}

// Phase returns where the actor is in its life.
func (m *Machine) Phase() Phase { return m.phase }

// Starts reports whether a hook runs before the first call.
func (m *Machine) Starts() bool { return m.hooks.Has(PreStart) }

// Drains reports whether the actor is to stop once nothing is in progress.
func (m *Machine) Drains() bool { return m.drains }

// Down reports whether the actor is held for so long that asks must not wait: they end with
// ErrRestarted.
func (m *Machine) Down() bool { return m.delay < 0 }

// Delay returns the pause in the restart under way, ns.
func (m *Machine) Delay() int64 { return max(m.delay, -m.delay) }

// Cause returns the failure for which the actor restarts; nil: it doesn't.
func (m *Machine) Cause() error { return m.cause }

// Failure returns the failure that is to be decided, for Decide.
func (m *Machine) Failure() error { return m.failure }

// ToRun returns the hook that is to run, for Run.
func (m *Machine) ToRun() Hook { return m.toRun }

// Next returns the effect that is to be done next.
func (m *Machine) Next() Effect {
	for m.todo != 0 {
		e := Effect(bits.TrailingZeros32(m.todo))
		m.todo &= m.todo - 1
		switch e {
		case closes:
			m.close()
			continue
		case Bury:
			m.phase = Gone
		}
		return e
	}
	if m.phase == Up {
		m.cause = nil // the restart is over, and was told
	}
	return None
}

// do adds effects that are to be done, one bit for each.
func (m *Machine) do(effects uint32) { m.todo |= effects }

func (m *Machine) run(h Hook) {
	m.toRun = h
	m.do(1 << Run)
}

// Start is the event that the actor was spawned: Up -> Starting if a hook is to run first.
func (m *Machine) Start() {
	switch {
	case m.phase != Up || m.Starts() && !m.unborn: // it was stopped or restarted before
	case m.Starts():
		m.phase, m.unborn = Starting, false
		m.run(PreStart)
	default:
		m.do(1 << CountIdle)
	}
}

// Fail is the event that the actor failed. It counts in Up, and for one failure at a time.
func (m *Machine) Fail(err error) {
	if m.phase == Up && m.failure == nil {
		m.failure = err
		m.do(1 << Decide)
	}
}

// Resume is the event that the actor is to go on in spite of a failure: Failed -> Up. It has no
// effect on an actor whose start hasn't ended well.
func (m *Machine) Resume() {
	switch {
	case m.unstarted:
	case m.phase == Up:
		m.failure = nil
		m.do(1 << LookIdle)
	case m.phase == Failed:
		m.phase = Up
		if m.drains {
			m.do(1 << LookIdle)
		} else {
			m.do(1 << Release)
		}
		m.do(1 << ResumeChildren)
	}
}

// Wait is the event that it is decided later what becomes of the failure: Up -> Failed.
func (m *Machine) Wait() {
	if m.phase == Up {
		m.phase, m.failure = Failed, nil
		m.do(1 << Hold)
	}
}

// Restart is the event that the actor is to be made anew, because of cause, after a pause of delay
// ns: Up, Failed -> Ending. If delay is negative, the pause is -delay ns and the actor is Down.
func (m *Machine) Restart(cause error, delay int64) {
	if m.phase != Up && m.phase != Failed {
		return
	}
	m.phase, m.cause, m.delay, m.failure = Ending, cause, delay, nil
	m.do(1<<Hold | 1<<EndStacks | 1<<closes)
	if delay < 0 {
		m.do(1 << Recall)
	}
}

// Stop is the event that the actor is to stop: -> Stopping.
func (m *Machine) Stop() {
	if m.phase >= Stopping {
		return
	}
	if m.phase != Ending { // in Ending this was done
		m.do(1<<EndStacks | 1<<closes)
	}
	m.phase, m.cause, m.delay, m.failure = Stopping, nil, 0, nil
	m.do(1<<Refuse | 1<<ReleaseAll)
}

// Drain is the event that the actor stops once nothing is in progress; no call begins any more.
func (m *Machine) Drain() {
	if m.phase < Stopping {
		m.drains = true
		m.do(1<<EndTimer | 1<<Hold)
	}
}

// Idle is the event that nothing is in progress.
func (m *Machine) Idle() {
	if m.drains && m.phase == Up && m.failure == nil {
		m.Stop()
	}
}

// Bear is the event that the actor has a child.
func (m *Machine) Bear() { m.children++ }

// Lose is the event that a child has gone.
func (m *Machine) Lose() {
	m.children--
	m.left()
}

// Disown is the event that takes back Bear.
func (m *Machine) Disown() { m.children-- }

// Keep is the event that the end of a stack is put off.
func (m *Machine) Keep() { m.kept++ }

// Let is the event that a stack whose end was put off has ended.
func (m *Machine) Let() {
	m.kept--
	m.left()
}

// Close is the event that an actor has stopped that nobody knows yet: -> Gone.
func (m *Machine) Close() { m.phase = Gone }

// waits reports whether children or kept stacks have to end before the instance does.
func (m *Machine) waits() bool { return m.children > 0 || m.kept > 0 }

// close stops the children or, if nothing has to end before, ends the instance.
func (m *Machine) close() {
	m.atEnd, m.ended = false, false
	switch {
	case m.children > 0:
		m.do(1 << StopChildren)
	case m.kept == 0:
		m.endInstance()
	}
}

// left is called when a child or a kept stack has ended: if it was the last, the end goes on.
func (m *Machine) left() {
	switch {
	case m.waits() || m.phase != Ending && m.phase != Stopping:
	case !m.atEnd:
		m.endInstance()
	case m.ended:
		m.finish()
	}
}

// endInstance runs the end hook, if there is one, or finishes.
func (m *Machine) endInstance() {
	m.atEnd = true
	switch {
	case m.unborn:
	case m.phase == Ending && m.hooks.Has(PreRestart):
		m.run(PreRestart)
		return
	case m.hooks.Has(PostStop):
		m.run(PostStop)
		return
	}
	m.ended = true
	m.finish()
}

// finish is the transition Ending -> Starting, or the way to Gone, after the end hook.
func (m *Machine) finish() {
	if m.children > 0 { // born in the hook
		m.do(1 << StopChildren)
		return
	}
	if m.phase == Stopping {
		m.do(1 << Bury)
		return
	}
	m.phase, m.unborn, m.unstarted = Starting, true, true
	m.do(1 << Forget)
	if m.delay != 0 {
		m.run(Pause)
	} else {
		m.run(Make)
	}
}

// Ended is the event that the hook h has ended: with an error if it threw, failed or was ended.
func (m *Machine) Ended(h Hook, err error) {
	switch {
	case h == PreRestart || h == PostStop:
		if m.phase == Ending || m.phase == Stopping {
			m.ended = true
			m.finish()
		}
	case m.phase != Starting: // a stop has ended the hook
	case h == Pause:
		m.delay = 0
		m.run(Make)
	case h == Make && err == nil && m.made():
	default:
		m.up(err)
	}
}

// made notes that there is another instance, and reports whether its start hook is to run.
func (m *Machine) made() bool {
	m.unborn = false
	m.do(1 << CountRestart)
	switch {
	case m.hooks.Has(PostRestart):
		m.run(PostRestart)
	case m.hooks.Has(PreStart):
		m.run(PreStart)
	default:
		return false
	}
	return true
}

// up is the transition Starting -> Up. If err isn't nil the start has failed with it.
func (m *Machine) up(err error) {
	m.phase = Up
	switch {
	case err != nil:
		m.Fail(&fault.StartError{Err: err})
	case m.drains: // the instance that failed had begun to drain
		m.Stop()
	default:
		if m.cause != nil && (m.announced || !m.Starts()) {
			m.do(1 << TellRestarted)
		} else {
			m.do(1 << TellStarted)
		}
		m.announced, m.unstarted = true, false
		m.do(1<<Release | 1<<CountIdle)
	}
}
