package core_test

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
)

// What is done to the tree: mostly where actors have parents, and never where two outcomes would
// be right.

// operation does something at random, and returns how many operations that was.
func (w *modelWorld) operation() int {
	if len(w.alive) == 0 || w.rng.IntN(100) < max(1, 12-len(w.alive)) {
		return w.bornAtTop()
	}
	if float64(w.Now)/slot-float64(w.at) > opsTime || w.rng.IntN(6) == 0 {
		return w.timePasses(1 + w.rng.IntN(2)*w.rng.IntN(12))
	}
	a := w.alive[w.rng.IntN(len(w.alive))]
	for range 3 {
		if a.parent == nil || a.stand != isUp { // most happens where there are parents
			a = w.alive[w.rng.IntN(len(w.alive))]
		}
	}
	for _, b := range w.alive { // what is seldom, and so much the better
		if b.stand != isUp || b.parent == nil || w.rng.IntN(2) == 0 && !(b.inGroup() && b.restsBeside()) {
			continue
		}
		if b.restsBeside() && len(b.calls) < 4 && !w.troubled(b) {
			w.callSomething(b)
			return 1
		} else if b.inGroup() && slices.ContainsFunc(b.begun, (*refCall).fails) && !b.paused && !b.drains {
			w.holdSomehow(b)
			return 1
		}
	}
	if w.rng.IntN(12) == 0 { // the dead answer, too
		if a = w.actors[w.rng.IntN(len(w.actors))]; a == nil {
			return 0
		}
	}
	n := 1
	if w.rng.IntN(4) == 0 {
		n += w.rng.IntN(4)
	}
	for range n {
		w.tellSomething(a)
	}
	return n
}

// did writes an operation down.
func (w *modelWorld) did(format string, args ...any) {
	if w.chatty {
		w.t.Logf("%.3f "+format, append([]any{w.reference.now}, args...)...)
	}
}

func (w *modelWorld) timePasses(slots int) int {
	w.at += slots
	w.did("to slot %d", w.at)
	for next := math.Floor(float64(w.Now)/slot) + 1; next <= float64(w.at); next++ {
		w.Run(time.Duration(next*slot - float64(w.Now)))
		w.until(next)
		if w.unsure != "" {
			break
		}
	}
	return 1
}

func (w *modelWorld) bornAtTop() int {
	p := w.newPlan(nil)
	if p.name != "" && w.rng.IntN(3) == 0 {
		for _, a := range w.alive {
			if a.parent == nil && a.name != "" {
				p.name = a.name
			}
		}
	}
	var at core.Place = w.Sim
	if w.rng.IntN(2) == 0 {
		all := w.Workers()
		at = all[w.rng.IntN(len(all))]
	}
	n := w.spawn(at, p)
	w.did("spawn %v: %d", p, n)
	want := 0
	if p.name != "" {
		if had := w.reference.names[p.path()]; had != nil {
			if want = -1; had.kind == p.kind {
				want = 1 + had.id
			}
		}
	}
	if n != want {
		w.t.Errorf("spawn of %s: %d, want %d", p.path(), n, want)
	}
	if n == 0 {
		w.born(p)
	}
	return 1
}

// newPlan makes up an actor.
func (w *modelWorld) newPlan(parent *refActor) *plan {
	p := &plan{id: len(w.refs), kind: w.rng.IntN(3), parent: parent, serial: w.rng.IntN(5) == 0, failWith: w.rng.IntN(errorKinds)}
	w.refs, w.lines = append(w.refs, nil), append(w.lines, nil)
	if w.rng.IntN(3) > 0 {
		w.names++
		p.name = fmt.Sprintf("n%d", w.names)
		if parent != nil && w.rng.IntN(2) == 0 {
			p.name = fmt.Sprintf("child%d", w.rng.IntN(3))
		}
	}
	if w.rng.IntN(3) > 0 {
		p.own = w.newPolicy()
	}
	if w.rng.IntN(5) > 0 {
		p.below = w.newPolicy()
	}
	if parent != nil && w.rng.IntN(3) > 0 { // who has an own one rests without its siblings
		p.own = nil
	}
	for i := range p.hooks {
		p.hooks[i] = [...]act{returns, returns, waits, waits, panicsNow, panicsLater, throwsNow, throwsLater}[w.rng.IntN(8)]
	}
	p.failing = w.rng.IntN(4)
	if p.kind == kindFull && w.rng.IntN(3) > 0 { // its first start is good, a later one isn't
		p.hooks[hookStart] = returns
		p.hooks[hookAgain] = [...]act{panicsNow, panicsLater, throwsNow, throwsLater}[w.rng.IntN(4)]
		p.failing = 2 + w.rng.IntN(3)
	}
	if !(&refActor{plan: p}).local() {
		for _, i := range []int{hookStart, hookAgain} {
			switch p.hooks[i] {
			case panicsNow:
				p.hooks[i] = panicsLater
			case throwsNow:
				p.hooks[i] = throwsLater
			}
		}
	}
	if p.kind != kindBare && w.rng.IntN(4) == 0 {
		p.bears = w.newPlan(&refActor{plan: p}) // its parent when it is born
		p.bears.name = ""
		p.bearsAt, p.bearsIn = w.rng.IntN(len(p.hooks)), 1+w.rng.IntN(3)
	}
	return p
}

