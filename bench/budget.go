package main

import (
	"fmt"
	"io"
	"runtime"
	"time"
)

// budgets are the settings of house.Config.Budget that the table shows.
var budgets = []int{8, 16, 32, 64, 128, 256}

const budgetColumns = "%8s %10s %9s %9s %9s\n"

// budgetLoad is small messages of actors that always have some, on one worker.
var budgetLoad = feeding{feeders: 8, cold: 1000}

// tabulate prints what house.Config.Budget costs and gains.
func tabulate(out io.Writer, o options) error {
	if _, err := fmt.Fprintf(out, "%s %s/%s, %d CPUs, one worker of 2, %v a row\n\n"+budgetColumns, runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), o.length, "budget", "ns/message", "p50", "p99", "p99.9"); err != nil {
		return err
	}
	for _, n := range budgets {
		l := budgetLoad
		l.budget = n
		res, _, err := l.run(o)
		if err != nil {
			return fmt.Errorf("budget %d: %w", n, err)
		}
		if _, err = fmt.Fprintf(out, budgetColumns, fmt.Sprint(n), fmt.Sprintf("%.1f", res.nsPerOp()), span(res.p[0]), span(res.p[1]), span(res.p[2])); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "\n%d actors on one worker always have %d messages each, from themselves, of which a handler only counts; ns/message is theirs.\n"+
		"The times are how long a message to one of %d other actors waits, one every %v: from its sending to its handling.\n",
		budgetLoad.feeders, fedQueue, budgetLoad.cold, time.Duration(coldEvery))
	return err
}
