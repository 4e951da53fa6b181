package lifecycle

import (
	"math/bits"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// Phase is where an actor is in its life: see the package.
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

// Hook is code that runs at an end of an instance's life, or what takes the place of one in a
// restart.
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

// Hooks are those that an actor has, a bit each.
type Hooks uint8

// With returns hs, and h if that is there.
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
	None         Effect = iota // nothing is left
	CountRestart               // there is another instance
	Refuse                     // refuse calls from now on, what is queued too
	Hold                       // hold calls
	EndTimer                   // take back the timer by which the actor hears that it is idle
	// end what is suspended: in Ending with ErrRestarted, but for connections; else all, with
	// ErrStopped
	EndStacks
	Unstash        // put what is stashed before what is queued
	Recall         // look at what is held anew: asks don't wait any more, see Down
	ReleaseAll     // end the hold of calls, whatever it is for
	closes         // by the machine itself: look what is to end before the instance
	StopChildren   // tell the children to stop
	EndConnections // end what EndStacks of a restart has left
	Bury           // all has ended: tell who waits for that
	Forget         // what the instance that ended had asked for
	TellRestarted  // because of Cause
	TellStarted
	Release        // end the hold of calls by this machine
	CountIdle      // count from now on how long the actor is idle
	LookIdle       // call Idle if nothing is in progress
	ResumeChildren // tell the children to go on
	// ask the supervisor what becomes of Failure, and call Resume, Wait, Restart or Stop
	Decide
	Run // run ToRun, and call Ended
)

// Machine is the life of one actor. The zero Machine is that of one without hooks, which is Up.
// Each event may call for effects: who calls it calls Next, and does what that says, until it
// says None. One goroutine at a time calls its methods.
type Machine struct {
	phase     Phase
	hooks     Hooks
	toRun     Hook
	unborn    bool // there is no instance yet, or its start hook is to come: it has no end
	unstarted bool // the start of the instance hasn't ended well: it can't go on
	// that the actor has started was told; without a start hook its spawner does that
	announced bool
	drains    bool // it stops once nothing is in progress any more
	atEnd     bool // the end hook of this instance has begun, if there is one
	ended     bool // and has ended
	children  int32
	kept      int32 // stacks whose end is put off until the jobs are home that they keep
	todo      uint32
	delay     int64 // in the restart under way, ns
	cause     error // of the restart under way
	failure   error // that is being decided
}

// New returns the life of an actor with hooks. With a PreStart it begins to handle calls behind
// Start.
func New(hooks Hooks) Machine {
	starts := hooks.Has(PreStart)
	return Machine{hooks: hooks, unborn: starts, unstarted: starts}
}

// Phase returns where the actor is.
func (m *Machine) Phase() Phase { return m.phase }

// Starts reports whether a hook runs before the first call.
func (m *Machine) Starts() bool { return m.hooks.Has(PreStart) }

// Drains reports whether the actor is to stop once nothing is in progress.
func (m *Machine) Drains() bool { return m.drains }

// Down reports whether the actor is held for so long that asks aren't to wait: they end with
// ErrRestarted.
func (m *Machine) Down() bool { return m.delay < 0 }

// Delay returns the pause in the restart under way, ns.
func (m *Machine) Delay() int64 { return max(m.delay, -m.delay) }

// Cause returns the failure for which the actor restarts; nil: it doesn't.
func (m *Machine) Cause() error { return m.cause }

// Failure returns what Decide is about.
func (m *Machine) Failure() error { return m.failure }

// ToRun returns what Run is about.
func (m *Machine) ToRun() Hook { return m.toRun }

// Next returns what is to be done next.
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
		m.cause = nil // it has been told
	}
	return None
}

func (m *Machine) do(effects ...Effect) {
	for _, e := range effects {
		m.todo |= 1 << e
	}
}

func (m *Machine) run(h Hook) {
	m.toRun = h
	m.do(Run)
}

// Start is the event that the actor was spawned: Up -> Starting if a hook is to run first.
func (m *Machine) Start() {
	switch {
	case m.phase != Up || m.Starts() && !m.unborn: // perhaps it was restarted before it had started
	case m.Starts():
		m.phase, m.unborn = Starting, false
		m.run(PreStart)
	default:
		m.do(CountIdle)
	}
}

// Fail is the event that the actor failed. One that isn't Up ends, or starts, or waits already.
func (m *Machine) Fail(err error) {
	if m.phase == Up && m.failure == nil {
		m.failure = err
		m.do(Decide)
	}
}

