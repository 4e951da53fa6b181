package explore

import (
	"fmt"
	"iter"
	"runtime/debug"
	"strings"
)

// Run is one schedule of a scenario: it says which thread goes on at each point. All its methods
// are called by the scenario and its threads.
//
// A thread is
//
//	runnable  it runs, or stands at a scheduling point
//	waiting   it stands at an Await whose condition doesn't hold; runnable once it does
//	ended     its function has returned
//
// and a run ends when all have ended, or by a Failure.
type Run struct {
	config      Config
	level       int // preemptions at most
	tree        *tree
	depth       int // choices made
	preemptions int

	threads []*thread
	now     *thread // the one that runs; nil: none has begun, or all have ended
	next    *thread // who runs when now has yielded
	after   []func()
	steps   []step
	said    string // by Errorf
	failure *Failure
}

type thread struct {
	name   string
	self   uintptr
	resume func() (struct{}, bool)
	yield  func(struct{}) bool
	ready  func() bool // while it waits
	ended  bool
}

// step is a scheduling point that was passed.
type step struct {
	by    *thread
	where string
}

func newRun(c Config, level int, t *tree) *Run {
	if c.Steps == 0 {
		c.Steps = defaultSteps
	}
	return &Run{config: c, level: level, tree: t, steps: t.steps[:0]}
}

// Go adds a thread, which runs once the scenario has returned. Only the scenario calls it.
func (r *Run) Go(name string, f func()) {
	t := &thread{name: name, self: uintptr(len(r.threads) + 1)}
	t.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		defer func() {
			if v := recover(); v != nil {
				r.note(fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
			}
			t.ended = true
		}()
		f()
	})
	r.threads = append(r.threads, t)
}

// After has f called when all threads have ended, for checks. Only the scenario calls it.
func (r *Run) After(f func()) { r.after = append(r.after, f) }

// do runs the schedule.
func (r *Run) do(scenario func(*Run)) {
	defer r.config.Seams.set(r)()
	r.guarded(func() { scenario(r) })
	for t := r.pick(nil); t != nil && r.failure == nil; {
		r.now, r.next = t, nil
		_, more := t.resume()
		if r.now = nil; more {
			t = r.next
		} else if r.failure == nil {
			t = r.pick(nil)
		}
	}
	if r.failure != nil {
		return // what stands in a thread stays there: nothing could unwind the code under test
	}
	for _, t := range r.threads {
		if !t.ended {
			r.note("nobody can go on: " + r.waiting())
			return
		}
	}
	for _, f := range r.after {
		r.guarded(f)
	}
	if r.failure == nil && r.depth < len(r.tree.nodes) {
		r.note(strayed)
	}
}

// guarded calls f, which is no thread: what it fails by is noted already if it was a check.
func (r *Run) guarded(f func()) {
	defer func() {
		if v := recover(); v != nil {
			r.note(fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	if r.failure == nil {
		f()
	}
}

// failed is the panic of a check that fails outside of threads.
const failed = "explore: a check has failed"

const strayed = "the scenario does otherwise than before by the same choices: is a map, a clock or an address in it?"

// Self identifies the running thread, for code that asks which goroutine it is: the same in
// each run. The first thread is 1; 0 is the scenario itself.
func (r *Run) Self() uintptr {
	if r.now == nil {
		return 0
	}
	return r.now.self
}

// As has the thread that was added last identify itself as the n-th, from 1. Only the scenario
// calls it.
func (r *Run) As(n int) { r.threads[len(r.threads)-1].self = uintptr(n) }

// Point is a scheduling point of the running thread: another one may go on here.
func (r *Run) Point(where string) {
	if t := r.now; t != nil {
		r.pass(t, where)
		r.turnTo(r.pick(t))
	}
}

// Await is a scheduling point behind which the running thread goes on once ready holds. The
// function ready is called at other threads' points, and changes nothing.
func (r *Run) Await(where string, ready func() bool) {
	t := r.now
	if t == nil {
		return
	}
	r.pass(t, where)
	t.ready = ready
	next := r.pick(t)
	r.turnTo(next)
	t.ready = nil
}

// Choose returns one of 0 to n-1; all are tried.
func (r *Run) Choose(n int) int {
	if n == 1 {
		return 0
	}
	way, ok := r.tree.choose(r.depth, n)
	if !ok {
		r.note(strayed)
	}
	r.depth++
	return way
}

// Fail ends the run with an error. It doesn't return.
func (r *Run) Fail(format string, args ...any) {
	r.note(fmt.Sprintf(format, args...))
	r.end()
}

// Errorf notes why FailNow is called next, as testify does.
func (r *Run) Errorf(format string, args ...any) { r.said = fmt.Sprintf(format, args...) }

// FailNow is Fail with what Errorf said.
func (r *Run) FailNow() { r.Fail("%s", r.said) }

// Helper does nothing. With it a Run is all that assertions want of a test.
func (r *Run) Helper() {}

// end gives control back for good.
func (r *Run) end() {
	if r.now == nil {
		panic(failed)
	}
	for {
		r.now.yield(struct{}{})
	}
}

// pass notes that t passes a point.
func (r *Run) pass(t *thread, where string) {
	if r.failure != nil {
		r.end()
	}
	if len(r.steps) == r.config.Steps {
		r.Fail("still no end after %d points", r.config.Steps)
	}
	r.steps = append(r.steps, step{t, where})
	r.tree.steps = r.steps
}

// turnTo has another thread go on, and returns when it is the caller's turn again.
func (r *Run) turnTo(next *thread) {
	t := r.now
	if next == t {
		return
	}
	r.next = next
	if next == nil { // nobody can go on
		r.end()
	}
	t.yield(struct{}{})
}

// pick chooses who goes on behind t, which stands at a point; nil: nobody can. The first
// choice is to stay with t.
func (r *Run) pick(t *thread) *thread {
	var ways [waysMax]*thread
	n := 0
	stays := t != nil && t.runnable()
	if stays {
		ways[0], n = t, 1
	}
	if !stays || r.preemptions < r.level {
		for _, other := range r.threads {
			if other != t && !other.ended && other.runnable() {
				ways[n] = other
				n++
			}
		}
	}
	if n == 0 {
		return nil
	}
	way := r.Choose(n)
	if way > 0 && stays {
		r.preemptions++
	}
	return ways[way]
}

func (t *thread) runnable() bool { return t.ready == nil || t.ready() }

// waiting says who waits, and where.
func (r *Run) waiting() string {
	var all []string
	for _, t := range r.threads {
		if t.ended {
			continue
		}
		at := "its beginning"
		for _, s := range r.steps {
			if s.by == t {
				at = s.where
			}
		}
		all = append(all, t.name+" waits at "+at)
	}
	return strings.Join(all, ", ")
}

// note makes the failure; the first one stays.
func (r *Run) note(why string) {
	if r.failure != nil {
		return
	}
	r.failure = &Failure{Why: why, Preemptions: r.preemptions, Choices: r.tree.text(r.level, r.depth)}
	for _, s := range r.steps {
		r.failure.Schedule = append(r.failure.Schedule, s.by.name+": "+s.where)
	}
}
