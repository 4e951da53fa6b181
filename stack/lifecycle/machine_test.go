package lifecycle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/internal/script"
)

var (
	phases = []string{"up", "starting", "failed", "ending", "stopping", "gone"}
	hooks  = []string{"PreStart", "PostRestart", "Pause", "Make", "PreRestart", "PostStop"}
	acts   = []string{"none", "count restart", "refuse", "hold", "end timer", "end stacks", "recall", "release all", "closes",
		"stop children", "bury", "forget", "tell restarted", "tell started", "release",
		"count idle", "look idle", "resume children", "decide", "run"}
	errLost = errors.New("lost")
)

// stage is a machine whose effects are printed, and not done.
type stage struct{ m Machine }

// events are the events, by their names in scripts.
var events = []struct {
	name string
	do   func(*Machine)
}{
	{"start", (*Machine).Start},
	{"fail", func(m *Machine) { m.Fail(errLost) }},
	{"resume", (*Machine).Resume},
	{"wait", (*Machine).Wait},
	{"restart", func(m *Machine) { m.Restart(errLost, 0) }},
	{"restart later", func(m *Machine) { m.Restart(errLost, 5) }},
	{"restart held", func(m *Machine) { m.Restart(errLost, -5) }},
	{"stop", (*Machine).Stop},
	{"drain", (*Machine).Drain},
	{"idle", (*Machine).Idle},
	{"bear", (*Machine).Bear},
	{"lose", (*Machine).Lose},
	{"disown", (*Machine).Disown},
	{"keep", (*Machine).Keep},
	{"let", (*Machine).Let},
	{"close", (*Machine).Close},
	{"ended", func(m *Machine) { m.Ended(m.toRun, nil) }},
	{"threw", func(m *Machine) { m.Ended(m.toRun, errLost) }},
}

// play does one line of a script, and returns the effects and the phase.
func (s *stage) play(t *testing.T, line string) string {
	if names, ok := strings.CutPrefix(line, "new"); ok {
		var hs Hooks
		for name := range strings.FieldsSeq(names) {
			i := slices.Index(hooks, name)
			require.NotEqual(t, -1, i, line)
			hs = hs.With(Hook(i), true)
		}
		s.m = New(hs)
		return s.effects()
	}
	for _, e := range events {
		if e.name == line {
			e.do(&s.m)
			return s.effects()
		}
	}
	t.Fatalf("a script has the line %q", line)
	return ""
}

// effects returns the effects that are to be done, and the phase after them.
func (s *stage) effects() string {
	var all []string
	for e := s.m.Next(); e != None; e = s.m.Next() {
		act := acts[e]
		if e == Run {
			act += " " + hooks[s.m.ToRun()]
		}
		all = append(all, act)
	}
	at := phases[s.m.phase]
	for _, f := range []struct {
		on   bool
		name string
	}{{s.m.unborn, "unborn"}, {s.m.unstarted && !s.m.unborn, "unstarted"}, {s.m.drains, "drains"}, {s.m.Down(), "down"}, {s.m.children > 0, "with children"}, {s.m.kept > 0, "kept"}} {
		if f.on {
			at += ", " + f.name
		}
	}
	if len(all) == 0 {
		return at
	}
	return at + ": " + strings.Join(all, ", ")
}

// TestScripts: what comes of each event, in conversations.
func TestScripts(t *testing.T) {
	script.Files(t, "testdata/*.txt", func(t *testing.T) func(string) string {
		var s stage
		return func(line string) string { return s.play(t, line) }
	})
}

// ways lead to each phase.
var ways = [][]string{
	Up:       {"start", "ended"},
	Starting: {"start"},
	Failed:   {"start", "ended", "fail", "wait"},
	Ending:   {"start", "ended", "bear", "fail", "restart"},
	Stopping: {"start", "ended", "bear", "stop"},
	Gone:     {"start", "ended", "stop", "ended"},
}

// TestEveryEvent: each event in each phase, of an actor that has all hooks and of one that has
// none.
func TestEveryEvent(t *testing.T) {
	var got strings.Builder
	for _, hooks := range []string{"PreStart PostRestart PreRestart PostStop", ""} {
		for phase, way := range ways {
			if hooks == "" && Phase(phase) == Starting {
				way = []string{"fail", "restart later"} // without hooks only the pause keeps it Starting
			}
			var heads []string
			for _, e := range events {
				var s stage
				s.play(t, "new "+hooks)
				at := ""
				for _, line := range way {
					if hooks == "" && line == "ended" {
						continue // there is no hook
					}
					at = s.play(t, line)
				}
				if len(heads) == 0 {
					heads = append(heads, at)
					require.Equal(t, Phase(phase), s.m.phase, at)
					fmt.Fprintf(&got, "%s, hooks: %s\n", phases[phase], hooks)
				}
				if e.name == "lose" || e.name == "let" || e.name == "disown" {
					if e.name == "let" && s.m.kept == 0 {
						s.m.Keep()
					} else if s.m.children == 0 {
						s.m.Bear()
					}
				}
				fmt.Fprintf(&got, "\t%-14s %s\n", e.name, s.play(t, e.name))
			}
		}
	}
	script.Same(t, "testdata/every.table", got.String())
}

// TestLives: after random events in random order a hook is the last effect, calls are held in all
// phases but Up, an actor is buried once, and there are no effects after that.
func TestLives(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 0))
		m := New(Hooks(r.UintN(1<<len(hooks))) &^ (1<<Pause | 1<<Make))
		held, refused, buried, running := m.Starts(), 0, 0, false
		for range 60 {
			e := events[r.IntN(len(events))]
			switch e.name {
			case "lose", "disown":
				if m.children == 0 {
					continue
				}
			case "let":
				if m.kept == 0 {
					continue
				}
			case "keep", "bear":
				if m.phase == Gone || running {
					continue
				}
			case "close":
				continue
			case "ended", "threw":
				if !running {
					continue
				}
				running = false
			}
			e.do(&m)
			last := None
			for next := m.Next(); next != None; next = m.Next() {
				require.Greater(t, next, last, "seed %d: %s after %s", seed, acts[next], acts[last])
				require.Zero(t, buried, "seed %d", seed)
				switch last = next; next {
				case Hold:
					held = true
				case Release, ReleaseAll:
					held = false
				case Refuse:
					refused++
				case EndStacks:
					if running && m.phase == Stopping { // the hook was suspended, and is ended
						running = false
						m.Ended(m.toRun, errLost)
					}
				case Bury:
					buried++
				case Run:
					require.False(t, running, "seed %d: two hooks at once", seed)
					running = true
				}
			}
			switch m.phase {
			case Up:
				require.Equal(t, m.drains || m.unstarted, held, "seed %d", seed)
			case Starting, Failed, Ending:
				require.True(t, held, "seed %d", seed)
			case Stopping:
				require.Equal(t, 1, refused, "seed %d", seed)
			case Gone:
				require.Equal(t, []int{1, 1}, []int{refused, buried}, "seed %d", seed)
			}
		}
	}
}
