package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.redis, "redis", "127.0.0.1:6379", "the address of redis-server")
	flag.StringVar(&o.kv, "kv", "127.0.0.1:6380", "the address of kv")
	flag.IntVar(&o.n, "n", 200_000, "how many commands")
	flag.Uint64Var(&o.seed, "seed", 1, "what all chance follows from")
	flag.IntVar(&o.conns, "conns", 8, "how many connections; every second one begins with HELLO 3")
	flag.StringVar(&o.pass, "pass", "", "the password of both servers")
	flag.DurationVar(&o.wait, "wait", 30*time.Second, "how long a batch may take")
	flag.BoolVar(&o.all, "all", false, "go on behind a difference, and print the first one of each command")
	flag.BoolVar(&o.verbose, "v", false, "print how often each command was sent, and refused")
	only := flag.String("commands", "", "send these commands only, as in GET,SET; all if empty")
	without := flag.String("without", "", "leave these commands out")
	flag.Parse()
	o.only, o.without = names(*only), names(*without)
	if flag.NArg() > 0 || o.conns < 1 || o.n < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(o); err != nil {
		if !errors.Is(err, errDifferent) {
			fmt.Fprintln(os.Stderr, "differ:", err)
		}
		os.Exit(1)
	}
}

// options are the command line's.
type options struct {
	redis, kv     string
	n, conns      int
	seed          uint64
	pass          string
	wait          time.Duration
	only, without map[string]bool
	all, verbose  bool
}

func names(list string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.SplitSeq(strings.ToUpper(list), ",") {
		if name = strings.TrimSpace(name); name != "" {
			set[name] = true
		}
	}
	return set
}
