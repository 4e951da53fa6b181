package erlang

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

//go:embed bench.erl
var script []byte

// Workloads has what there is.
var Workloads = []string{"tell-1-1", "tell-8-1", "tell-actor", "tell-cross", "fanout-1000", "pingpong-1", "pingpong-64",
	"ask-in-actor", "ask-cross", "ask-cross-1", "ask-guest", "ask-64-1", "spawn", "skynet", "ring503", "timers"}

// where is the variable that tells child processes where the script was compiled to.
const where = "STACKHOUSE_COMPARE_ERLANG"

// ErrMissing says that there is no Erlang on this machine.
var ErrMissing = errors.New("erlang: no erl or erlc here; apt-get install --no-install-recommends erlang-base")

// Present reports whether Erlang is installed.
func Present() bool {
	for _, name := range []string{"erl", "erlc"} {
		if _, err := exec.LookPath(name); err != nil {
			return false
		}
	}
	return true
}

// Install installs Erlang if it is missing and this user may.
func Install() error {
	if Present() {
		return nil
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil || os.Getuid() != 0 {
		return ErrMissing
	}
	c := exec.Command(apt, "install", "-q", "-y", "--no-install-recommends", "erlang-base")
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: apt-get failed: %v\n%s", ErrMissing, err, out)
	}
	return nil
}

// Prepare compiles the script for this process and those that it starts, until remove is
// called.
func Prepare() (remove func(), err error) {
	dir, err := os.MkdirTemp("", "stackhouse-compare-")
	if err != nil {
		return nil, err
	}
	remove = func() {
		os.Unsetenv(where)
		os.RemoveAll(dir)
	}
	source := filepath.Join(dir, "bench.erl")
	if err = os.WriteFile(source, script, 0o600); err == nil {
		var out []byte
		if out, err = exec.Command("erlc", "-Werror", "-o", dir, source).CombinedOutput(); err != nil {
			err = fmt.Errorf("erlc: %w\n%s", err, out)
		}
	}
	if err != nil {
		remove()
		return nil, err
	}
	return remove, os.Setenv(where, dir)
}

// Run runs a workload in a virtual machine of its own: the default one, but for room
// for more processes.
func Run(workload string, n int) (res measure.Result, err error) {
	if !slices.Contains(Workloads, workload) {
		return res, fmt.Errorf("erlang has no %s", workload)
	}
	dir := os.Getenv(where)
	if dir == "" {
		remove, err := Prepare()
		if err != nil {
			return res, err
		}
		defer remove()
		dir = os.Getenv(where)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "erl", "-noshell", "-noinput", "+P", "2000000", "-pa", dir, "-run", "bench", "main", workload, strconv.Itoa(n))
	c.Env = append(os.Environ(), "ERL_CRASH_DUMP_SECONDS=0") // no file
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return res, fmt.Errorf("erl: %w", err)
	}
	if err := json.Unmarshal(out, &res); err != nil {
		return res, fmt.Errorf("erl printed %q: %w", out, err)
	}
	return res, nil
}
