//go:build ignore

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/anthdm/hollywood/actor"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// workloads has what there is, by name.
var workloads = map[string]measure.Make{
	"tell-1-1":    tell(1),
	"tell-8-1":    tell(8),
	"tell-actor":  tellActor,
	"tell-cross":  tellActor,
	"fanout-1000": fanout,
	"pingpong-1":  pingpong,
	"pingpong-64": pairs,
	"ask-guest":   askGuest,
	"ask-64-1":    askers,
	"spawn":       spawn,
	"skynet":      skynet,
	"ring503":     ring,
}

func main() {
	workload := flag.String("run", "", "which workload")
	n := flag.Int("n", 1, "operations")
	flag.Parse()
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err := run(*workload, *n); err != nil {
		fmt.Fprintln(os.Stderr, "hollywood:", err)
		os.Exit(1)
	}
}

func run(workload string, n int) error {
	if workloads[workload] == nil {
		return fmt.Errorf("there is no %s", workload)
	}
	res, err := measure.Run(workloads[workload], n)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

// askTimeout is the deadline of an ask: as long as Stackhouse's default.
const askTimeout = 5 * time.Second

// start starts an engine. There is no way to end one; the process ends.
func start() (*actor.Engine, error) { return actor.NewEngine(actor.NewEngineConfig()) }

// order tells an actor to do its part of a workload.
type order struct {
	n     int
	tally *measure.Tally
}

// note is a number that is told.
type note struct{ n uint64 }

// again is what an actor tells itself.
type again struct{}
