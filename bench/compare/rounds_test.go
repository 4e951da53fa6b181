package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stackhouse-go/stackhouse/bench/compare/erlang"
	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// TestMain lets the tests' program be a child that runs a workload.
func TestMain(m *testing.M) {
	if os.Getenv("STACKHOUSE_COMPARE_CHILD") != "" {
		main()
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

// all is everything, for a few rounds.
func all(t *testing.T, reps int, someWorkloads, someLibraries string) options {
	t.Helper()
	o := options{reps: reps, seconds: 0.5}
	if err := o.choose(someWorkloads, someLibraries); err != nil {
		t.Fatal(err)
	}
	return o
}

// The libraries take turns within a round, and round zero finds sizes for all that have
// no size of their own.
func TestRoundsInterleave(t *testing.T) {
	var got []string
	run := func(l library, v variant, w string, n int) (measure.Result, error) {
		got = append(got, strings.TrimSpace(fmt.Sprint(w, " ", l.name, " ", n, " ", v.name)))
		return measure.Result{Ops: n, Ns: int64(n) * 1000}, nil // a µs each
	}
	res, failed := runAll(io.Discard, all(t, 2, "spawn,ring503", "stackhouse,channels,mutex"), run)
	round := []string{
		"spawn stackhouse 100000", "spawn channels 100000 GOMAXPROCS=1", "spawn channels 100000 default GOMAXPROCS",
		"ring503 stackhouse 500000", "ring503 channels 500000 GOMAXPROCS=1", "ring503 channels 500000 default GOMAXPROCS",
	}
	want := slices.Concat([]string{"ring503 stackhouse 5000", "ring503 channels 5000 GOMAXPROCS=1", "ring503 channels 5000 default GOMAXPROCS"}, round, round)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if failed != nil || len(res) != 6 || len(res[cell{"spawn", "channels", 1}]) != 2 {
		t.Errorf("%v, %v", failed, res)
	}
}

// What failed is no figure, is not run again, and doesn't keep the others from running.
func TestFailureEndsItsCellOnly(t *testing.T) {
	bad := errors.New("bad")
	runs := map[string]int{}
	run := func(l library, v variant, w string, n int) (measure.Result, error) {
		runs[l.name]++
		if l.name == ours && runs[ours] == 2 {
			return measure.Result{}, bad
		}
		return measure.Result{Ops: n, Ns: 1}, nil
	}
	o := all(t, 3, "spawn", "stackhouse,protoactor")
	res, failed := runAll(io.Discard, o, run)
	if len(failed) != 1 || !errors.Is(failed[0], bad) || runs[ours] != 2 || runs["protoactor"] != 3 {
		t.Errorf("%v, %v", failed, runs)
	}
	if rows := summarize(o, res); len(rows) != 1 || rows[0].library != "protoactor" {
		t.Errorf("%+v", rows)
	}
}

func TestFitting(t *testing.T) {
	for _, c := range []struct {
		ops  int
		ns   int64
		want int
	}{
		{1000, 1000 * 100, 5_000_000}, // 100 ns each, in half a second
		{1000, 1000 * 10_000, 50_000},
		{1000, 1000 * 10, nMax},
		{1000, 1000 * 1_000_000_000, 1000}, // never less than round zero had
		{1000, 0, nMax},
	} {
		if n := fitting(measure.Result{Ops: c.ops, Ns: c.ns}, 0.5, 1000); n != c.want {
			t.Errorf("%d in %d ns: %d, want %d", c.ops, c.ns, n, c.want)
		}
	}
}

// The real thing, small: processes, figures, lines.
func TestCompare(t *testing.T) {
	t.Setenv("STACKHOUSE_COMPARE_CHILD", "yes")
	o := all(t, 1, "tell-1-1,ask-guest", "stackhouse,channels,mutex")
	o.n, o.json = 1000, true
	var out, progress bytes.Buffer
	if err := compare(&out, &progress, o); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 6 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}

// A child that fails is an error, not a figure.
func TestChildFails(t *testing.T) {
	t.Setenv("STACKHOUSE_COMPARE_CHILD", "yes")
	if _, err := inProcess(library{name: "nobody"}, variant{}, "tell-1-1", 1); err == nil {
		t.Error("a library that isn't there ran")
	}
}

// What can be named is listed by -h, and by the errors for names that aren't there.
func TestNamesAreListed(t *testing.T) {
	c := exec.Command(os.Args[0], "-h")
	c.Env = append(os.Environ(), "STACKHOUSE_COMPARE_CHILD=1")
	help, err := c.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	var o options
	for names, err := range map[string]error{
		listed(workloads, workload.title): o.choose("tell", ""),
		listed(libraries, library.title):  o.choose("", "akka"),
	} {
		if !strings.Contains(string(help), names) {
			t.Errorf("-h doesn't list %s:\n%s", names, help)
		}
		if err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("the error doesn't list %s: %v", names, err)
		}
	}
}

func TestOptionsAreRefused(t *testing.T) {
	o := options{}
	if o.choose("tell-1-1,tell", "") == nil || o.choose("", "stackhouse,stackhouse,akka") == nil {
		t.Error("what isn't there was found")
	}
	good := options{reps: 1, seconds: 1, n: 1, libraries: libraries[:1]}
	if err := good.validate(0, "tell-1-1"); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(o *options) (arguments int){
		"an argument":     func(o *options) int { return 1 },
		"no rounds":       func(o *options) int { o.reps = 0; return 0 },
		"no time":         func(o *options) int { o.seconds = 0; return 0 },
		"a negative n":    func(o *options) int { o.n = -1; return 0 },
		"a run without n": func(o *options) int { o.n = 0; return 0 },
		"a run of two":    func(o *options) int { o.libraries = libraries[:2]; return 0 },
	} {
		o := good
		if arguments := spoil(&o); o.validate(arguments, "tell-1-1") == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

// Without Erlang, and without a way to install it, the others are compared.
func TestErlangIsLeftOut(t *testing.T) {
	t.Setenv("PATH", "")
	o := all(t, 1, "", "")
	before := len(libraries)
	var progress bytes.Buffer
	o.prepare(&progress)()
	if !strings.Contains(progress.String(), erlang.ErrMissing.Error()) {
		t.Errorf("got %q", progress.String())
	}
	if len(o.libraries) != before-1 || len(libraries) != before {
		t.Errorf("%d of %d libraries are left", len(o.libraries), len(libraries))
	}
}
