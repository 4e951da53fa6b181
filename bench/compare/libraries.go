package main

import (
	"fmt"
	"slices"

	"github.com/stackhouse-go/stackhouse/bench/compare/channels"
	"github.com/stackhouse-go/stackhouse/bench/compare/erlang"
	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
	"github.com/stackhouse-go/stackhouse/bench/compare/mutex"
	"github.com/stackhouse-go/stackhouse/bench/compare/protoactor"
	"github.com/stackhouse-go/stackhouse/bench/compare/stackhouse"
)

// library is one that is run here.
type library struct {
	name     string
	actors   bool      // an actor library, a rival of Stackhouse
	variants []variant // the fastest counts
	has      func(workload string) bool
	run      func(workload string, n int) (measure.Result, error)
	prepare  func(*library) (remove func(), err error) // before all runs; nil: nothing to do
	program  string                                    // what runs it; "": this one
}

// variant is a way to run a library.
type variant struct {
	name string
	env  []string
}

const (
	ours     = "stackhouse"
	baseline = "channels"
)

var usual = []variant{{}}

// libraries in the order in which they run.
var libraries = []library{
	inGo(ours, true, usual, stackhouse.Workloads),
	inGo(baseline, false, []variant{{"GOMAXPROCS=1", []string{"GOMAXPROCS=1"}}, {"default GOMAXPROCS", nil}}, channels.Workloads),
	inGo("mutex", false, usual, mutex.Workloads),
	inGo("protoactor", true, usual, protoactor.Workloads),
	{name: "erlang", actors: true, variants: []variant{{"one scheduler", []string{"ERL_FLAGS=+S 1:1"}}, {"default schedulers", nil}}, has: among(erlang.Workloads), prepare: prepareErlang, run: erlang.Run},
}

// prepareErlang installs Erlang if it can, and compiles its script.
func prepareErlang(*library) (remove func(), err error) {
	if err := erlang.Install(); err != nil {
		return nil, err
	}
	return erlang.Prepare()
}

// among returns whether a workload is one of some.
func among(some []string) func(workload string) bool {
	return func(w string) bool { return slices.Contains(some, w) }
}

func inGo(name string, actors bool, variants []variant, makes map[string]measure.Make) library {
	return library{
		name:     name,
		actors:   actors,
		variants: variants,
		has:      func(w string) bool { return makes[w] != nil },
		run: func(w string, n int) (measure.Result, error) {
			if makes[w] == nil {
				return measure.Result{}, fmt.Errorf("%s has no %s", name, w)
			}
			return measure.Run(makes[w], n)
		},
	}
}
