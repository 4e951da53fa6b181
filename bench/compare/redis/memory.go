package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// memory is what was measured of a full server.
type memory struct {
	Server   string  `json:"server"`
	Keys     int     `json:"keys"`
	Empty    float64 `json:"empty_bytes"`
	Full     float64 `json:"full_bytes"`
	PerKey   float64 `json:"bytes_key"`
	FillRate float64 `json:"fill_rate"`
	// The last collection; nil for redis-server, which has none.
	Collection *collection `json:"collection,omitempty"`
}

// collection is one of Go's garbage collector. Times are in ms.
type collection struct {
	Full    bool    `json:"full"`     // with all keys there; false: while they came
	HeapMB  float64 `json:"heap_mb"`  // live at its end
	Wall    float64 `json:"wall_ms"`  // from its begin to its end
	Stopped float64 `json:"pause_ms"` // of Wall, with all goroutines stopped
	CPU     float64 `json:"cpu_ms"`
	Count   int     `json:"count"` // collections in all
}

// compareMemory fills one server of each kind.
func compareMemory(o options, dir string) error {
	about := machine()
	var all []memory
	for _, k := range []kind{kvOne, redis} {
		fmt.Fprintf(os.Stderr, "\rfilling and measuring %-20s", k.name)
		m, err := fillOne(o, k, dir)
		if err != nil {
			fmt.Fprintln(os.Stderr)
			return fmt.Errorf("%s: %w", k.name, err)
		}
		all = append(all, m)
	}
	fmt.Fprintf(os.Stderr, "\r%-40s\r", "")
	return printMemory(os.Stdout, o, about, all)
}

func fillOne(o options, k kind, dir string) (m memory, err error) {
	s, err := start(o, k, dir, "GODEBUG=gctrace=1")
	if err != nil {
		return m, err
	}
	m, err = s.fillUp(o, k)
	if stopErr := s.stop(); err == nil {
		err = stopErr
	}
	return m, err
}

// settle is how long a full server is left alone before it is measured.
const settle = 2 * time.Second

func (s *server) fillUp(o options, k kind) (m memory, err error) {
	m = memory{Server: k.name, Keys: o.keys}
	if m.Empty, err = s.resident(); err != nil {
		return m, err
	}
	began := time.Now()
	if err := fill(s.address(), o.keys); err != nil {
		return m, err
	}
	m.FillRate = float64(o.keys) / time.Since(began).Seconds()
	if got, err := s.ask("DBSIZE"); err != nil || got != ":"+strconv.Itoa(o.keys) {
		return m, fmt.Errorf("DBSIZE is %q, %w", got, err)
	}
	time.Sleep(settle)
	if m.Full, err = s.resident(); err != nil {
		return m, err
	}
	m.PerKey = (m.Full - m.Empty) / float64(o.keys)
	if k.workers == 0 {
		return m, nil
	}
	m.Collection = s.collect()
	return m, nil
}

// Go's runtime collects every two minutes even if nothing is allocated.
const collectMax = 150 * time.Second

// collect waits for a collection of the server as it is now, or takes the last one if
// none comes.
func (s *server) collect() *collection {
	before := lastCollection(s.log.String())
	s.ask("DEBUG GC") // those that don't know it collect later
	for end := time.Now().Add(collectMax); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if c := lastCollection(s.log.String()); c != nil && (before == nil || c.Count > before.Count) {
			c.Full = true
			return c
		}
	}
	return before
}

// trace is a line of gctrace: see the package runtime.
var trace = regexp.MustCompile(`(?m)^gc (\d+) @\S+ \S+: ([\d.]+)\+([\d.]+)\+([\d.]+) ms clock, ([\d.]+)\+([\d.]+)/([\d.]+)/([\d.]+)\+([\d.]+) ms cpu, \d+->\d+->(\d+) MB`)

// lastCollection reads it from a log; nil if there is none.
func lastCollection(log string) *collection {
	lines := trace.FindAllStringSubmatch(log, -1)
	if len(lines) == 0 {
		return nil
	}
	var n [11]float64
	for i, field := range lines[len(lines)-1][1:] {
		n[i+1], _ = strconv.ParseFloat(field, 64) // the pattern has digits only
	}
	return &collection{
		Count: int(n[1]), Wall: n[2] + n[3] + n[4], Stopped: n[2] + n[4],
		CPU:    n[5] + n[6] + n[7] + n[9], // n[8] is time that would have been idle
		HeapMB: n[10],
	}
}

// A batch of SETs, and the answer to each.
const (
	batch = 256
	ok    = "+OK\r\n"
)

// fill sets keys 0 to n-1.
func fill(address string, n int) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	value := strings.Repeat("x", 64)
	want := []byte(strings.Repeat(ok, batch))
	got := make([]byte, len(want))
	var out []byte
	for from := 0; from < n; from += batch {
		size := min(batch, n-from)
		out = out[:0]
		for i := range size {
			out = fmt.Appendf(out, "*3\r\n$3\r\nSET\r\n$16\r\nkey:%012d\r\n$64\r\n%s\r\n", from+i, value)
		}
		conn.SetDeadline(time.Now().Add(time.Minute))
		if _, err := conn.Write(out); err != nil {
			return err
		}
		answers := got[:size*len(ok)]
		if _, err := io.ReadFull(conn, answers); err != nil {
			return err
		}
		if !bytes.Equal(answers, want[:len(answers)]) {
			return fmt.Errorf("SET %d is answered %.200q", from, answers)
		}
	}
	return nil
}

func printMemory(out io.Writer, o options, about string, all []memory) error {
	if o.json {
		e := json.NewEncoder(out)
		for _, m := range all {
			if err := e.Encode(m); err != nil {
				return err
			}
		}
		return nil
	}
	const mib = 1 << 20
	fmt.Fprintf(out, "%s\n%d keys of 16 bytes with 64\n\n%-14s %10s %10s %10s %12s\n", about, o.keys, "", "empty MiB", "full MiB", "bytes/key", "SETs/s")
	for _, m := range all {
		fmt.Fprintf(out, "%-14s %10.1f %10.1f %10.1f %12.0f\n", m.Server, m.Empty/mib, m.Full/mib, m.PerKey, m.FillRate)
	}
	for _, m := range all {
		if c := m.Collection; c != nil {
			when := "the last one while it was filled"
			if c.Full {
				when = "with all keys there"
			}
			fmt.Fprintf(out, "\n%s: a collection, %s: %.2f ms, of which all stops for %.3f ms; %.2f ms of CPU; %.0f MB live; number %d\n",
				m.Server, when, c.Wall, c.Stopped, c.CPU, c.HeapMB, c.Count)
		}
	}
	return nil
}
