package core_test

import "math"

// The reference of failures: who decides, how often, and what becomes of the actor.

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
	case start && pause == 0: // a stop may come first
		a.stand, a.failedIn = isFailed, r.round
		r.tell(a, refTold{what: toldRestart, err: err})
	default:
		r.restart(a, err, pause)
	}
}

// may counts a restart of a, or of its children, and says how long the pause before it is, and
// whether there may be one more.
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
	// a hold is no time without a failure
	if n := len(of.at); n > 0 && r.now-of.at[n-1]-of.hold > p.window {
		of.row, of.hold = 0, 0
	}
	limit := p.limit
	if limit == 0 {
		limit = 5
	}
	tooOften := limit >= 0 && len(late) >= limit
	if of.at = late; tooOften && p.limit > 0 {
		return 0, false
	}
	of.at = append(late, r.now)
	pause = p.pause(of.row, luck)
	of.row++
	if tooOften || of.hold > 0 { // 1 s to 30 s
		of.hold = min(max(1e9/slot, 2*of.hold), 30e9/slot)
		pause = -max(pause, of.hold)
	}
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
	if a.stand != isFailed {
		return
	}
	a.stand = isUp
	for _, c := range a.children {
		r.tell(c, refTold{what: toldResume})
	}
}
