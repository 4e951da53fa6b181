package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// test is one run of redis-benchmark.
type test struct {
	command  string
	pipeline int
}

// tests, in the order in which a fresh server does them: GETs find what SETs wrote.
var tests = []test{{"set", 1}, {"get", 1}, {"set", 16}, {"get", 16}}

// sample is what was measured of one test on one server.
type sample struct {
	cpu      float64 // ns a request
	rate     float64 // requests a second
	p99      float64 // ms
	woken    float64 // workers woken a request, by kv's count; NaN if there is none
	switches float64 // threads gone to sleep a request
}

// samples has one sample a round.
type samples map[kind]map[test][]sample

// compareSpeed runs all rounds and prints what came out.
func compareSpeed(o options, dir string) error {
	about := machine()
	all := samples{}
	for round := range o.reps {
		kinds := []kind{kvOne, redis, kvTwo}
		for i := range kinds {
			k := kinds[(i+round)%len(kinds)]
			fmt.Fprintf(os.Stderr, "\rround %d of %d: %-20s", round+1, o.reps, k.name)
			if err := measure(o, k, dir, all); err != nil {
				fmt.Fprintln(os.Stderr)
				return fmt.Errorf("%s: %w", k.name, err)
			}
		}
	}
	fmt.Fprintf(os.Stderr, "\r%-50s\r", "")
	return printRows(os.Stdout, o, about, judge(all))
}

// measure does all tests on two fresh servers, one for each length of pipeline.
func measure(o options, k kind, dir string, all samples) error {
	if all[k] == nil {
		all[k] = map[test][]sample{}
	}
	for _, pipeline := range []int{1, 16} {
		s, err := start(o, k, dir)
		if err != nil {
			return err
		}
		for _, t := range tests {
			if t.pipeline != pipeline {
				continue
			}
			m, err := s.measure(o, t)
			if err != nil {
				s.stop()
				return err
			}
			all[k][t] = append(all[k][t], m)
		}
		if err := s.stop(); err != nil {
			return err
		}
	}
	return nil
}

// measure does one test.
func (s *server) measure(o options, t test) (m sample, err error) {
	infoBefore, err := s.info()
	if err != nil {
		return m, err
	}
	before, err := s.usage()
	if err != nil {
		return m, err
	}
	c := exec.Command("taskset", "-c", o.client, "redis-benchmark", "-h", "127.0.0.1", "-p", s.port, "--csv", "--precision", "3",
		"-r", "100000", "-d", "64", "-c", "50", "-n", strconv.Itoa(o.requests), "-t", t.command, "-P", strconv.Itoa(t.pipeline))
	said, err := c.CombinedOutput()
	if err != nil {
		return m, fmt.Errorf("redis-benchmark: %w\n%s", err, said)
	}
	after, err := s.usage()
	if err != nil {
		return m, err
	}
	infoAfter, err := s.info()
	if err != nil {
		return m, err
	}
	if m.rate, m.p99, err = parseBenchmark(string(said), strings.ToUpper(t.command)); err != nil {
		return m, err
	}
	n := float64(o.requests)
	m.cpu = float64(after.cpu-before.cpu) / n
	m.switches = (after.switches - before.switches) / n
	m.woken = math.NaN()
	if woken, ok := infoAfter["woken"]; ok {
		m.woken = (woken - infoBefore["woken"]) / n
	}
	return m, nil
}

// parseBenchmark reads the CSV of redis-benchmark: requests a second and p99 in ms.
func parseBenchmark(text, name string) (rate, p99 float64, err error) {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return 0, 0, fmt.Errorf("redis-benchmark says what isn't CSV: %w\n%s", err, text)
	}
	for _, line := range lines {
		if line[0] != name {
			continue
		}
		for i, column := range lines[0] {
			target := map[string]*float64{"rps": &rate, "p99_latency_ms": &p99}[column]
			if target == nil {
				continue
			}
			if *target, err = strconv.ParseFloat(line[i], 64); err != nil {
				return 0, 0, fmt.Errorf("redis-benchmark's %s: %w", column, err)
			}
		}
	}
	if rate == 0 || p99 == 0 {
		return 0, 0, fmt.Errorf("redis-benchmark doesn't tell the rate and the p99 of %s:\n%s", name, text)
	}
	return rate, p99, nil
}
