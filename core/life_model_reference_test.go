package core_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/stackhouse-go/stackhouse/core"
)

// The reference: what a tree of actors does, said as plainly as possible. Every actor is a record
// in a tree; nothing is pooled, nothing is concurrent, and nothing moves until settle. Time is counted in
// slots: no two timers end in the same one, so that their order is known.

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
	failing  int    // its first instances, so many, fail in the hook that starts them
	failWith int    // by what
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

var standard = &policy{standard: true, window: 60e9 / slot, limit: 5}

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
	return fmt.Sprintf("%d %q under %s, kind %d, serial %t, own %v, below %v, hooks %v failing %d with %d",
		p.id, p.name, parent, p.kind, p.serial, p.own, p.below, p.hooks, p.failing, p.failWith)
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

// refActor is an actor.
type refActor struct {
	*plan
	stand    stand
	life     int // which instance, from 1
	children []*refActor
	system   []refTold
	calls    []*refCall
	begun    []*refCall
	watchers []*refActor

	hook     int // the one that waits, or -1
	hookDue  float64
	hookDone bool
	inEnd    bool
	unborn   bool
	stops    bool
	drains   bool
	paused   bool
	resting  bool
	restsTo  float64
	cause    int
	tried    tried // its own restarts
	group    tried // those of its children together
}

// tried is when there were restarts of late, and how many in a row.
type tried struct {
	at  []float64
	row int
}

// reference is all of them.
type reference struct {
	now    float64
	actors []*refActor
	alive  []*refActor
	names  map[string]*refActor
	wake   []*refActor

	// What happened since it was last looked at.
	lines [][]string     // by actor
	saw   []string       // who heard of whose end; in no order
	ends  map[int]string // of calls

	waits    map[string]float64 // when timers end, by who waits: the environment's choice
	unsure   string             // why nobody can tell what comes next
	failures int
	restarts int
	dead     int // notices that nobody handled
	unheard  int // of them that tell who didn't wait for it
	expired  int
	table    *coverage
}

func (r *reference) note(a *refActor, format string, args ...any) {
	r.lines[a.id] = append(r.lines[a.id], fmt.Sprintf(format, args...))
}

func (r *reference) born(p *plan) *refActor {
	a := &refActor{plan: p, life: 1, hook: -1}
	for len(r.actors) <= p.id {
		r.actors, r.lines = append(r.actors, nil), append(r.lines, nil)
	}
	r.actors[p.id] = a
	r.alive = append(r.alive, a)
	if p.name != "" {
		r.names[a.path()] = a
	}
	if p.parent != nil {
		p.parent.children = append(p.parent.children, a)
	}
	if p.kind != kindBare {
		a.unborn = true
		r.tell(a, refTold{what: toldStart})
	}
	return a
}

func (p *plan) path() string {
	name := p.name
	if name == "" {
		name = fmt.Sprintf("$%d", p.serialNo)
	}
	if p.parent == nil {
		return "/user/" + name
	}
	return p.parent.path() + "/" + name
}

func (r *reference) tell(a *refActor, m refTold) {
	a.system = append(a.system, m)
	r.wake = append(r.wake, a)
}

func (r *reference) call(a *refActor, c *refCall) {
	a.calls = append(a.calls, c)
	r.wake = append(r.wake, a)
}

// settle has all go on until nothing happens any more.
func (r *reference) settle() {
	for len(r.wake) > 0 {
		a := r.wake[0]
		r.wake = r.wake[1:]
		for r.one(a) {
		}
	}
}

// one has a do one thing.
func (r *reference) one(a *refActor) bool {
	if len(a.system) > 0 {
		m := a.system[0]
		a.system = a.system[1:]
		r.handle(a, m)
		return true
	}
	if a.drains && a.stand == isUp && len(a.begun) == 0 {
		r.stop(a)
		return true
	}
	if len(a.calls) == 0 || a.holds() {
		return false
	}
	c := a.calls[0]
	a.calls = a.calls[1:]
	r.begin(a, c)
	return true
}

// closed says that calls are refused.
func (a *refActor) closed() bool { return a.stand == isStopping || a.stand == isGone }

// holds says that calls wait.
func (a *refActor) holds() bool {
	if a.closed() {
		return false
	}
	if a.stand != isUp || a.paused || a.drains || a.unborn {
		return true
	}
	for _, c := range a.begun {
		if c.bars || a.serial {
			return true
		}
	}
	return false
}

