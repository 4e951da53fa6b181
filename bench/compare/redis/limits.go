package main

import (
	"math"
	"slices"
)

// figure is one thing that is compared. What it is compared with is the other kind's
// in the same round.
type figure struct {
	name   string
	of     func(s sample) float64
	kind   kind
	with   kind
	limits map[int]float64 // of the ratio, by length of pipeline; none: it is shown only
	least  bool            // the limit is the least, not the most
}

var figures = []figure{
	{name: "CPU ns/request", of: cpu, kind: kvOne, with: redis, limits: map[int]float64{1: 1.0, 16: 0.95}},
	{name: "requests/s", of: rate, kind: kvOne, with: redis, limits: map[int]float64{1: 0.97, 16: 0.97}, least: true},
	{name: "p99 ms", of: p99, kind: kvOne, with: redis, limits: map[int]float64{1: 1.1, 16: 1.1}},
	{name: "CPU ns/request", of: cpu, kind: kvTwo, with: kvOne},
	{name: "woken/request", of: woken, kind: kvTwo, with: kvOne},
	{name: "switches/request", of: switches, kind: kvTwo, with: kvOne},
	{name: "requests/s", of: rate, kind: kvTwo, with: kvOne},
	{name: "p99 ms", of: p99, kind: kvTwo, with: kvOne},
}

func cpu(s sample) float64      { return s.cpu }
func rate(s sample) float64     { return s.rate }
func p99(s sample) float64      { return s.p99 }
func woken(s sample) float64    { return s.woken }
func switches(s sample) float64 { return s.switches }

// row is a figure of a test.
type row struct {
	figure
	test
	value, other float64 // medians
	ratio        float64 // median of the rounds
	spread       float64 // half the range of the ratio
	limit        float64 // NaN: none
	missed       bool
}

// judge makes the rows.
func judge(all samples) (rows []row) {
	for _, f := range figures {
		for _, t := range tests {
			r := row{figure: f, test: t, limit: math.NaN()}
			var values, others, ratios []float64
			for i, s := range all[f.kind][t] {
				value, other := f.of(s), f.of(all[f.with][t][i])
				values, others, ratios = append(values, value), append(others, other), append(ratios, value/other)
			}
			r.value, r.other, r.ratio = median(values), median(others), median(ratios)
			r.spread = (slices.Max(ratios) - slices.Min(ratios)) / 2
			if limit, ok := f.limits[t.pipeline]; ok {
				r.limit = limit
				r.missed = !(r.ratio <= limit) // NaN misses
				if f.least {
					r.missed = !(r.ratio >= limit)
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