// Resume is the event that the actor is to go on in spite of a failure: Failed -> Up. What has not
// started can't.
func (m *Machine) Resume() {
	switch {
	case m.unstarted:
	case m.phase == Up:
		m.failure = nil
		m.do(LookIdle)
	case m.phase == Failed:
		m.phase = Up
		if m.drains {
			m.do(LookIdle)
		} else {
			m.do(Release)
		}
		m.do(ResumeChildren)
	}
}

// Wait is the event that somebody else decides what becomes of the failure: Up -> Failed.
func (m *Machine) Wait() {
	if m.phase == Up {
		m.phase, m.failure = Failed, nil
		m.do(Hold)
	}
}

// Restart is the event that the actor is to be made anew, because of cause, behind a delay, ns;
// if that is negative it is as long, and the actor is Down: Up, Failed -> Ending.
func (m *Machine) Restart(cause error, delay int64) {
	if m.phase != Up && m.phase != Failed {
		return
	}
	m.phase, m.cause, m.delay, m.failure = Ending, cause, delay, nil
	m.do(Hold, EndStacks, Unstash, closes)
	if delay < 0 {
		m.do(Recall)
	}
}

// Stop is the event that the actor is to stop: -> Stopping.
func (m *Machine) Stop() {
	if m.phase >= Stopping {
		return
	}
	if m.phase != Ending { // otherwise the instance is on its way out
		m.do(EndStacks, closes)
	}
	m.phase, m.cause, m.delay, m.failure = Stopping, nil, 0, nil
	m.do(Refuse, Unstash, ReleaseAll)
}

// Drain is the event that all has begun which is to be handled before the actor stops.
func (m *Machine) Drain() {
	if m.phase < Stopping {
		m.drains = true
		m.do(EndTimer, Hold)
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

// Disown takes back Bear.
func (m *Machine) Disown() { m.children-- }

// Keep is the event that the end of a stack is put off.
func (m *Machine) Keep() { m.kept++ }

// Let is the event that such a stack has ended.
func (m *Machine) Let() {
	m.kept--
	m.left()
}

// Close is the event that an actor which nobody knows yet is a stopped one: -> Gone.
func (m *Machine) Close() { m.phase = Gone }

// waits reports whether something is to end before the instance does.
func (m *Machine) waits() bool { return m.children > 0 || m.kept > 0 }

// close has the children stop, then the instance end.
func (m *Machine) close() {
	m.atEnd, m.ended = false, false
	switch {
	case m.children > 0:
		m.do(StopChildren)
	case m.kept == 0:
		m.endInstance()
	}
}

// left goes on once nothing is left that was waited for.
func (m *Machine) left() {
	switch {
	case m.waits() || m.phase != Ending && m.phase != Stopping:
	case !m.atEnd:
		m.endInstance()
	case m.ended:
		m.finish()
	}
}

// endInstance runs the end hook.
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

// finish is the transition Ending -> Starting, or Stopping -> Gone, behind the end hook.
func (m *Machine) finish() {
	if m.children > 0 { // born in the hook
		m.do(StopChildren)
		return
	}
	if m.phase == Stopping {
		m.do(EndConnections, Bury)
		return
	}
	m.phase, m.unborn, m.unstarted = Starting, true, true
	m.do(Forget)
	if m.delay != 0 {
		m.run(Pause)
	} else {
		m.run(Make)
	}
}

// Ended is the event that a hook has ended: with an error if it threw, or was ended.
func (m *Machine) Ended(h Hook, err error) {
	switch {
	case h == PreRestart || h == PostStop:
		if m.phase == Ending || m.phase == Stopping {
			m.ended = true
			m.finish()
		}
	case m.phase != Starting: // a stop has ended it
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
	m.do(CountRestart)
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

// up is the transition Starting -> Up, behind a start that failed with err, if that isn't nil.
func (m *Machine) up(err error) {
	m.phase = Up
	switch {
	case err != nil:
		m.Fail(&fault.StartError{Err: err})
	case m.drains: // it had begun to when it failed
		m.Stop()
	default:
		if m.cause != nil && (m.announced || !m.Starts()) {
			m.do(TellRestarted)
		} else {
			m.do(TellStarted)
		}
		m.announced, m.unstarted = true, false
		m.do(Release, CountIdle)
	}
}