func (r *reference) handle(a *refActor, m refTold) {
	switch m.what {
	case toldStart:
		if a.stand == isUp {
			a.unborn = false
			a.stand = isStarting
			r.runHook(a, hookStart)
		}
	case toldStop:
		r.stop(a)
	case toldFailed:
		r.childFailed(a, m.who, m.err, m.start)
	case toldLeft:
		r.left(a, m.who)
	case toldRestart:
		if a.stand == isUp || a.stand == isFailed && !a.resting {
			if m.pause > 0 {
				r.rest(a, m.err, m.pause)
			} else {
				r.restart(a, m.err)
			}
		}
	case toldResume:
		r.resume(a)
	case toldPause:
		if !a.closed() {
			a.paused = true
		}
	case toldContinue:
		a.paused = false
	case toldWatch:
		if a.stand == isGone {
			r.terminated(m.who, a)
			return
		}
		for _, w := range a.watchers {
			if w == m.who {
				return
			}
		}
		a.watchers = append(a.watchers, m.who)
	case toldUnwatch:
		for i, w := range a.watchers {
			if w == m.who {
				a.watchers = append(a.watchers[:i:i], a.watchers[i+1:]...)
				return
			}
		}
	}
}

func (r *reference) terminated(to, gone *refActor) {
	r.call(to, &refCall{act: hears, target: gone})
}

// begin begins a call, or refuses it.
func (r *reference) begin(a *refActor, c *refCall) {
	if c.deadline != 0 && math.Abs(r.now-c.deadline) < 2*jitter {
		r.unsure = "a deadline just now"
	}
	switch {
	case a.closed():
		if c.act == hears {
			r.unheard++
		} else if !c.ask && c.act != marks {
			r.dead++
		}
		r.end(c, "stopped")
		return
	case c.deadline != 0 && r.now > c.deadline:
		r.expired++
		r.end(c, "timeout")
		return
	case c.act == marks:
		a.drains = true
		return
	case c.act == hears:
		r.saw = append(r.saw, fmt.Sprintf("%d.%d saw %d", a.id, a.life, c.target.id))
		return
	}
	r.note(a, "%d:call%d", a.life, c.id)
	switch c.act {
	case waits, panicsLater, throwsLater, bars:
		c.bars = c.act == bars
		c.due = r.waitOf(fmt.Sprintf("call%d", c.id))
		a.begun = append(a.begun, c)
	case begets:
		r.beget(a, c)
	case watches:
		r.tell(c.target, refTold{what: toldWatch, who: a})
		r.end(c, "ok")
	case unwatches:
		r.tell(c.target, refTold{what: toldUnwatch, who: a})
		r.end(c, "ok")
	case stopsSelf:
		r.tell(a, refTold{what: toldStop})
		r.end(c, "ok")
	default:
		r.finish(a, c)
	}
}

func (r *reference) beget(a *refActor, c *refCall) {
	if c.child.name != "" {
		if had := r.names[c.child.path()]; had != nil {
			if had.kind == c.child.kind {
				r.end(c, fmt.Sprintf("taken%d", had.id))
			} else {
				r.end(c, "taken")
			}
			return
		}
	}
	r.born(c.child)
	r.end(c, "ok")
}

// finish is the last step of a call.
func (r *reference) finish(a *refActor, c *refCall) {
	switch c.act {
	case panicsNow, panicsLater:
		r.failures++
		r.end(c, fmt.Sprintf("panic%d", c.err))
		r.fails(a, c.err, false)
	case throwsNow, throwsLater:
		r.end(c, fmt.Sprintf("threw%d", c.err))
		if !c.ask {
			r.failures++
			r.fails(a, c.err, false)
		}
	default:
		r.end(c, "ok")
	}
}

// end is how a call ends. A notice's end is nobody's news.
func (r *reference) end(c *refCall, how string) {
	if c.ask {
		r.ends[c.id] += how
	}
}

// endBegun ends all calls that wait.
func (r *reference) endBegun(a *refActor, how string) {
	for _, c := range a.begun {
		r.end(c, how)
	}
	a.begun = nil
}

// policyOf returns what counts for the failures of a, and the parent if it has a say.
func (a *refActor) policyOf(r *reference) *policy {
	switch {
	case a.own != nil:
		return a.own
	case a.parent != nil && a.parent.below != nil:
		return a.parent.below
	}
	return standard
}

// fails is a failure of a.
func (r *reference) fails(a *refActor, err int, start bool) {
	p := a.policyOf(r)
	r.table.count(a, p, err, start)
	if a.stand != isUp {
		return
	}
	r.supervise(a, err, start)
}

func (r *reference) supervise(a *refActor, err int, start bool) {
	p := a.policyOf(r)
	d := p.decide(err, start)
	switch {
	case d == toResume:
	case a.parent != nil && (d == toEscalate || a.own == nil && p.scope != forOne):
		a.stand = isFailed
		r.tell(a.parent, refTold{what: toldFailed, who: a, err: err, start: start})
	case d != toRestart:
		r.stop(a)
	default:
		r.retry(a, p, err, start)
	}
}

