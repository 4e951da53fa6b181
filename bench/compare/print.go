package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
)

// line is a row as other programs read it. Times are in ns; what wasn't measured is null.
type line struct {
	Workload string   `json:"workload"`
	Lib      string   `json:"lib"`
	NsOp     float64  `json:"ns_op"`
	Factor   *float64 `json:"factor"`
	Mallocs  *float64 `json:"mallocs_op"`
	P50      *int64   `json:"p50"`
	P99      *int64   `json:"p99"`
	P999     *int64   `json:"p999"`
	Bytes    *int64   `json:"bytes"`
}

// printLines prints an object a line.
func printLines(out io.Writer, rows []row) error {
	e := json.NewEncoder(out)
	for _, r := range rows {
		l := line{Workload: r.workload, Lib: r.library, NsOp: round(r.ns.median, 2)}
		if !math.IsNaN(r.factor.median) {
			f := round(r.factor.median, 4)
			l.Factor = &f
		}
		if r.malloced {
			m := round(r.mallocs, 4)
			l.Mallocs = &m
		}
		if r.p[0] > 0 {
			l.P50, l.P99, l.P999 = &r.p[0], &r.p[1], &r.p[2]
		}
		if r.idleBytes {
			l.Bytes = &r.bytes
		}
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

func round(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}

const columns = "%-13s %-11s %10s %6s %8s %6s %8s %9s %9s %9s %7s %9s\n"

// printTable prints for readers: the rows, then what they mean.
func printTable(out io.Writer, o options, rows []row, quiet string) error {
	var t strings.Builder
	fmt.Fprintf(&t, "%s %s/%s, %d CPUs, %d rounds; %s\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), o.reps, quiet)
	tabulate(&t, rows)
	legend(&t, o, rows)
	_, err := io.WriteString(out, t.String())
	return err
}

func tabulate(t *strings.Builder, rows []row) {
	fmt.Fprintf(t, columns, "workload", "library", "ns/op", "±", "factor", "±", "mallocs", "p50", "p99", "p99.9", "bytes", "ops")
	last := ""
	for _, r := range rows {
		name := r.workload
		if name == last {
			name = ""
		} else if last != "" {
			t.WriteByte('\n')
		}
		last = r.workload
		mallocs, bytes := "-", "-"
		if r.malloced {
			mallocs = fmt.Sprintf("%.2f", r.mallocs)
		}
		if r.idleBytes {
			bytes = fmt.Sprint(r.bytes)
		}
		fmt.Fprintf(t, columns, name, r.library, fmt.Sprintf("%.1f", r.ns.median), percent(r.ns), number(r.factor.median), percent(r.factor),
			mallocs, span(r.p[0]), span(r.p[1]), span(r.p[2]), bytes, fmt.Sprint(r.ops))
	}
}

// legend says what an operation is, and what channels do.
func legend(t *strings.Builder, o options, rows []row) {
	t.WriteString(`
factor   ns/op divided by that of channels in the same round; the median of the rounds
±        half the range of the rounds, of the median
mallocs  of all goroutines, by operation; erlang: not counted
p50 …    of round trips, one in 64 or one in 16
bytes    heap and goroutine stacks of an idle actor
ops      of one run

An operation is, channels do, and who runs in two ways was faster with:
`)
	for _, w := range o.workloads {
		fmt.Fprintf(t, "%-13s %s\n", w.name, w.op)
		for _, r := range rows {
			switch {
			case r.workload != w.name || r.variant == "":
			case r.library == baseline:
				fmt.Fprintf(t, "%-13s channels: %s; %s\n", "", w.channels, r.variant)
			default:
				fmt.Fprintf(t, "%-13s %s: %s\n", "", r.library, r.variant)
			}
		}
	}
	for _, r := range rows {
		if r.retries > 0 {
			fmt.Fprintf(t, "\n%s by %s: %d times a mailbox was full, and the message was told again\n", r.workload, r.library, r.retries)
		}
	}
}

func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

func percent(s spread) string {
	if math.IsNaN(s.median) || s.median == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*s.half/s.median)
}

// span returns a time in ns as people write it.
func span(ns int64) string {
	switch d := float64(ns); {
	case ns == 0:
		return "-"
	case ns < 1_000:
		return fmt.Sprintf("%d ns", ns)
	case ns < 1_000_000:
		return fmt.Sprintf("%.1f µs", d/1e3)
	default:
		return fmt.Sprintf("%.1f ms", d/1e6)
	}
}
