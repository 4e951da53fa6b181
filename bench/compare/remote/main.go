package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// contender is a way to send messages to another process.
type contender struct {
	name string
	// serve runs the end that is asked, until its standard input ends. It calls ready with its
	// address.
	serve func(ready func(address string)) error
	// run sends n messages to an end, and returns what was measured.
	run  func(address string, n int) (result, error)
	asks bool
}

// result is what one run has measured.
type result struct {
	Each  float64 // ns a message
	P50   float64 // of asks, ns
	P999  float64
	Count int
}

var byDefault, secured, polling = how{}, how{secured: true}, how{polls: true}

var contenders = []contender{
	{name: "stackhouse", serve: byDefault.serve, run: byDefault.tellPlain},
	{name: "stackhouse-protobuf", serve: byDefault.serve, run: byDefault.tellProtobuf},
	{name: "stackhouse-vtprotobuf", serve: byDefault.serve, run: byDefault.tellBlob},
	{name: "stackhouse-tls", serve: secured.serve, run: secured.tellPlain},
	{name: "protoactor", serve: serveProtoactor, run: tellProtoactor},
	{name: "tcp-protobuf", serve: serveTCP, run: tellTCP},
	{name: "stackhouse-ask", serve: byDefault.serve, run: byDefault.askActor, asks: true},
	{name: "stackhouse-poll-ask", serve: polling.serve, run: polling.askActor, asks: true},
	{name: "stackhouse-tls-ask", serve: secured.serve, run: secured.askActor, asks: true},
	{name: "stackhouse-guest", serve: byDefault.serve, run: byDefault.askGuest, asks: true},
	{name: "protoactor-ask", serve: serveProtoactor, run: askProtoactor, asks: true},
	{name: "c-exchange", serve: serveC, run: askC, asks: true},
}

func main() {
	var (
		serve   = flag.String("serve", "", "be the end that is asked, of this contender")
		run     = flag.String("run", "", "be the end that asks, of this contender")
		to      = flag.String("to", "", "address of the end that is asked")
		n       = flag.Int("n", 0, "messages")
		seconds = flag.Float64("seconds", 1, "how long a run takes, about")
		reps    = flag.Int("reps", 5, "rounds")
		check   = flag.Bool("check", false, "compare with the limits; exit code 1 if one is missed")
	)
	flag.Parse()
	var err error
	switch {
	case *serve != "":
		err = find(*serve).serve(func(address string) { fmt.Println(address) })
	case *run != "":
		var r result
		if r, err = find(*run).run(*to, *n); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(r)
		}
	default:
		err = compare(*seconds, *reps, *check)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote:", err)
		os.Exit(1)
	}
}

func find(name string) *contender {
	i := slices.IndexFunc(contenders, func(c contender) bool { return c.name == name })
	if i < 0 {
		fmt.Fprintln(os.Stderr, "remote: no contender", name)
		os.Exit(2)
	}
	return &contenders[i]
}

// once has two processes run n messages of a contender.
func once(c *contender, n int) (r result, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	server := exec.Command(self, "-serve", c.name)
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		return r, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return r, err
	}
	if err = server.Start(); err != nil {
		return r, err
	}
	defer server.Wait()
	defer in.Close()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return r, fmt.Errorf("%s: the end that is asked: %w", c.name, err)
	}
	client := exec.Command(self, "-run", c.name, "-to", strings.TrimSpace(address), "-n", fmt.Sprint(n))
	client.Stderr = os.Stderr
	text, err := client.Output()
	if err != nil {
		return r, fmt.Errorf("%s: %w", c.name, err)
	}
	if err = json.Unmarshal(text, &r); err == nil && r.Count != n {
		err = fmt.Errorf("%s: %d messages of %d", c.name, r.Count, n)
	}
	return r, err
}

// limit is a factor between two contenders that must not be exceeded.
type limit struct {
	what, of, over string
	by             func(result) float64
	most           float64
}

func each(r result) float64 { return r.Each }
func p50(r result) float64  { return r.P50 }
func p999(r result) float64 { return r.P999 }

var limits = []limit{
	{"notices, plain, over protoactor's", "stackhouse", "protoactor", each, 1.0 / 6},
	{"notices, protobuf, over protoactor's", "stackhouse-protobuf", "protoactor", each, 1.0 / 4},
	{"notices, vtprotobuf, over protoactor's", "stackhouse-vtprotobuf", "protoactor", each, 1.0 / 4},
	{"notices, plain, over TCP with protobuf", "stackhouse", "tcp-protobuf", each, 0.6},
	{"notices by TLS, over plaintext", "stackhouse-tls", "stackhouse", each, 0},
	{"an actor's ask by TLS, p50, over plaintext", "stackhouse-tls-ask", "stackhouse-ask", p50, 0},
	{"an actor's ask, p50, over C", "stackhouse-ask", "c-exchange", p50, 1.3},
	{"an actor's, of who polls, p50, over C", "stackhouse-poll-ask", "c-exchange", p50, 1.3},
	{"a guest's ask, p50, over C", "stackhouse-guest", "c-exchange", p50, 0},
	{"an actor's ask, p99.9, over protoactor's", "stackhouse-ask", "protoactor-ask", p999, 1},
}

func compare(seconds float64, reps int, check bool) error {
	dir, err := os.MkdirTemp("", "remote")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := errors.Join(issue(dir), os.Setenv(certsIn, dir)); err != nil {
		return err
	}
	count := map[string]int{}
	for i := range contenders { // how many messages take that long
		c := &contenders[i]
		n := 10_000
		if c.asks {
			n = 2_000
		}
		r, err := once(c, n)
		if err != nil {
			return err
		}
		count[c.name] = max(n, int(seconds*1e9/r.Each))
	}
	all := map[string][]result{}
	for range reps {
		for i := range contenders {
			c := &contenders[i]
			r, err := once(c, count[c.name])
			if err != nil {
				return err
			}
			all[c.name] = append(all[c.name], r)
		}
	}
	for _, c := range contenders {
		fmt.Printf("%-22s %9.0f ns", c.name, median(all[c.name], each))
		if c.asks {
			fmt.Printf("   p50 %8.0f   p99.9 %8.0f", median(all[c.name], p50), median(all[c.name], p999))
		}
		fmt.Println()
	}
	missed := 0
	for _, l := range limits {
		var factors []float64
		for i := range reps {
			factors = append(factors, l.by(all[l.of][i])/l.by(all[l.over][i]))
		}
		slices.Sort(factors)
		m := factors[len(factors)/2]
		said := ""
		if l.most > 0 {
			said = fmt.Sprintf("  (at most %.3f)", l.most)
			if m > l.most {
				missed++
				said += "  missed"
			}
		}
		fmt.Printf("%-42s %.3f ± %.3f%s\n", l.what, m, (factors[len(factors)-1]-factors[0])/2, said)
	}
	if check && missed > 0 {
		return fmt.Errorf("%d limits are missed", missed)
	}
	return nil
}

func median(all []result, by func(result) float64) float64 {
	var v []float64
	for _, r := range all {
		v = append(v, by(r))
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// timed is the result of n asks that took so long each, in all.
func timed(took []int64, all int64) result {
	slices.Sort(took)
	n := len(took)
	return result{Each: float64(all) / float64(n), P50: float64(took[n/2]), P999: float64(took[n-1-n/1000]), Count: n}
}

// untilEnd waits for the end of standard input.
func untilEnd() { bufio.NewReader(os.Stdin).ReadString(0) }
