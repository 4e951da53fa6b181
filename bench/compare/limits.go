package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// limit is the most that a factor of Stackhouse to channels may be.
type limit struct {
	workload string
	p50      bool // the factor of p50; otherwise that of the mean
	most     float64
}

// limits, beside which Stackhouse must be ahead of every other actor library in every
// workload, of the peers in PEERS.md too: by what they did then, if they didn't here.
var limits = []limit{
	{"tell-1-1", false, 2.5},
	{"tell-8-1", false, 4.3},
	{"ask-in-actor", false, 0.25},
	{"tell-actor", false, 0.35},
	{"tell-cross", false, 1.5},
	{"ask-guest", true, 1.0},
	{"ask-guest", false, 1.5},
	{"ring503", false, 0.5},
	{"spawn", false, 0.1},
}

var errMissed = errors.New("limits were missed")

// check prints how the rows stand to the limits.
func check(out io.Writer, o options, rows []row) error {
	c := &checker{rows: map[[2]string]row{}}
	for _, r := range rows {
		c.rows[[2]string{r.workload, r.library}] = r
	}
	for _, w := range o.workloads {
		for _, l := range limits {
			if l.workload == w.name {
				c.limit(l)
			}
		}
		for _, l := range o.libraries {
			if l.actors && l.name != ours && l.has(w.name) {
				c.ahead(w.name, l.name, c.rows[[2]string{w.name, l.name}].factor.median, "")
			}
		}
		for _, p := range peers {
			if f, ok := p.factors[w.name]; ok && !c.measured(w.name, p.library) {
				c.ahead(w.name, p.name, f, " in "+peersDate)
			}
		}
	}
	if _, err := fmt.Fprintf(out, "\n%d limits, %d missed, %d not measured\n%s", c.limits, c.missed, c.unknown, &c.text); err != nil {
		return err
	}
	if c.missed > 0 {
		return fmt.Errorf("%w: %d of %d", errMissed, c.missed, c.limits)
	}
	return nil
}

// checker collects what check prints.
type checker struct {
	rows                    map[[2]string]row
	limits, missed, unknown int
	text                    strings.Builder
}

func (c *checker) limit(l limit) {
	r := c.rows[[2]string{l.workload, ours}]
	factor, what := r.factor, "mean"
	if l.p50 {
		factor, what = r.factor50, "p50"
	}
	c.say(factor.median <= l.most, factor.median, l.most, fmt.Sprintf("%-12s %-4s %.2f of channels, at most %.2f", l.workload, what, factor.median, l.most))
}

func (c *checker) ahead(workload, rival string, theirs float64, when string) {
	own := c.rows[[2]string{workload, ours}].factor.median
	c.say(own < theirs, own, theirs, fmt.Sprintf("%-12s mean %.2f of channels, %s%s %.2f", workload, own, rival, when, theirs))
}

// measured reports whether a library has a factor of this run.
func (c *checker) measured(workload, library string) bool {
	r, ok := c.rows[[2]string{workload, library}]
	return ok && !unknown(r.factor.median)
}

// unknown reports whether v wasn't measured: 0 or not a number.
func unknown(v float64) bool { return v == 0 || math.IsNaN(v) }

// say counts and prints one comparison.
func (c *checker) say(ok bool, a, b float64, text string) {
	c.limits++
	word := "ok    "
	switch {
	case unknown(a) || unknown(b):
		c.unknown++
		word = "-     "
	case !ok:
		c.missed++
		word = "MISSED"
	}
	fmt.Fprintf(&c.text, "%s %s\n", word, text)
}
