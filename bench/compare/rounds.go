package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// cell is what is run once a round.
type cell struct {
	workload, library string
	variant           int
}

// results has, for each cell, a run a round; a cell that failed has none.
type results map[cell][]measure.Result

// runner runs one cell.
type runner func(l library, v variant, workload string, n int) (measure.Result, error)

// runAll runs everything, round by round. What fails once is not run again.
func runAll(progress io.Writer, o options, run runner) (results, []error) {
	all, sizes, broken := results{}, map[cell]int{}, map[cell]bool{}
	var failed []error
	for round := range o.reps + 1 { // round 0 finds the sizes
		for _, w := range o.workloads {
			for _, l := range o.libraries {
				for i, v := range l.variants {
					c := cell{w.name, l.name, i}
					n := w.size(o, round, sizes[c])
					if n == 0 || broken[c] || !l.has(w.name) {
						continue
					}
					fmt.Fprintf(progress, "\rround %d of %d: %-12s %-12s %-20s", round, o.reps, w.name, l.name, v.name)
					res, err := run(l, v, w.name, n)
					switch {
					case err != nil:
						broken[c] = true
						delete(all, c)
						failed = append(failed, fmt.Errorf("%s by %s: %w", w.name, l.name, err))
					case round == 0:
						sizes[c] = fitting(res, o.seconds, w.n)
					default:
						all[c] = append(all[c], res)
					}
				}
			}
		}
	}
	fmt.Fprintf(progress, "\r%-60s\r", "")
	return all, failed
}

// size returns how many operations a cell has in a round; 0: it isn't run in it.
func (w workload) size(o options, round, found int) int {
	known := o.n
	if known == 0 && w.fixed {
		known = w.n
	}
	switch {
	case round == 0 && known > 0:
		return 0
	case round == 0:
		return w.n
	case known > 0:
		return known
	}
	return found
}

// fitting returns the n with which a run takes so many seconds, by what one run took.
func fitting(r measure.Result, seconds float64, least int) int {
	n := seconds * 1e9 * float64(r.Ops) / float64(max(1, r.Ns))
	return int(min(max(n, float64(least)), nMax))
}

// runMax ends a run that hangs.
const runMax = 5 * time.Minute

// inProcess runs a cell in a process of its own.
func inProcess(l library, v variant, workload string, n int) (res measure.Result, err error) {
	program, args := l.program, []string{"-run", workload, "-n", strconv.Itoa(n)}
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return res, err
		}
		args = append(args, "-lib", l.name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), runMax)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Env = append(os.Environ(), v.env...)
	c.Stderr = os.Stderr
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil {
		return res, err
	}
	err = json.Unmarshal(out, &res)
	return res, err
}
