package explore

import (
	"os"
	"strings"
)

// Failure is how a schedule failed.
type Failure struct {
	Why         string
	Preemptions int
	Schedule    []string // "thread: point" for each point passed
	Choices     string   // for Replay
}

// String is the failure on several lines.
func (f *Failure) String() string {
	return f.Why + "\nafter " + strings.Join(f.Schedule, "\n      ") +
		"\nagain by " + replayed + "=" + f.Choices
}

// replayed is the variable of the environment that has Prove run a single schedule.
const replayed = "STACKHOUSE_REPLAY"

// T is what Prove needs of a test.
type T interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Prove explores a scenario as a test. It returns the number of schedules. With
// STACKHOUSE_REPLAY set to the choices of a failure it runs these instead.
func Prove(t T, c Config, scenario func(r *Run)) int {
	t.Helper()
	if choices := os.Getenv(replayed); choices != "" {
		f, err := Replay(c, choices, scenario)
		switch {
		case err != nil:
			t.Fatalf("%v", err)
		case f != nil:
			t.Fatalf("%v", f)
		}
		t.Logf("one schedule, that of %s, was run and passed", replayed)
		return 1
	}
	res := Explore(c, scenario)
	if res.Failure != nil {
		t.Fatalf("in schedule %d: %v", res.Schedules, res.Failure)
	}
	reach := "all of them"
	switch {
	case res.Complete:
	case res.Bound < 0:
		reach = "not all without preemptions"
	default:
		reach = "all with up to " + string('0'+rune(res.Bound%10)) + " preemptions"
	}
	t.Logf("%d schedules, %s", res.Schedules, reach)
	return res.Schedules
}
