package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"
)

func TestParseBenchmark(t *testing.T) {
	const text = `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
"SET","181159.42","4.292","0.176","1.303","25.263","41.951","52.511"
`
	rate, p99, err := parseBenchmark(text, "SET")
	if rate != 181159.42 || p99 != 41.951 || err != nil {
		t.Error(rate, p99, err)
	}
	for _, bad := range []string{"", "Could not connect", text[:120]} {
		if _, _, err := parseBenchmark(bad, "SET"); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if _, _, err := parseBenchmark(text, "GET"); err == nil {
		t.Error("the figures of another test are accepted")
	}
}

func TestParseStatusAndInfo(t *testing.T) {
	status := parseStatus("Name:\tkv\nVmRSS:\t   19516 kB\nThreads:\t5\nvoluntary_ctxt_switches:\t124\nnonvoluntary_ctxt_switches:\t1573\n")
	if status["VmRSS"] != 19516 || status["voluntary_ctxt_switches"] != 124 {
		t.Error(status)
	}
	info := parseInfo("# Runtime\r\nworkers:2\r\nwoken:17\r\nqueue_wait_p50_us:0.5\r\ntcp_address:127.0.0.1:1\r\n")
	if _, ok := info["parks"]; ok || info["woken"] != 17 || info["queue_wait_p50_us"] != 0.5 {
		t.Error(info)
	}
}

func TestLastCollection(t *testing.T) {
	log := `kv listens
gc 6 @0.949s 2%: 0.5+0.61+0.5 ms clock, 0.042+0.12/0.55/0.68+0.024 ms cpu, 4->4->1 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P
gc 7 @12.3s 0%: 0.021+20.5+0.012 ms clock, 1.5+2.25/4.5/100+0.25 ms cpu, 900->901->800 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)
kv drains
`
	want := collection{Count: 7, Wall: 20.533, Stopped: 0.033, CPU: 8.5, HeapMB: 800}
	got := lastCollection(log)
	if got == nil || got.Count != want.Count || math.Abs(got.Wall-want.Wall) > 1e-9 || math.Abs(got.Stopped-want.Stopped) > 1e-9 ||
		got.CPU != want.CPU || got.HeapMB != want.HeapMB {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := lastCollection("kv listens\n"); got != nil {
		t.Errorf("%+v of a log without one", got)
	}
}

// even is samples in which kv is redis-server's twin, but for its CPU time, which is so
// many times as long in each round.
func even(cpu ...float64) samples {
	all := samples{}
	for _, k := range []kind{kvOne, redis, kvTwo} {
		all[k] = map[test][]sample{}
		for _, t := range tests {
			for _, times := range cpu {
				s := sample{cpu: 1000, rate: 100_000, p99: 1, woken: math.NaN()}
				if k == kvOne {
					s.cpu *= times
				}
				all[k][t] = append(all[k][t], s)
			}
		}
	}
	return all
}

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		cpu    []float64
		missed map[int]bool // CPU time of one worker, by length of pipeline
	}{
		{[]float64{0.9}, map[int]bool{}},
		{[]float64{0.97}, map[int]bool{16: true}},
		{[]float64{1.01}, map[int]bool{1: true, 16: true}},
		{[]float64{0.9, 0.9, 5}, map[int]bool{}},
		{[]float64{math.NaN()}, map[int]bool{1: true, 16: true}},
	} {
		rows := judge(even(test.cpu...))
		for _, r := range rows {
			want := r.kind == kvOne && r.name == "CPU ns/request" && test.missed[r.pipeline]
			if r.missed != want {
				t.Errorf("CPU time %v: %s of %s %d by %s: missed %v, ratio %v", test.cpu, r.name, r.command, r.pipeline, r.kind.name, r.missed, r.ratio)
			}
		}
		var out bytes.Buffer
		err := printRows(&out, options{json: true}, "", rows)
		if errors.Is(err, errMissed) != (len(test.missed) > 0) {
			t.Errorf("CPU time %v: %v", test.cpu, err)
		}
		if lines := bytes.Count(out.Bytes(), []byte("\n")); lines != len(rows) {
			t.Errorf("%d lines for %d rows", lines, len(rows))
		}
	}
}

func TestMedian(t *testing.T) {
	for want, values := range map[float64][]float64{2: {3, 1, 2}, 2.5: {4, 1, 2, 3}, 7: {7}} {
		if got := median(values); got != want {
			t.Error(fmt.Sprint(values), got)
		}
	}
}
