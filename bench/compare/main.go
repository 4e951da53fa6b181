package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// options are what a comparison can be told.
type options struct {
	workloads []workload
	libraries []library
	hollywood string  // folder of its source, or fetched; "": it isn't run
	seconds   float64 // that a run takes, about
	reps      int
	n         int // operations of a run; 0: as many as take seconds
	json      bool
	chart     string // file; "": none
	check     bool
}

func main() {
	var (
		o     options
		some  = flag.String("workload", "", "which workloads, separated by commas; none: all\n"+listed(workloads, workload.title))
		libs  = flag.String("lib", "", "which libraries, separated by commas; none: all\n"+listed(libraries, library.title)+"; hollywood with -hollywood")
		child = flag.String("run", "", "run this workload by the one -lib, in this process, and print what was measured")
	)
	flag.Float64Var(&o.seconds, "seconds", 0.5, "how long a run takes, about")
	flag.IntVar(&o.reps, "reps", 5, "rounds")
	flag.IntVar(&o.n, "n", 0, "operations of a run; 0: as many as take -seconds")
	flag.BoolVar(&o.json, "json", false, "print an object a line, times in ns")
	flag.StringVar(&o.chart, "chart", "", "draw the factors into this SVG file")
	flag.BoolVar(&o.check, "check", false, "compare the factors with the limits; exit code 1 if one is missed")
	flag.StringVar(&o.hollywood, "hollywood", "", "run Hollywood too, from its source in this folder; "+fetched+": get that of "+hollywoodCommit+" as the go command gets modules")
	flag.Parse()

	err := o.choose(*some, *libs)
	if err == nil {
		err = o.validate(flag.NArg(), *child)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	if *child != "" {
		err = runOnce(os.Stdout, o.libraries[0], *child, o.n)
	} else {
		err = compare(os.Stdout, os.Stderr, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// choose looks names up; the order is that of the tables.
func (o *options) choose(someWorkloads, someLibraries string) (err error) {
	if o.workloads, err = pick(workloads, workload.title, someWorkloads, "workload"); err != nil {
		return err
	}
	o.libraries, err = pick(o.known(), library.title, someLibraries, "library")
	return err
}

func pick[T any](all []T, name func(T) string, wanted, what string) ([]T, error) {
	if wanted == "" {
		return all, nil
	}
	names := strings.Split(wanted, ",")
	var picked []T
	for _, v := range all {
		if i := slices.Index(names, name(v)); i >= 0 {
			picked = append(picked, v)
			names = slices.Delete(names, i, i+1)
		}
	}
	if len(names) > 0 {
		return nil, fmt.Errorf("there is no %s %q; there are %s", what, names[0], listed(all, name))
	}
	return picked, nil
}

// listed returns the names of all.
func listed[T any](all []T, name func(T) string) string {
	var names []string
	for _, v := range all {
		names = append(names, name(v))
	}
	return strings.Join(names, ", ")
}

func (w workload) title() string { return w.name }
func (l library) title() string  { return l.name }

func (o *options) validate(arguments int, child string) error {
	switch {
	case arguments > 0:
		return errors.New("only flags, no arguments")
	case o.reps < 1:
		return errors.New("-reps must be at least 1")
	case o.seconds <= 0:
		return errors.New("-seconds must be above 0")
	case o.n < 0:
		return errors.New("-n must not be negative")
	case child != "" && (len(o.libraries) != 1 || o.n == 0):
		return errors.New("-run wants one -lib and -n")
	}
	return nil
}

// runOnce is what a child process does.
func runOnce(out io.Writer, l library, workload string, n int) error {
	res, err := l.run(workload, n)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(res)
}

// prepare makes libraries ready to run that must be, until remove is called, and leaves
// out those that can't.
func (o *options) prepare(progress io.Writer) (remove func()) {
	var ready []library
	var removes []func()
	for _, l := range o.libraries {
		if l.prepare != nil {
			done, err := l.prepare(&l)
			if err != nil {
				fmt.Fprintf(progress, "%s is left out: %v\n", l.name, err)
				continue
			}
			removes = append(removes, done)
		}
		ready = append(ready, l)
	}
	o.libraries = ready
	return func() {
		for _, remove := range removes {
			remove()
		}
	}
}

// compare is what the process does that a user starts.
func compare(out, progress io.Writer, o options) error {
	defer o.prepare(progress)()
	before := readMachine()
	results, failed := runAll(progress, o, inProcess)
	quiet := readMachine().describe(before)
	rows := summarize(o, results)
	var err error
	if o.json {
		fmt.Fprintln(progress, quiet)
		err = printLines(out, rows)
	} else {
		err = printTable(out, o, rows, quiet)
	}
	errs := append(failed, err)
	if o.chart != "" {
		errs = append(errs, os.WriteFile(o.chart, chart(o, rows), 0o644))
	}
	if o.check {
		to := out
		if o.json {
			to = progress // lines are for programs
		}
		errs = append(errs, check(to, o, rows))
	}
	return errors.Join(errs...)
}