// retry restarts a, if that may be.
func (r *reference) retry(a *refActor, p *policy, err int, start bool) {
	pause, may := r.may(a, &a.tried, p)
	switch {
	case !may:
		r.stop(a)
	case pause > 0:
		r.rest(a, err, pause)
	case start: // a stop may come first
		a.stand = isFailed
		r.tell(a, refTold{what: toldRestart, err: err})
	default:
		r.restart(a, err)
	}
}

// may counts a restart of a, or of its children, and says how long the pause before it is, and whether there
// may be one more.
func (r *reference) may(a *refActor, of *tried, p *policy) (pause float64, yes bool) {
	var late []float64
	for _, at := range of.at {
		if math.Abs(r.now-at-p.window) < 2*jitter {
			r.unsure = "the end of a window of restarts"
		}
		if r.now-at < p.window {
			late = append(late, at)
		}
	}
	luck := chance(a.serialNo, of.row)
	if n := len(of.at); n > 0 && r.now-of.at[n-1] > p.window {
		of.row = 0
	}
	if of.at = late; p.limit >= 0 && len(late) >= p.limit {
		return 0, false
	}
	of.at = append(late, r.now)
	pause = p.pause(of.row, luck)
	of.row++
	return pause, true
}

// pause is from half of what backoff says to all of it, by chance.
func (p *policy) pause(row int, luck float64) float64 {
	if p.backoff == 0 {
		return 0
	}
	full := min(p.backoffMax, p.backoff*math.Pow(2, float64(row)))
	return full/2 + full/2*luck
}

// childFailed decides for a child of a.
func (r *reference) childFailed(a, child *refActor, err int, start bool) {
	if a.stand == isStopping || a.stand == isEnding || a.stand == isGone {
		return
	}
	p := child.policyOf(r)
	d := p.decide(err, start)
	if d == toEscalate {
		switch {
		case a.stand != isUp:
			r.tell(child, refTold{what: toldStop})
		case a.policyOf(r).decide(err, start) == toResume:
			r.tell(child, refTold{what: toldResume})
		default:
			r.supervise(a, err, start)
		}
		return
	}
	m := refTold{what: toldStop}
	if d == toRestart {
		if pause, may := r.may(a, &a.group, p); may {
			m = refTold{what: toldRestart, err: err, pause: pause}
		}
	}
	concerned := p.scope == forAll
	for _, c := range a.children {
		if concerned = concerned || c == child; concerned {
			r.tell(c, m)
		}
	}
}

func (r *reference) resume(a *refActor) {
	if a.stand != isFailed || a.resting {
		return
	}
	a.stand = isUp
	for _, c := range a.children {
		r.tell(c, refTold{what: toldResume})
	}
}

func (r *reference) rest(a *refActor, err int, pause float64) {
	a.stand, a.resting, a.cause, a.restsTo = isFailed, true, err, r.now+pause
	r.endBegun(a, "restarted")
}

// restart begins the end of an instance.
func (r *reference) restart(a *refActor, err int) {
	a.stand, a.resting, a.cause = isEnding, false, err
	r.endBegun(a, "restarted")
	r.closing(a)
}

func (r *reference) stop(a *refActor) {
	switch a.stand {
	case isStopping, isGone:
		return
	case isStarting:
		a.stops = true
		return
	case isEnding:
		a.stand = isStopping // its instance is on its way out
		return
	}
	a.stand, a.resting = isStopping, false
	r.endBegun(a, "stopped")
	r.closing(a)
}

// closing has the children stop, then the hook run.
func (r *reference) closing(a *refActor) {
	a.inEnd, a.hookDone = false, false
	for _, c := range a.children {
		r.tell(c, refTold{what: toldStop})
	}
	if len(a.children) == 0 {
		r.endInstance(a)
	}
}

func (r *reference) left(a, child *refActor) {
	for i, c := range a.children {
		if c == child {
			a.children = append(a.children[:i:i], a.children[i+1:]...)
			break
		}
	}
	if len(a.children) > 0 || a.stand != isEnding && a.stand != isStopping {
		return
	}
	if !a.inEnd {
		r.endInstance(a)
	} else if a.hookDone {
		r.ended(a)
	}
}

func (r *reference) endInstance(a *refActor) {
	a.inEnd = true
	hook := -1
	switch {
	case a.unborn || a.kind == kindBare:
	case a.stand == isEnding && a.kind == kindFull:
		hook = hookEnd
	default:
		hook = hookStop
	}
	r.runHook(a, hook)
}

// runHook begins a hook; a negative one has ended at once.
func (r *reference) runHook(a *refActor, hook int) {
	a.hook = hook
	if hook >= 0 {
		r.note(a, "%d:%s", a.life, hookNames[hook])
		if act := a.doesIn(hook); act == waits || act == panicsLater || act == throwsLater {
			a.hookDue = r.waitOf(fmt.Sprintf("hook%d.%d.%d", a.id, a.life, hook))
			return
		}
	}
	r.hooked(a)
}

