package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stackhouse-go/stackhouse/house"
)

// options are what a run can be told.
type options struct {
	length  time.Duration // of a measured round
	workers int           // of a system
	spin    time.Duration // of a system, as in house.Config
	lock    bool          // its workers to their threads

	// Sizes. Tests have smaller ones.
	leaves int // of skynet: a power of 10
	actors int // that spawn makes
	timers int // that run at the same time
}

func main() {
	o := options{leaves: 1_000_000, actors: 1_000_000, timers: 10_000}
	names := flag.String("scenario", "", "which scenarios, separated by commas; none: all\n"+known())
	seconds := flag.Float64("seconds", 0, "how long each scenario is measured; 0: 3, and 2 a row of the dial")
	flag.IntVar(&o.workers, "workers", 0, "workers of a system, at least 2; 0: the default")
	asJSON := flag.Bool("json", false, "print an object a line, times in ns")
	dial := flag.Bool("dial", false, "print what spinning and locked threads cost and gain, instead of scenarios; less than a minute")
	share := flag.Bool("share", false, "print how workers share what is too much for one, instead of scenarios; less than a minute")
	budget := flag.Bool("budget", false, "print what house.Config.Budget costs and gains, instead of scenarios; 20 seconds")
	flag.Parse()
	if *seconds == 0 {
		*seconds = 3
		if *dial || *budget {
			*seconds = 2
		}
	}
	o.length = time.Duration(*seconds * float64(time.Second))
	chosen, err := choose(*names)
	if err == nil {
		err = o.validate(flag.NArg())
	}
	if err == nil {
		err = alone(*names != "" || *asJSON, *dial, *share, *budget)
	}
	if err == nil && o.workers == 0 {
		o.workers, err = usualWorkers()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	switch {
	case *dial:
		err = dials(os.Stdout, o)
	case *share:
		err = shares(os.Stdout, o)
	case *budget:
		err = tabulate(os.Stdout, o)
	default:
		err = run(os.Stdout, chosen, o, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// alone refuses tables beside each other, and scenarios or JSON with one.
func alone(scenarios bool, tables ...bool) error {
	n := 0
	for _, wanted := range tables {
		if wanted {
			n++
		}
	}
	switch {
	case n > 1:
		return errors.New("-dial, -share and -budget print a table each, one at a time")
	case n == 1 && scenarios:
		return errors.New("-dial, -share and -budget have loads of their own, and no JSON")
	}
	return nil
}

func (o options) validate(arguments int) error {
	switch {
	case arguments > 0:
		return errors.New("only flags, no arguments")
	case o.length <= 0:
		return errors.New("-seconds must be above 0")
	case o.workers < 0 || o.workers == 1:
		return errors.New("-workers must be 0 or at least 2: what crosses, or moves, needs two, and no table has fewer")
	}
	return nil
}

// usualWorkers returns how many workers a system has unless it is told.
func usualWorkers() (int, error) {
	sys, err := house.New(house.Config{})
	if err != nil {
		return 0, err
	}
	n := len(sys.Workers())
	return n, sys.Shutdown(context.Background())
}

// known lists the names of the scenarios.
func known() string {
	var names []string
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// choose returns the scenarios of these names, in the order of the table.
func choose(names string) ([]scenario, error) {
	if names == "" {
		return scenarios, nil
	}
	wanted := strings.Split(names, ",")
	for _, name := range wanted {
		if !slices.ContainsFunc(scenarios, func(s scenario) bool { return s.name == name }) {
			return nil, fmt.Errorf("there is no scenario %q; there are %s", name, known())
		}
	}
	var chosen []scenario
	for _, s := range scenarios {
		if slices.Contains(wanted, s.name) {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}

// run measures one scenario after the other and prints each when it is done.
// One that fails doesn't keep the others from running.
func run(out io.Writer, chosen []scenario, o options, asJSON bool) error {
	var p printer = lines{out}
	if !asJSON {
		p = newTable(out, o)
	}
	var failed []error
	for _, s := range chosen {
		res, err := s.run(o)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
			continue
		}
		if err := p.print(s.name, res); err != nil {
			return err
		}
	}
	return errors.Join(append(failed, p.end(chosen))...)
}