func (w *modelWorld) newPolicy() *policy {
	p := &policy{window: 600, limit: -1, scope: [...]int{forOne, forAll, forAll, forRest, forRest}[w.rng.IntN(5)]}
	for i := range p.by {
		p.by[i], p.start[i] = w.rng.IntN(directives), [...]int{toRestart, toRestart, toResume, toStop, toEscalate}[w.rng.IntN(5)]
	}
	switch w.rng.IntN(12) {
	case 0, 1, 2, 3:
		p.limit, p.window = 1+w.rng.IntN(3), 10.5
	case 4:
		p.limit, p.by = 0, [errorKinds]int{} // to restart
	}
	if w.rng.IntN(4) > 0 {
		p.backoff, p.backoffMax = 8.7, 40
	}
	return p
}

// local says that the failures of a are no concern of others, whatever they are.
func (a *refActor) local() bool {
	p := a.policyOf(nil)
	if a.parent == nil {
		return true
	}
	return (a.own != nil || p.scope == forOne) && !slices.Contains(p.by[:], toEscalate) && !slices.Contains(p.start[:], toEscalate)
}

func (a *refActor) root() *refActor {
	for a.parent != nil {
		a = a.parent
	}
	return a
}

func (c *refCall) fails() bool { return c.act >= panicsNow && c.act <= throwsLater }

// troubled says that somebody of the family of a has a call to come that will fail, and concern
// others.
func (w *modelWorld) troubled(a *refActor) bool {
	for _, b := range w.alive {
		if b.root() == a.root() && !b.local() && (slices.ContainsFunc(b.calls, (*refCall).fails) || slices.ContainsFunc(b.begun, (*refCall).fails)) {
			return true
		}
	}
	return false
}

// tellSomething is one operation on a.
func (w *modelWorld) tellSomething(a *refActor) {
	r := w.refs[a.id]
	n := w.rng.IntN(50)
	if slices.ContainsFunc(a.begun, (*refCall).fails) { // a failure to come, in what state?
		n = w.rng.IntN(15)
	}
	switch n {
	case 0:
		w.system(a, "stop", toldStop, r.Stop)
	case 1, 12:
		w.holdSomehow(a)
	case 2, 3, 4:
		w.system(a, "pause", toldPause, r.Pause)
	case 5, 6, 7, 8:
		w.system(a, "continue", toldContinue, r.Continue)
	case 9, 10, 13:
		w.did("restart %d", a.id)
		e := w.rng.IntN(errorKinds)
		r.Restart(modelErrors[e])
		w.tell(a, refTold{what: toldRestart, err: e})
	default:
		w.callSomething(a)
	}
}

// holdSomehow pauses or drains a.
func (w *modelWorld) holdSomehow(a *refActor) {
	if w.rng.IntN(5) > 1 {
		w.system(a, "pause", toldPause, w.refs[a.id].Pause)
		return
	}
	w.did("drain %d", a.id)
	w.refs[a.id].Drain()
	w.call(a, &refCall{act: marks})
}

// inGroup says that what becomes of a becomes of others.
func (a *refActor) inGroup() bool {
	return a.parent != nil && a.own == nil && a.parent.below != nil && a.parent.below.scope != forOne
}

func (w *modelWorld) system(a *refActor, name string, what refVerb, do func()) {
	w.did("%s %d", name, a.id)
	do()
	w.tell(a, refTold{what: what})
}

func (w *modelWorld) callSomething(a *refActor) {
	w.calls++
	c := &refCall{id: w.calls, act: [...]act{returns, waits, waits, panicsNow, panicsLater, panicsLater, throwsNow, throwsLater, throwsLater, bars, stopsSelf,
		begets, begets, begets, begets, watches, watches, unwatches}[w.rng.IntN(18)], err: w.rng.IntN(errorKinds), ask: w.rng.IntN(3) > 0}
	if a.parent != nil && a.restsBeside() {
		c.act = panicsNow
	} else if (a.policyOf(nil).limit == 0 || a.parent != nil && a.own != nil) && w.rng.IntN(3) == 0 {
		c.act = panicsNow
	} else if a.inGroup() && w.rng.IntN(2) == 0 {
		c.act = [...]act{panicsNow, panicsLater, panicsLater, throwsLater}[w.rng.IntN(4)]
	}
	if c.fails() && !a.local() && w.troubled(a) {
		c.act = waits
	}
	switch c.act {
	case begets:
		if len(w.alive) > 32 || a.closed() {
			c.act = returns
		} else {
			c.child = w.newPlan(a)
		}
	case watches, unwatches:
		c.target = w.actors[w.rng.IntN(len(w.actors))]
		if c.target == nil || c.target.root() == a.root() && !c.target.isBelow(a) {
			c.act = returns
		}
	}
	if c.ask {
		c.deadline = w.reference.now + askFor
	}
	text := fmt.Sprintf("call%d to %d: %s error %d ask %t", c.id, a.id, actNames[c.act], c.err, c.ask)
	if c.child != nil {
		text += ": " + c.child.String()
	}
	w.did(text)
	c.pending = w.refs[a.id].call(c)
	if c.ask {
		w.asked = append(w.asked, c)
	} else if c.refused != a.closed() {
		w.t.Errorf("seed %d: actor %d has stopped: %t; its notice was refused: %t", w.Seed, a.id, a.closed(), c.refused)
	}
	if !c.refused {
		w.call(a, c)
	}
}

// isBelow says that a is a child of b, or a child of one.
func (a *refActor) isBelow(b *refActor) bool {
	for a = a.parent; a != nil; a = a.parent {
		if a == b {
			return true
		}
	}
	return false
}
