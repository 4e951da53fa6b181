package core_test

import (
	"fmt"
	"math"
	"slices"
)

// The reference: what a tree of actors does, said as plainly as possible. Every actor is a record
// in a tree; nothing is pooled, nothing is concurrent, and nothing moves until settle. Time is
// counted in slots: no two timers end in the same one, so that their order is known.

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
	drains   bool
	paused   bool
	pause    float64 // in the restart under way; negative: a hold
	resting  bool
	restsTo  float64
	cause    int
	tried    tried // its own restarts
	group    tried // those of its children together
	failedIn int   // the round in which its PreStart failed, for which it is restarted
}

// tried is when there were restarts of late, and how many in a row.
type tried struct {
	at   []float64
	row  int
	hold float64
}

// reference is all of them.
type reference struct {
	now    float64
	actors []*refActor
	alive  []*refActor
	names  map[string]*refActor
	wake   []*refActor
	round  int // counts calls of settle

	// What happened since it was last looked at.
	lines [][]string     // by actor
	saw   []string       // who heard of whose end; in no order
	ends  map[int]string // of calls

	waits    map[string]float64 // when timers end, by who waits: the environment's choice
	unsure   string             // why nobody can tell what comes next
	failures int
	restarts int
	holds    int
	turned   int // asks that a hold has ended
	stopped  int // who was in a hook that starts, or in a pause, when the stop came
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
	a.unborn = p.kind != kindBare
	if p.parent != nil && p.parent.closed() { // born in PostStop
		r.tell(a, refTold{what: toldStop})
	}
	if a.unborn {
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
	r.round++
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
	if a.pause < 0 {
		r.turnAway(a)
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
		if a.failedIn == r.round {
			r.unsure = "a stop from above just when it is restarted"
		}
		r.stop(a)
	case toldFailed:
		r.childFailed(a, m.who, m.err, m.start)
	case toldLeft:
		r.left(a, m.who)
	case toldRestart:
		if a.stand == isUp || a.stand == isFailed {
			r.restart(a, m.err, m.pause)
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

func (r *reference) restart(a *refActor, err int, pause float64) {
	a.stand, a.cause, a.pause = isEnding, err, pause
	r.endBegun(a, "restarted")
	if pause < 0 {
		r.holds++
	}
	r.closing(a)
}

// turnAway ends the asks that wait.
func (r *reference) turnAway(a *refActor) {
	a.calls = slices.DeleteFunc(a.calls, func(c *refCall) bool {
		if c.ask {
			r.turned++
			r.end(c, "restarted")
		}
		return c.ask
	})
}

func (r *reference) stop(a *refActor) {
	stood := a.stand
	switch stood {
	case isStopping, isGone:
		return
	case isStarting:
		if a.resting || a.hook >= 0 {
			r.stopped++
		}
		a.hook = -1 // it doesn't go on
	}
	a.stand, a.resting, a.pause = isStopping, false, 0
	if stood == isEnding {
		return // its instance is on its way out
	}
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
		if c := a.bearsWhen(hook, a.life); c != nil {
			c.parent = a
			r.born(c)
		}
		if act := a.doesIn(hook); act == waits || act == panicsLater || act == throwsLater {
			a.hookDue = r.waitOf(fmt.Sprintf("hook%d.%d.%d", a.id, a.life, hook))
			return
		}
	}
	r.hooked(a)
}

// doesIn says what the hook does in this life.
func (p *refActor) doesIn(hook int) act { return p.plan.doesIn(hook, p.life) }

// bearsWhen returns the child that the hook has in this life.
func (p *plan) bearsWhen(hook, life int) *plan {
	if p.bears == nil || hook != p.bearsAt || life != p.bearsIn {
		return nil
	}
	return p.bears
}

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
	case failed:
		r.table.countStart(a, a.policyOf(r), a.failWith, hook)
		r.supervise(a, a.failWith, true)
	case a.drains:
		r.stop(a)
	}
}

// ended goes on behind the end of an instance.
func (r *reference) ended(a *refActor) {
	for _, c := range a.children { // the hook had them
		r.tell(c, refTold{what: toldStop})
	}
	if len(a.children) > 0 {
		return
	}
	if a.stand == isStopping {
		r.bury(a)
		return
	}
	a.stand = isStarting
	if a.pause != 0 {
		a.unborn, a.resting, a.restsTo = true, true, r.now+math.Abs(a.pause)
		return
	}
	r.made(a)
}

// made goes on with another instance.
func (r *reference) made(a *refActor) {
	a.unborn, a.resting, a.pause = false, false, 0
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
		r.made(a)
	default:
		r.hooked(a)
	}
}
