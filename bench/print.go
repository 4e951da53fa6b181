package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
)

// printer shows results as they come.
type printer interface {
	print(name string, r result) error
	end(chosen []scenario) error
}

// lines prints an object a line.
type lines struct{ out io.Writer }

// line is a result as others read it. Times are in ns.
type line struct {
	Scenario string  `json:"scenario"`
	Ops      uint64  `json:"ops"`
	NsOp     float64 `json:"ns_op"`
	P50      int64   `json:"p50"`
	P99      int64   `json:"p99"`
	P999     int64   `json:"p999"`
	Max      int64   `json:"max"`
	Mallocs  uint64  `json:"mallocs"`
	Bytes    uint64  `json:"bytes"`
	GC       uint64  `json:"gc"`
}

func (l lines) print(name string, r result) error {
	return json.NewEncoder(l.out).Encode(line{name, r.ops, r.nsPerOp(), r.p[0], r.p[1], r.p[2], r.p[3], r.used.mallocs, r.used.bytes, r.used.gcs})
}

func (lines) end([]scenario) error { return nil }

// table prints for readers: a row a scenario, then what the rows mean.
type table struct {
	out      io.Writer
	baseline float64 // ns/op of channels in this run; 0: not measured
	notes    []string
	err      error // of the first write that failed
}

const columns = "%-13s %10s %7s %9s %9s %9s %9s %12s %10s %10s %5s %8s\n"

func newTable(out io.Writer, o options) *table {
	t := &table{out: out}
	t.printf("%s %s/%s, %d CPUs, %d workers, %v a scenario; a clock read takes %s\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), o.workers, o.length, span(clockRead()))
	t.printf(columns, "scenario", "ns/op", "factor", "p50", "p99", "p99.9", "max", "ops", "mallocs", "bytes", "GCs", "pause")
	return t
}

func (t *table) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(t.out, format, args...); t.err == nil {
		t.err = err
	}
}

func (t *table) print(name string, r result) error {
	if name == "channels" {
		t.baseline = r.nsPerOp()
	}
	factor := "-"
	if t.baseline > 0 {
		factor = fmt.Sprintf("%.2f", r.nsPerOp()/t.baseline)
	}
	mallocs, bytes := fmt.Sprint(r.used.mallocs), size(r.used.bytes)
	if r.shares {
		mallocs = fmt.Sprintf("%.2f/op", float64(r.used.mallocs)/float64(r.ops))
		bytes = fmt.Sprintf("%.0f/op", float64(r.used.bytes)/float64(r.ops))
	}
	t.printf(columns, name, fmt.Sprintf("%.1f", r.nsPerOp()), factor, span(r.p[0]), span(r.p[1]), span(r.p[2]), span(r.p[3]),
		fmt.Sprint(r.ops), mallocs, bytes, fmt.Sprint(r.used.gcs), span(r.used.pauses))
	if r.note != "" {
		t.notes = append(t.notes, name+": "+r.note)
	}
	return t.err
}

// end prints the legend.
func (t *table) end(chosen []scenario) error {
	t.printf("\nOne operation is, and times are")
	if t.baseline > 0 {
		t.printf(" (factor: ns/op divided by that of channels)")
	}
	t.printf("\n")
	for _, s := range chosen {
		t.printf("%-13s %s;\n%-13s times: %s\n", s.name, s.op, "", s.times)
	}
	if len(t.notes) > 0 {
		t.printf("\n%s\n", strings.Join(t.notes, "\n"))
	}
	return t.err
}

// span returns a time in ns as people write it.
func span(ns int64) string {
	switch d := float64(ns); {
	case ns == unknown:
		return "-"
	case ns < 1_000:
		return fmt.Sprintf("%d ns", ns)
	case ns < 1_000_000:
		return fmt.Sprintf("%.1f µs", d/1e3)
	case ns < 1_000_000_000:
		return fmt.Sprintf("%.1f ms", d/1e6)
	default:
		return fmt.Sprintf("%.2f s", d/1e9)
	}
}

// size returns a number of bytes as people write it.
func size(n uint64) string {
	switch f := float64(n); {
	case n < 10<<10:
		return fmt.Sprint(n)
	case n < 10<<20:
		return fmt.Sprintf("%.0f KiB", f/(1<<10))
	default:
		return fmt.Sprintf("%.0f MiB", f/(1<<20))
	}
}

// clockRead measures what a read of the clock takes, ns.
func clockRead() int64 {
	const n = 100_000
	start := time.Now()
	var last int64
	for range n {
		last = now()
	}
	if last < 0 {
		panic("bench: the clock went back")
	}
	return int64(time.Since(start)) / n
}
