package core_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
)

// What the reference knows of actors and calls before they do anything.

// stand is where in its life a reference actor is.
type stand uint8

const (
	isUp stand = iota
	isStarting
	isFailed
	isEnding
	isStopping
	isGone
)

// plan is what is settled about an actor when it is born.
type plan struct {
	id       int
	kind     int // which hooks it has: kindBare, kindEnds or kindFull
	name     string
	parent   *refActor
	own      *policy
	below    *policy
	serial   bool
	serialNo uint64 // its number in the system: what decides by chance
	hooks    [4]act // what its hooks do, by hookStart and so on
	// a child that the hook bearsAt has, in the life bearsIn, before it does anything else
	bears    *plan
	bearsAt  int
	bearsIn  int
	failing  int // its first instances, so many, fail in the hook that starts them
	failWith int // by what
}

// policy is a strategy as data: the directive for each error.
type policy struct {
	scope      int
	by         [errorKinds]int
	start      [errorKinds]int
	limit      int // as core.Strategy.Restarts
	window     float64
	backoff    float64
	backoffMax float64
	standard   bool // no decider at all
}

const (
	toRestart = iota
	toResume
	toStop
	toEscalate
	directives
)

const (
	forOne = iota
	forAll
	forRest
	scopes
)

// errorKinds is how many errors there are, one each for what is to be decided.
const errorKinds = 4

func (p *policy) decide(err int, start bool) int {
	d := p.by[err]
	if start {
		d = p.start[err]
	}
	switch {
	case p.standard && start:
		return toStop
	case p.standard:
		return toRestart
	case start && d == toResume:
		return toStop
	}
	return d
}

var standard = &policy{standard: true, window: 60e9 / slot}

// act is what a call or a hook does.
type act uint8

const (
	returns act = iota
	waits
	panicsNow
	panicsLater
	throwsNow
	throwsLater
	bars      // holds all other calls while it waits
	stopsSelf // before it returns
	begets    // has a child
	watches
	unwatches
	marks // a drain's mark
	hears // Terminated
)

var actNames = [...]string{"returns", "waits", "panicsNow", "panicsLater", "throwsNow", "throwsLater", "bars",
	"stopsSelf", "begets", "watches", "unwatches"}

// String is all of p in a line.
func (p *plan) String() string {
	parent := "the top"
	if p.parent != nil {
		parent = fmt.Sprint(p.parent.id)
	}
	text := fmt.Sprintf("%d %q under %s, kind %d, serial %t, own %v, below %v, hooks %v failing %d with %d",
		p.id, p.name, parent, p.kind, p.serial, p.own, p.below, p.hooks, p.failing, p.failWith)
	if p.bears != nil {
		text += fmt.Sprintf(", in %s of life %d has %v", hookNames[p.bearsAt], p.bearsIn, p.bears)
	}
	return text
}

// refCall is one call.
type refCall struct {
	id       int
	act      act
	err      int // what it panics with or throws
	ask      bool
	deadline float64
	child    *plan     // begets
	target   *refActor // watches, unwatches, hears
	due      float64   // the end of its timer
	bars     bool

	// Of the runtime's side.
	pending core.Pending[int]
	reply   int
	refused bool // a notice to who had stopped
}

// refTold is a system message.
type refTold struct {
	what  refVerb
	who   *refActor
	err   int
	start bool
	pause float64
}

type refVerb uint8

const (
	toldStart refVerb = iota
	toldStop
	toldFailed
	toldLeft
	toldRestart
	toldResume
	toldPause
	toldContinue
	toldWatch
	toldUnwatch
)
