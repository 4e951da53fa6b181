package explore

import (
	"fmt"
	"strconv"
	"strings"
)

// Seams are the variables by which the code under test calls the explorer, which sets
// them while it runs: those of package invariant. A nil one isn't set.
type Seams struct {
	Point *func(where string)
	Await *func(where string, ready func() bool)
	Self  *func() uintptr
}

// set has the seams call r, and returns what undoes it.
func (s Seams) set(r *Run) (undo func()) {
	point, await, self := swap(s.Point, r.Point), swap(s.Await, r.Await), swap(s.Self, r.Self)
	return func() { point(); await(); self() }
}

func swap[F any](at *F, to F) (undo func()) {
	if at == nil {
		return func() {}
	}
	before := *at
	*at = to
	return func() { *at = before }
}

// Config is how far to explore. The zero Config goes on until all is explored.
type Config struct {
	Seams  Seams
	Bound  int // preemptions of a schedule at most; 0: no bound
	Budget int // schedules at most; 0: no limit. A small space of schedules is exhausted by fewer
	// scheduling points of a schedule at most: more are a thread that never ends; 0: 10,000
	Steps int
}

const (
	defaultSteps = 10_000
	unbounded    = 1 << 30
	// shorterMax is how many more schedules are run to find a shorter one that fails.
	shorterMax = 500
)

// Result is what Explore has seen.
type Result struct {
	Schedules int // different ones
	// all schedules with at most so many preemptions were run; -1: not even those without
	Bound    int
	Complete bool     // there are no others
	Failure  *Failure // nil: there was none
}

// Explore runs scenario by one schedule after the other until one fails, or it has run all
// within the bound or the budget. The scenario makes its state anew each time; it must do the same
// each time but for the choices of Run.
func Explore(c Config, scenario func(r *Run)) Result {
	res := Result{Bound: -1}
	bound := c.Bound
	if bound == 0 {
		bound = unbounded
	}
	for level := 0; level <= bound; level++ {
		p := pass{config: c, level: level, scenario: scenario}
		if !p.run(&res) {
			return res
		}
		res.Bound = level
		if p.fresh == 0 {
			res.Complete = true
			return res
		}
	}
	return res
}

// pass is all schedules with at most level preemptions, of which those with fewer have been run
// before.
type pass struct {
	config   Config
	level    int
	scenario func(*Run)
	tree     tree
	fresh    int // schedules with exactly level preemptions
}

// run reports whether the pass came to its end, without a failure.
func (p *pass) run(res *Result) bool {
	for {
		if p.config.Budget > 0 && res.Schedules >= p.config.Budget {
			return false
		}
		r := newRun(p.config, p.level, &p.tree)
		r.do(p.scenario)
		if r.preemptions == p.level {
			p.fresh++
			res.Schedules++
		}
		if r.failure != nil {
			res.Failure = p.shortest(r.failure)
			return false
		}
		if !p.tree.next() {
			return true
		}
	}
}

// shortest looks among the next schedules for one that fails after fewer points.
func (p *pass) shortest(f *Failure) *Failure {
	for i := 0; i < shorterMax && p.tree.next(); i++ {
		r := newRun(p.config, p.level, &p.tree)
		r.do(p.scenario)
		if r.failure != nil && len(r.failure.Schedule) < len(f.Schedule) {
			f = r.failure
		}
	}
	return f
}

// Replay runs scenario by the choices of a Failure, and returns how it fails now; nil: it
// doesn't. It is an error if the schedule takes more choices than given, or fewer, or other
// ones: then it isn't the one that failed.
func Replay(c Config, choices string, scenario func(r *Run)) (*Failure, error) {
	var t tree
	level, err := t.parse(choices)
	if err != nil {
		return nil, err
	}
	r := newRun(c, level, &t)
	r.do(scenario)
	switch f, given := r.failure, len(t.nodes); {
	case f == nil:
		return nil, nil
	case f.Why == strayed && r.depth > given:
		return nil, fmt.Errorf("explore: it doesn't fail by these %d choices, and there are more to make: the code is another now", given)
	case f.Why == strayed:
		return nil, fmt.Errorf("explore: these %d choices don't fit: the code, or the scenario, is another now", given)
	case r.depth < given:
		return nil, fmt.Errorf("explore: it fails by %d of these %d choices: %v", r.depth, given, f)
	default:
		return f, nil
	}
}

// tree is the choices of one schedule. All ways out of a node are taken, the last node's
// first.
type tree struct {
	nodes    []node
	replayed bool   // the ways come from a text: of how many isn't known, and there are no more
	steps    []step // scratch: the points of the last schedule
}

type node struct{ way, ways uint8 }

// waysMax is how many ways a choice has at most: each is a digit.
const waysMax = 10

// choose returns which of n ways to take at the depth-th choice: what is given, or the first.
func (t *tree) choose(depth, n int) (way int, ok bool) {
	if n > waysMax {
		panic("explore: a choice of more than ten")
	}
	if depth >= len(t.nodes) {
		if t.replayed {
			return 0, false
		}
		t.nodes = append(t.nodes, node{0, uint8(n)})
		return 0, true
	}
	at := &t.nodes[depth]
	if t.replayed {
		at.ways = uint8(n)
	}
	return int(at.way), at.ways == uint8(n) && at.way < at.ways
}

// next turns to the next schedule; false: there is none.
func (t *tree) next() bool {
	for len(t.nodes) > 0 {
		at := &t.nodes[len(t.nodes)-1]
		if at.way+1 < at.ways {
			at.way++
			return true
		}
		t.nodes = t.nodes[:len(t.nodes)-1]
	}
	return false
}

// text is the first depth choices, a digit each, behind how many preemptions there may be at
// most: where there may be no more, there is no choice.
func (t *tree) text(level, depth int) string {
	text := strconv.AppendInt(nil, int64(level), 10)
	text = append(text, ':')
	for _, n := range t.nodes[:min(depth, len(t.nodes))] {
		text = append(text, '0'+n.way)
	}
	return string(text)
}

// parse reads what text wrote.
func (t *tree) parse(text string) (level int, err error) {
	most, digits, cut := strings.Cut(text, ":")
	level, err = strconv.Atoi(most)
	if err != nil || level < 0 || !cut || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("explore: choices are a number of preemptions, a colon and digits, not %q", text)
	}
	for _, c := range []byte(digits) {
		t.nodes = append(t.nodes, node{way: c - '0'})
	}
	t.replayed = true
	return level, nil
}
