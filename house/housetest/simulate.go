package housetest

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// planVariable is the environment variable that has the one plan to be run.
const planVariable = "STACKHOUSE_PLAN"

const (
	// attemptsMax and shrinkTime bound the search for a simpler plan that fails.
	attemptsMax = 2000
	shrinkTime  = 20 * time.Second
	// hangTime is far more than a simulation takes.
	hangTime = time.Minute
)

// Simulate runs simulations by the seeds from 0 to n-1: draw draws the plan of a seed, and run
// carries it out. A plan is a struct that decides all of the run: how many workers, which limits
// and Faults, who does what and how often, and the seed for what is left to chance.
//
// If a run fails, Simulate looks for a simpler plan that fails, too: with fewer elements in its
// slices, smaller numbers, and zeros, as long as that goes, for 20 s at most. It fails t with what
// that run says, and with the one command that repeats it: it sets STACKHOUSE_PLAN, by which
// Simulate runs that plan alone.
//
// All fields of a plan must be exported, and the zero of each should mean what is usual. A field
// with the tag `shrink:"-"`, as the seed should have, is left as it is. run must do the same each
// time. It gets a testing.TB of its own, which is for its goroutine: FailNow ends the run, and
// cleanups follow. A panic, and a run of a minute, are failures too.
func Simulate[P any](t testing.TB, n uint64, draw func(seed uint64) P, run func(t testing.TB, plan P)) {
	t.Helper()
	if text := os.Getenv(planVariable); text != "" {
		plan, err := decodePlan[P](text)
		if err != nil {
			t.Fatal(err)
		}
		if said, failed := try(t, hangTime, func(t testing.TB) { run(t, plan) }); failed {
			t.Fatalf("the plan fails:\n%s", said)
		}
		return
	}
	for seed := range n {
		plan := draw(seed)
		if said, failed := try(t, hangTime, func(t testing.TB) { run(t, plan) }); failed {
			s := search[P]{t: t, run: run, said: said, until: time.Now().Add(shrinkTime)}
			t.Fatalf("seed %d: %s", seed, s.report(plan, commandOf(t, draw)))
		}
	}
}

// search is the search for a simple plan that fails.
type search[P any] struct {
	t        testing.TB
	run      func(testing.TB, P)
	attempts int
	until    time.Time
	text     string // the simplest plan that has failed so far
	said     string // what it said
}

// report returns what a test says of a plan that has failed.
func (s *search[P]) report(plan P, command string) string {
	first, err := encodePlan(plan)
	if err != nil {
		return fmt.Sprintf("it fails, and its plan isn't text: %v\n%s", err, s.said)
	}
	if plan, err = decodePlan[P](first); err != nil {
		return fmt.Sprintf("it fails, and %v\n%s", err, s.said)
	}
	if !s.fails(&plan) {
		return fmt.Sprintf("it fails, but not again in %v, if its plan is read from text: %s\n%s", shrinkTime, first, s.said)
	}
	at := reflect.ValueOf(&plan).Elem()
	for shrink(at, func() bool { return s.fails(&plan) }) {
	}
	return fmt.Sprintf("it fails; after %d attempts the simplest plan that does says:\n%s\nTo repeat that:\n\n\t%s='%s' %s\n",
		s.attempts, s.said, planVariable, s.text, command)
}

// fails reports whether a plan fails, once more.
func (s *search[P]) fails(plan *P) bool {
	now := time.Now()
	left := s.until.Sub(now)
	if s.attempts == attemptsMax || left <= 0 {
		return false
	}
	s.attempts++
	text, err := encodePlan(*plan)
	if err != nil {
		return false
	}
	own, err := decodePlan[P](text) // run may change it
	if err != nil {
		return false
	}
	said, failed := try(s.t, left, func(t testing.TB) { s.run(t, own) })
	if failed && time.Now().Before(s.until) {
		s.text, s.said = text, said
		return true
	}
	return false
}

var inNames = regexp.MustCompile(`[^/]+`)

// commandOf returns the command that runs a test, without its plan; draw is one of its functions.
func commandOf[P any](t testing.TB, draw func(uint64) P) string {
	name := runtime.FuncForPC(reflect.ValueOf(draw).Pointer()).Name()
	last := strings.LastIndexByte(name, '/') + 1
	own, _, _ := strings.Cut(name[last:], ".")
	from := name[:last] + strings.TrimSuffix(own, "_test")
	return fmt.Sprintf("go test %s -run '%s'", from, inNames.ReplaceAllStringFunc(t.Name(), func(part string) string {
		return "^" + regexp.QuoteMeta(part) + "$"
	}))
}
