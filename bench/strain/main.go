package main

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

const (
	pingers = 200
	strains = 16
	address = "127.0.0.1:7391"
)

var (
	long  = strings.Repeat("a", 64<<10)
	plain = []string{"GET", "plain"}
	// costly are the costliest input of each kind of command.
	costly = []struct {
		name  string
		words []string
	}{
		{"keys", []string{"KEYS", "*"}},
		{"glob", []string{"KEYS", strings.Repeat("*a", 1000) + "*b"}},
		{"scan", []string{"SCAN", "0", "MATCH", strings.Repeat("*a", 100) + "*b", "COUNT", "1000000"}},
		{"hgetall", []string{"HGETALL", "hash"}},
		{"mget", append([]string{"MGET"}, slices.Repeat([]string{"plain"}, 10_000)...)},
		{"mset", append([]string{"MSET"}, slices.Repeat([]string{"plain", "1"}, 5_000)...)},
		{"del", append([]string{"DEL"}, slices.Repeat([]string{"none"}, 10_000)...)},
		{"hrandfield", []string{"HRANDFIELD", "hash", "-10000"}},
		{"bigget", []string{"GET", "big"}},
		{"bigset", []string{"SET", "big", strings.Repeat("v", 1<<20)}},
	}
)

// client is one connection that sends a command at a time.
type client struct {
	net.Conn
	in    *bufio.Reader
	bytes int // of the last reply that was looked at
}

func dial() (*client, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{Conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// do sends a command and reads its reply.
func (c *client) do(command []byte) error {
	if _, err := c.Write(command); err != nil {
		return err
	}
	c.bytes = 0
	return c.skip()
}

// again is do for the same command, whose reply is as long: a client must cost less than the
// server.
func (c *client) again(command []byte) error {
	if _, err := c.Write(command); err != nil {
		return err
	}
	_, err := c.in.Discard(c.bytes)
	return err
}

// skip reads one reply.
func (c *client) skip() error {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return err
	}
	c.bytes += len(line)
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '-':
		return fmt.Errorf("the server: %s", strings.TrimSpace(line))
	case '$':
		if n >= 0 {
			n, err = c.in.Discard(n + len("\r\n"))
			c.bytes += n
		}
	case '*', '%':
		for range n {
			if err = c.skip(); err != nil {
				return err
			}
		}
	}
	return err
}

// round returns the p99 of small commands beside the given one.
func round(words []string, lasts time.Duration) (p99 time.Duration, n int64, err error) {
	var group sync.WaitGroup
	var stop atomic.Bool
	var strained atomic.Int64
	failed := make(chan error, pingers+strains)
	run := func(words []string, each func(time.Duration)) {
		group.Go(func() {
			c, err := dial()
			if err != nil {
				failed <- err
				return
			}
			defer c.Close()
			command := resp.AppendCommand(nil, words...)
			for send := c.do; !stop.Load(); send = c.again {
				began := time.Now()
				if err := send(command); err != nil {
					failed <- err
					return
				}
				each(time.Since(began))
			}
		})
	}
	took := make([][]time.Duration, pingers)
	for i := range took {
		run(plain, func(d time.Duration) { took[i] = append(took[i], d) })
	}
	for range strains {
		run(words, func(time.Duration) { strained.Add(1) })
	}
	time.Sleep(lasts)
	stop.Store(true)
	group.Wait()
	select {
	case err = <-failed:
		return 0, 0, err
	default:
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	return all[len(all)*99/100], strained.Load(), nil
}

// fill puts what the commands look at into the server.
func fill() error {
	c, err := dial()
	for began := time.Now(); err != nil && time.Since(began) < 5*time.Second; c, err = dial() {
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return err
	}
	defer c.Close()
	commands := [][]string{{"SET", "plain", "1"}, {"SET", long, "1"}, {"SET", "big", strings.Repeat("v", 1<<20)}}
	for i := range 10_000 {
		commands = append(commands, []string{"SET", fmt.Sprint("key:", i), "v"}, []string{"HSET", "hash", fmt.Sprintf("field:%05d", i), "v"})
	}
	for _, words := range commands {
		if err := c.do(resp.AppendCommand(nil, words...)); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	pairs := flag.Int("pairs", 10, "pairs of rounds")
	seconds := flag.Float64("seconds", 1, "that a round lasts")
	only := flag.String("only", "", "costly command")
	flag.Parse()
	if err := strain(*pairs, time.Duration(*seconds*float64(time.Second)), *only, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "strain:", err)
		os.Exit(1)
	}
}

func strain(pairs int, lasts time.Duration, only string, command []string) error {
	server := exec.Command(command[0], append(command[1:], "-addr", address)...)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return err
	}
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	if err := fill(); err != nil {
		return err
	}
	for _, c := range costly {
		if only != "" && c.name != only {
			continue
		}
		var ratios []float64
		for range pairs {
			a, _, err := round(plain, lasts)
			if err != nil {
				return err
			}
			b, n, err := round(c.words, lasts)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			ratios = append(ratios, float64(b)/float64(a))
			fmt.Printf("%-10s p99 beside plain %v, costly %v: %.2f (%d costly)\n", c.name, a, b, float64(b)/float64(a), n)
		}
		slices.Sort(ratios)
		fmt.Printf("%-10s median %.2f of %d pairs\n", c.name, ratios[len(ratios)/2], len(ratios))
	}
	return nil
}
