package core_test

import (
	"fmt"
	"strings"
)

// The states of a failing actor that the random runs must reach, with each directive and scope.
const (
	whileIdle = iota
	whileSuspended
	whileStarting
	whileRestarting
	whileStopping
	whileResting // a sibling rests in a restart
	whilePaused
	whileDraining
	whileParent
	states
)

var stateNames = [states]string{"idle", "suspended stacks", "PreStart", "PostRestart", "PostStop", "beside who rests", "paused", "draining", "with children"}

// coverage counts failures by what was to become of whom, and when.
type coverage struct {
	failures                   [directives][scopes][states]int
	holds, turnedAway, stopped int // see reference
}

func (c *coverage) add(a *refActor, p *policy, err int, start bool, state int) {
	scope := p.scope
	if a.parent == nil || a.own != nil {
		scope = forOne
	}
	d := p.by[err]
	if start {
		d = p.start[err]
	}
	if !p.standard {
		c.failures[d][scope][state]++
	}
}

// count is for a failure of a call.
func (c *coverage) count(a *refActor, p *policy, err int, start bool) {
	quiet := true
	for state, holds := range map[int]bool{
		whileSuspended: len(a.begun) > 0, whilePaused: a.paused, whileDraining: a.drains, whileParent: len(a.children) > 0,
		whileResting: a.parent != nil && a.restsBeside(),
	} {
		if holds && a.stand == isUp {
			quiet = false
			c.add(a, p, err, start, state)
		}
	}
	if quiet && a.stand == isUp {
		c.add(a, p, err, start, whileIdle)
	}
}

func (a *refActor) restsBeside() bool {
	for _, b := range a.parent.children {
		if b != a && b.resting {
			return true
		}
	}
	return false
}

func (c *coverage) countStart(a *refActor, p *policy, err, hook int) {
	state := whileStarting
	if hook == hookAgain || a.life > 1 {
		state = whileRestarting
	}
	c.add(a, p, err, true, state)
}

func (c *coverage) countEnd(a *refActor, p *policy, err int) { c.add(a, p, err, true, whileStopping) }

// text is the table.
func (c *coverage) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-9s %-11s", "", "")
	for _, s := range stateNames {
		fmt.Fprintf(&b, " %16s", s)
	}
	for d, of := range c.failures {
		for s, row := range of {
			fmt.Fprintf(&b, "\n%-9v %-11s", modelDirectives[d], [...]string{"OneForOne", "AllForOne", "RestForOne"}[s])
			for _, n := range row {
				fmt.Fprintf(&b, " %16d", n)
			}
		}
	}
	fmt.Fprintf(&b, "\n%d holds, %d asks turned away in them, %d stops in a hook that starts or in a pause", c.holds, c.turnedAway, c.stopped)
	return b.String()
}
