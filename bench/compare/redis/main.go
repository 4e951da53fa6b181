package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// options are what a comparison can be told.
type options struct {
	reps     int
	requests int
	keys     int    // 0: no memory is measured, only speed
	kv       string // program
	server   string // CPU
	client   string // CPU of redis-benchmark
	both     string // CPUs of kv with two workers
	json     bool
	report   bool
}

func main() {
	runtime.LockOSThread() // servers are killed when the thread that started them ends
	var o options
	both := "0,1"
	if runtime.NumCPU() > 2 {
		both = "0,2"
	}
	flag.IntVar(&o.reps, "reps", 5, "rounds")
	flag.IntVar(&o.requests, "n", 500_000, "requests of a test")
	flag.IntVar(&o.keys, "keys", 0, "fill the servers with so many keys and show their memory, instead of measuring speed")
	flag.StringVar(&o.kv, "kv", "", "the program to measure; none: examples/kv is built")
	flag.StringVar(&o.server, "server-cpu", "0", "the CPU of a server")
	flag.StringVar(&o.client, "client-cpu", "1", "the CPU of redis-benchmark")
	flag.StringVar(&o.both, "two-cpus", both, "the CPUs of kv with two workers")
	flag.BoolVar(&o.json, "json", false, "print an object a line")
	flag.BoolVar(&o.report, "report", false, "exit code 0 even if a limit is missed")
	flag.Parse()
	if flag.NArg() > 0 || o.reps < 1 || o.requests < 1 || o.keys < 0 {
		flag.Usage()
		os.Exit(2)
	}
	switch err := compare(o); {
	case errors.Is(err, errMissed) && o.report:
	case err != nil:
		fmt.Fprintln(os.Stderr, "redis:", err)
		os.Exit(1)
	}
}

// errMissed: the figures are printed, and one of them is beyond its limit.
var errMissed = errors.New("a limit is missed")

func compare(o options) error {
	for _, tool := range []string{"redis-server", "redis-benchmark", "taskset"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s is missing: %w", tool, err)
		}
	}
	dir, err := os.MkdirTemp("", "compare-redis-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.kv == "" {
		if o.kv, err = build(dir); err != nil {
			return err
		}
	}
	if o.keys > 0 {
		return compareMemory(o, dir)
	}
	return compareSpeed(o, dir)
}

// build compiles examples/kv in its own module.
func build(dir string) (string, error) {
	const module = "github.com/stackhouse-go/stackhouse"
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("where is %s? Run this in its folder bench/compare: %w", module, err)
	}
	program := filepath.Join(dir, "kv")
	c := exec.Command("go", "build", "-o", program, "./examples/kv")
	c.Dir = strings.TrimSpace(string(root))
	if said, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("examples/kv doesn't compile: %w\n%s", err, said)
	}
	return program, nil
}

// machine says what the figures are of, and whether anything else was running.
func machine() string {
	version, _ := exec.Command("redis-server", "--version").Output()
	load, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(version))
	if len(fields) > 2 {
		version = []byte(fields[2])
	}
	loads := strings.Fields(string(load))
	return fmt.Sprintf("redis-server %s, %s, %d CPUs, load before %s", version, runtime.Version(), runtime.NumCPU(), strings.Join(loads[:min(3, len(loads))], " "))
}
