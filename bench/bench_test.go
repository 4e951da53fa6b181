package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// TestMain lets the tests' program be the command.
func TestMain(m *testing.M) {
	if os.Getenv("STACKHOUSE_BENCH_CHILD") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// small is a run of a few milliseconds.
var small = options{length: 10 * time.Millisecond, workers: 2, leaves: 1000, actors: 2000, timers: 100}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if s.name == "kv" && testing.Short() {
				t.Skip("it builds a program")
			}
			r, err := s.run(small)
			if err != nil {
				t.Fatal(err)
			}
			if r.ops == 0 || r.elapsed <= 0 {
				t.Errorf("%d operations in %v", r.ops, r.elapsed)
			}
			if r.p[3] <= 0 || !slices.IsSorted(r.p[:]) {
				t.Errorf("p50, p99, p99.9 and max are %v", r.p)
			}
			if s.op == "" || s.times == "" {
				t.Error("it doesn't say what an operation is")
			}
		})
	}
}

func TestSpawnShowsWhatIsLive(t *testing.T) {
	r, err := spawn(small)
	if err != nil {
		t.Fatal(err)
	}
	if r.ops != uint64(small.actors) || r.used.mallocs < r.ops || r.used.bytes < 8*r.used.mallocs {
		t.Errorf("%d live objects and %d bytes for %d actors", r.used.mallocs, r.used.bytes, r.ops)
	}
}

