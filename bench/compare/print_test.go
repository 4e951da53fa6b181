package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// golden compares with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s", file, got)
	}
}

// runs makes results of so many ns an operation each.
func runs(r measure.Result, ns ...int64) []measure.Result {
	var all []measure.Result
	for _, v := range ns {
		r.Ops, r.Ns = 1000, 1000*v
		all = append(all, r)
	}
	return all
}

// sample is some results, of three rounds.
func sample(t *testing.T) (options, []row) {
	few, many := uint64(0), uint64(12_130)
	trip := measure.Result{Mallocs: &few, P: [3]int64{500, 1200, 2_500_000}}
	idle := func(mallocs *uint64, bytes int64) measure.Result {
		return measure.Result{Mallocs: mallocs, Bytes: bytes}
	}
	told := measure.Result{Mallocs: &few, Retries: 5}
	o := all(t, 3, "tell-1-1,ask-guest,spawn", "")
	return o, summarize(o, results{
		{"tell-1-1", "stackhouse", 0}:  runs(told, 150, 170, 160),
		{"tell-1-1", "channels", 0}:    runs(measure.Result{Mallocs: &few}, 50, 50, 50),
		{"tell-1-1", "channels", 1}:    runs(measure.Result{Mallocs: &few}, 60, 40, 70),
		{"tell-1-1", "mutex", 0}:       runs(measure.Result{Mallocs: &few}, 20, 20, 20),
		{"tell-1-1", "protoactor", 0}:  runs(measure.Result{Mallocs: &many}, 140, 150, 145),
		{"ask-guest", "stackhouse", 0}: runs(trip, 400, 410, 390),
		{"ask-guest", "channels", 1}:   runs(trip, 500, 500, 500),
		{"ask-guest", "erlang", 0}:     runs(measure.Result{P: [3]int64{900, 1000, 1100}}, 1000, 1000, 1000),
		{"ask-guest", "erlang", 1}:     runs(measure.Result{P: [3]int64{900, 1000, 1100}}, 1100, 1000, 1100),
		{"spawn", "stackhouse", 0}:     runs(idle(&many, 296), 300, 310, 290),
		{"spawn", "protoactor", 0}:     runs(idle(&many, 661), 3000, 3100, 2900),
	})
}

func TestTable(t *testing.T) {
	o, rows := sample(t)
	var s strings.Builder
	tabulate(&s, rows)
	legend(&s, o, rows)
	golden(t, "table.txt", []byte(s.String()))
}

// Others read the lines: their keys are for ever.
func TestLines(t *testing.T) {
	_, rows := sample(t)
	var out bytes.Buffer
	if err := printLines(&out, rows); err != nil {
		t.Fatal(err)
	}
	golden(t, "lines.json", out.Bytes())
	for text := range strings.Lines(out.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"workload", "lib", "ns_op", "factor", "mallocs_op", "p50", "p99", "p999", "bytes"} {
			if _, ok := fields[key]; !ok {
				t.Errorf("no %s in %s", key, text)
			}
		}
	}
}

func TestChart(t *testing.T) {
	o, rows := sample(t)
	golden(t, "chart.svg", chart(o, rows))
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values       []float64
		median, half float64
	}{
		{[]float64{3}, 3, 0},
		{[]float64{3, 1}, 2, 1},
		{[]float64{9, 1, 2}, 2, 4},
		{[]float64{4, 1, 3, 2}, 2.5, 1.5},
		{[]float64{5, 5, 1, 5, 5}, 5, 2},
	} {
		before := slices.Clone(c.values)
		if got := spreadOf(c.values); got != (spread{c.median, c.half}) {
			t.Errorf("%v: %v, want %v ± %v", c.values, got, c.median, c.half)
		}
		if !slices.Equal(before, c.values) {
			t.Errorf("%v were reordered to %v", before, c.values)
		}
	}
	if s := spreadOf(nil); !math.IsNaN(s.median) {
		t.Errorf("the median of nothing is %v", s)
	}
}

// A factor is taken within a round, and the median after that: when the machine slows
// down for a round, both sides do.
func TestFactorsAreTakenByRound(t *testing.T) {
	got := ratio([]float64{20, 200, 30}, []float64{10, 100, 10})
	if got != (spread{2, 0.5}) {
		t.Errorf("got %v", got)
	}
	if s := ratio([]float64{1, 0}, []float64{0, 1}); !math.IsNaN(s.median) {
		t.Errorf("the ratio of what wasn't measured is %v", s)
	}
}

// Channels are what the faster of their two ways is, by medians.
func TestBaselineIsTheFaster(t *testing.T) {
	r, name := fastest(results{
		{"w", "channels", 0}: runs(measure.Result{}, 50, 50, 50),
		{"w", "channels", 1}: runs(measure.Result{}, 10, 60, 60),
	}, "w", "channels", baselineVariants())
	if name != "GOMAXPROCS=1" || r[0].Ns != 50_000 {
		t.Errorf("%s, %v", name, r)
	}
}