// doesIn says what the hook does in this life.
func (p *refActor) doesIn(hook int) act { return p.plan.doesIn(hook, p.life) }

// doesIn says what a hook does: those that start an instance fail in the first lives only.
func (p *plan) doesIn(hook, life int) act {
	does := p.hooks[hook]
	if (hook == hookStart || hook == hookAgain) && life > p.failing {
		switch does {
		case panicsNow, throwsNow:
			return returns
		case panicsLater, throwsLater:
			return waits
		}
	}
	return does
}

// hooked goes on behind a hook.
func (r *reference) hooked(a *refActor) {
	hook := a.hook
	a.hook = -1
	failed := false
	if hook >= 0 {
		switch a.doesIn(hook) {
		case panicsNow, panicsLater, throwsNow, throwsLater:
			r.failures++
			failed = true
		}
	}
	switch {
	case a.stand == isStarting:
		r.started(a, hook, failed)
	default:
		if failed {
			r.table.countEnd(a, a.policyOf(r), a.failWith)
		}
		a.hookDone = true
		r.ended(a)
	}
}

func (r *reference) started(a *refActor, hook int, failed bool) {
	a.stand = isUp
	switch {
	case a.stops:
		if failed {
			r.table.countStart(a, a.policyOf(r), a.failWith, hook)
		}
		r.stop(a)
	case failed:
		r.table.countStart(a, a.policyOf(r), a.failWith, hook)
		r.supervise(a, a.failWith, true)
	case a.drains:
		r.stop(a)
	}
}

// ended goes on behind the end of an instance.
func (r *reference) ended(a *refActor) {
	if len(a.children) > 0 {
		return
	}
	if a.stand == isStopping {
		r.bury(a)
		return
	}
	a.stand = isStarting
	a.life++
	r.restarts++
	hook := hookAgain
	switch a.kind {
	case kindBare:
		hook = -1
	case kindEnds:
		hook = hookStart
	}
	r.runHook(a, hook)
}

func (r *reference) bury(a *refActor) {
	a.stand = isGone
	r.alive = slices.DeleteFunc(r.alive, func(b *refActor) bool { return b == a })
	if a.name != "" {
		delete(r.names, a.path())
	}
	for _, w := range a.watchers {
		r.terminated(w, a)
	}
	a.watchers = nil
	if a.parent != nil {
		r.tell(a.parent, refTold{what: toldLeft, who: a})
	}
	r.wake = append(r.wake, a)
}

// waitOf returns when a timer ends.
func (r *reference) waitOf(who string) float64 {
	if at, ok := r.waits[who]; ok {
		return at
	}
	return math.Inf(1) // the comparison will tell
}

// until has time pass, from one thing that happens to the next.
func (r *reference) until(at float64) {
	for {
		first, second := happening{at: math.Inf(1)}, happening{at: math.Inf(1)}
		for _, a := range r.alive {
			for _, h := range a.toHappen() {
				if h.at < first.at {
					h, first = first, h
				}
				if h.at < second.at && h.who != first.who {
					second = h
				}
			}
		}
		if first.at > at {
			break
		}
		if (first.rests || second.rests) && second.at-first.at < jitter || first.rests && at-first.at < jitter {
			r.unsure = "two things at about the same time"
		}
		r.now = first.at
		r.happens(first)
		r.wake = append(r.wake, first.who)
		r.settle()
	}
	for _, a := range r.alive {
		if a.resting && a.restsTo-at < jitter {
			r.unsure = "a pause ends just now"
		}
	}
	r.now = at
}

// happening is something that comes with time.
type happening struct {
	at    float64
	who   *refActor
	call  *refCall // whose timer or deadline it is
	late  bool     // its deadline
	rests bool     // the end of a pause before a restart
}

func (a *refActor) toHappen() (all []happening) {
	if a.resting {
		all = append(all, happening{at: a.restsTo, who: a, rests: true})
	}
	if a.hook >= 0 {
		all = append(all, happening{at: a.hookDue, who: a})
	}
	for _, c := range a.begun {
		if c.deadline != 0 && c.deadline < c.due {
			all = append(all, happening{at: c.deadline, who: a, call: c, late: true})
		} else {
			all = append(all, happening{at: c.due, who: a, call: c})
		}
	}
	return all
}

func (r *reference) happens(h happening) {
	a, c := h.who, h.call
	if c != nil {
		a.begun = slices.DeleteFunc(a.begun, func(b *refCall) bool { return b == c })
	}
	switch {
	case h.late:
		r.end(c, "timeout")
	case c != nil:
		r.note(a, "%d:end%d", a.life, c.id)
		r.finish(a, c)
	case h.rests:
		r.restart(a, a.cause)
	default:
		r.hooked(a)
	}
}
