package main

import (
	"math"
	"slices"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// row is what the rounds of a workload and a library come to.
type row struct {
	workload  string
	library   string
	variant   string
	ops       int
	ns        spread
	factor    spread // to channels; NaN: they weren't run
	factor50  spread // that of p50; NaN: not timed
	mallocs   float64
	p         [3]int64 // p50, p99, p99.9: each the median
	bytes     int64
	retries   uint64
	malloced  bool // mallocs are known
	idleBytes bool // bytes were measured
}

// spread is a median and half the range around it.
type spread struct{ median, half float64 }

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{math.NaN(), math.NaN()}
	}
	return spread{median(values), (slices.Max(values) - slices.Min(values)) / 2}
}

// median returns the middle one, or the mean of the middle two.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// summarize makes the rows, in the order of the options.
func summarize(o options, all results) []row {
	var rows []row
	for _, w := range o.workloads {
		base, _ := fastest(all, w.name, baseline, baselineVariants())
		for _, l := range o.libraries {
			runs, variant := fastest(all, w.name, l.name, l.variants)
			if runs != nil {
				rows = append(rows, newRow(w.name, l.name, variant, runs, base))
			}
		}
	}
	return rows
}

func baselineVariants() []variant {
	i := slices.IndexFunc(libraries, func(l library) bool { return l.name == baseline })
	return libraries[i].variants
}

// fastest returns the runs of the variant whose median is the least.
func fastest(all results, workload, library string, variants []variant) (runs []measure.Result, name string) {
	least := math.Inf(1)
	for i, v := range variants {
		r := all[cell{workload, library, i}]
		if len(r) == 0 {
			continue
		}
		if m := median(nsPerOp(r)); m < least {
			least, runs, name = m, r, v.name
		}
	}
	return runs, name
}

func nsPerOp(runs []measure.Result) []float64 {
	return each(runs, func(r measure.Result) float64 { return float64(r.Ns) / float64(r.Ops) })
}

func newRow(workload, library, variant string, runs, base []measure.Result) row {
	r := row{workload: workload, library: library, variant: variant, ops: runs[0].Ops, malloced: true}
	r.ns = spreadOf(nsPerOp(runs))
	r.factor = ratio(nsPerOp(runs), nsPerOp(base))
	r.factor50 = ratio(percentile(runs, 0), percentile(base, 0))
	for i := range r.p {
		r.p[i] = int64(median(percentile(runs, i)))
	}
	r.bytes = int64(median(each(runs, func(m measure.Result) float64 { return float64(m.Bytes) })))
	r.idleBytes = r.bytes != 0
	r.mallocs = median(each(runs, func(m measure.Result) float64 {
		if m.Mallocs == nil {
			r.malloced = false
			return 0
		}
		return float64(*m.Mallocs) / float64(m.Ops)
	}))
	for _, m := range runs {
		r.retries += m.Retries
	}
	return r
}

// ratio divides round by round. A round that one of them hasn't, or in which it is
// 0, has no ratio.
func ratio(values, base []float64) spread {
	var ratios []float64
	for i, v := range values {
		if i < len(base) && v > 0 && base[i] > 0 {
			ratios = append(ratios, v/base[i])
		}
	}
	return spreadOf(ratios)
}

func percentile(runs []measure.Result, i int) []float64 {
	return each(runs, func(r measure.Result) float64 { return float64(r.P[i]) })
}

func each(runs []measure.Result, f func(measure.Result) float64) []float64 {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = f(r)
	}
	return values
}