// Others read the lines: their keys are for ever.
func TestLine(t *testing.T) {
	var out bytes.Buffer
	err := lines{&out}.print("x", result{ops: 4, elapsed: 6, p: [4]int64{1, 2, 3, 4}, used: memory{5, 6, 7, 8}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"scenario":"x","ops":4,"ns_op":1.5,"p50":1,"p99":2,"p999":3,"max":4,"mallocs":5,"bytes":6,"gc":7}` + "\n"
	if out.String() != want {
		t.Errorf("got  %swant %s", out.String(), want)
	}
}

func TestRunPrintsALineEach(t *testing.T) {
	chosen, err := choose("ask-local,channels")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(&out, chosen, small, true); err != nil {
		t.Fatal(err)
	}
	var names []string
	for text := range strings.Lines(out.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatal(err)
		}
		keys := slices.Sorted(maps.Keys(fields))
		if want := []string{"bytes", "gc", "mallocs", "max", "ns_op", "ops", "p50", "p99", "p999", "scenario"}; !slices.Equal(keys, want) {
			t.Errorf("keys %v, want %v", keys, want)
		}
		names = append(names, fields["scenario"].(string))
	}
	if want := []string{"channels", "ask-local"}; !slices.Equal(names, want) {
		t.Errorf("scenarios %v, want %v", names, want)
	}
}

func TestTable(t *testing.T) {
	chosen, err := choose("channels,batch64,spawn")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(&out, chosen, small, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ns/op", "\nchannels ", " 1.00 ", "\nbatch64 ", "/op ", "a batch had", scenarios[0].op} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// What can be named is listed by -h, and by the error for a name that isn't there.
func TestNamesAreListed(t *testing.T) {
	c := exec.Command(os.Args[0], "-h")
	c.Env = append(os.Environ(), "STACKHOUSE_BENCH_CHILD=1")
	help, err := c.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	_, err = choose("ask-local,ask")
	for _, s := range scenarios {
		if !strings.Contains(string(help), s.name) {
			t.Errorf("-h doesn't list %s:\n%s", s.name, help)
		}
		if err == nil || !strings.Contains(err.Error(), s.name) {
			t.Errorf("the error doesn't list %s: %v", s.name, err)
		}
	}
}

func TestOptionsAreRefused(t *testing.T) {
	if _, err := choose("ask-local,ask"); err == nil {
		t.Error("a scenario that isn't there was found")
	}
	for _, c := range []struct {
		name      string
		o         options
		arguments int
	}{
		{"one worker", options{length: 1, workers: 1}, 0},
		{"negative workers", options{length: 1, workers: -1}, 0},
		{"no time", options{}, 0},
		{"an argument", options{length: 1}, 1},
	} {
		if c.o.validate(c.arguments) == nil {
			t.Errorf("%s: not refused", c.name)
		}
	}
}

// Tables are printed one at a time, and without scenarios.
func TestTablesStandAlone(t *testing.T) {
	for _, c := range []struct {
		scenarios bool
		tables    []bool
		want      string
	}{
		{true, []bool{false, false}, ""},
		{false, []bool{false, true}, ""},
		{false, []bool{true, true}, "one at a time"},
		{true, []bool{true, false}, "loads of their own"},
	} {
		if err := alone(c.scenarios, c.tables...); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("scenarios %v, tables %v: %v, want %q", c.scenarios, c.tables, err, c.want)
		}
	}
}

// liar gives a wrong answer after some right ones.
type liar struct{ asked uint64 }

var liarAnswer = core.Handle((*liar).answer)

func (l *liar) answer(s *core.AskStack[question, answer]) core.Yield {
	l.asked++
	if l.asked == 1000 {
		s.Req.N++
	}
	return s.Return(answer{s.Req.N + 1})
}

// What isn't done right is no figure.
func TestWrongAnswerIsAnError(t *testing.T) {
	o := small
	o.length = 5 * time.Second // the error ends it at once
	_, err := withSystem(o, func(sys *house.System) load {
		callee := liarAnswer.At(core.Spawn(sys.Workers()[0], func() *liar { return &liar{} }))
		l, _ := askLoad(sys, 0, 1, 1, sampled, echoAnswer)
		from := askerDrive.At(core.Spawn(sys.Workers()[0], func() *asker { return &asker{to: callee, every: sampled, latencies: l.latencies[0]} }))
		l.start = func(r *round) { core.Notice(from, r) }
		return l
	})
	if err == nil || !strings.Contains(err.Error(), "the answer to 999 is 1001") {
		t.Errorf("got %v", err)
	}
}

func TestLostWorkIsAnError(t *testing.T) {
	_, err := withSystem(small, func(sys *house.System) load {
		l, callee := askLoad(sys, 0, 1, 1, sampled, echoAnswer)
		start := l.start
		l.start = func(r *round) {
			start(r)
			r.ops.Add(1) // counted and not done
		}
		l.check = expect(callee)
		return l
	})
	if err == nil || !strings.Contains(err.Error(), "were answered and") {
		t.Errorf("got %v", err)
	}
}

func TestErrorKeepsTheOthersRunning(t *testing.T) {
	bad := errors.New("bad")
	chosen := []scenario{
		{name: "a", run: func(options) (result, error) { return result{}, bad }},
		{name: "b", run: func(options) (result, error) { return result{ops: 1, elapsed: 1}, nil }},
	}
	var out bytes.Buffer
	err := run(&out, chosen, small, true)
	if !errors.Is(err, bad) || !strings.HasPrefix(out.String(), `{"scenario":"b"`) {
		t.Errorf("%v, %s", err, out.String())
	}
}

func TestKVRequests(t *testing.T) {
	var c client
	c.set(7)
	c.get(12345678)
	const set = "*3\r\n$3\r\nSET\r\n$12\r\nkey:00000007\r\n$64\r\nkey:00000007key:00000007key:00000007key:00000007key:00000007key:\r\n"
	const get = "*2\r\n$3\r\nGET\r\n$12\r\nkey:12345678\r\n"
	if string(c.out) != set+get {
		t.Errorf("requests %q", c.out)
	}
	const want = "+OK\r\n$64\r\nkey:12345678key:12345678key:12345678key:12345678key:12345678key:\r\n"
	if string(c.want) != want {
		t.Errorf("replies %q", c.want)
	}
}

func TestParseInfo(t *testing.T) {
	m, err := parseInfo("# Runtime\r\nmallocs:12\r\ncollections:3\r\nheap_bytes:45\r\nworkers:2\r\n")
	if err != nil || m != (memory{12, 45, 3, unknown}) {
		t.Errorf("%+v, %v", m, err)
	}
	for _, bad := range []string{"mallocs:1\r\ncollections:3\r\n", "mallocs:x\r\ncollections:1\r\nheap_bytes:1\r\n"} {
		if _, err := parseInfo(bad); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}
