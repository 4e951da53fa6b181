//go:build linux

package main

import (
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shape is a kind of load.
type shape struct {
	name              string
	conns, size, deep int
	frames            bool // the server cuts the stream into messages, with a stack for each
	tls               bool // against a server of package net and crypto/tls
	aim, must         float64
}

var shapes = []shape{
	{"64 B, 50 connections", 50, 64, 1, false, false, 1.10, 1.20},
	{"64 B, 1,000 connections", 1000, 64, 1, false, false, 1.20, 1.30},
	{"64 B, 50 connections, 16 in flight, a stack each", 50, 64, 16, true, false, 1.15, 1.30},
	{"16 KiB, 50 connections", 50, 16 << 10, 1, false, false, 1.10, 1.25},
	{"TLS, 64 B, 50 connections", 50, 64, 1, false, true, 0.90, 0.90},
	{"TLS, 16 KiB, 50 connections", 50, 16 << 10, 1, false, true, 1.00, 1.00},
}

func main() {
	pairs := flag.Int("pairs", 10, "runs of each server, in turn")
	seconds := flag.Float64("seconds", 1, "of a run")
	only := flag.String("only", "", "shapes whose name has this in it")
	against := flag.String("against", "", "another build of examples/echo, in place of the loop")
	standard := flag.String("standard", "", "only serve, at this address, over TLS with the files that are named behind the flags")
	flag.Parse()
	if *standard != "" {
		fmt.Fprintln(os.Stderr, "echo:", serveStandard(*standard, flag.Arg(0), flag.Arg(1)))
		os.Exit(1)
	}
	if err := compare(*pairs, time.Duration(*seconds*float64(time.Second)), *only, *against); err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

// compare builds both servers, and prints a line for each shape.
func compare(pairs int, d time.Duration, only, against string) error {
	dir, err := os.MkdirTemp("", "echo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// the load stays on the second CPU, the servers on the first
	if out, err := exec.Command("taskset", "-a", "-p", "-c", "1", strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		return fmt.Errorf("taskset: %w\n%s", err, out)
	}
	loop, ours := filepath.Join(dir, "loop"), filepath.Join(dir, "echo")
	for _, build := range [][]string{{"gcc", "-O2", "-o", loop, "bench/echo/testdata/loop.c"}, {"go", "build", "-o", ours, "./examples/echo"}} {
		if out, err := exec.Command(build[0], build[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", build[0], err, out)
		}
	}
	files, roots, err := newSecrets(dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, s := range shapes {
		if !strings.Contains(s.name, only) {
			continue
		}
		var ratios, least, mine []float64
		for range pairs {
			bare, err := run(s, d, roots, func(port string) []string {
				switch {
				case against != "":
					return s.command(against, port, files)
				case s.tls:
					return []string{self, "-standard", "127.0.0.1:" + port, files.cert, files.key}
				}
				return []string{loop, port}
			})
			if err != nil {
				return err
			}
			own, err := run(s, d, roots, func(port string) []string { return s.command(ours, port, files) })
			if err != nil {
				return err
			}
			ratios, least, mine = append(ratios, own/bare), append(least, bare), append(mine, own)
		}
		low, mid, high := quartiles(ratios)
		_, bare, _ := quartiles(least)
		_, own, _ := quartiles(mine)
		fmt.Printf("%-50s %.3f (%.3f, %.3f) of %.0f ns a message: %.0f ns; aim %.2f, must %.2f\n", s.name, mid, low, high, bare, own, s.aim, s.must)
	}
	return nil
}

// command is the command of a build of examples/echo.
func (s shape) command(build, port string, files *secrets) []string {
	args := []string{build, "-addr", "127.0.0.1:" + port, "-workers", "1"}
	if s.tls {
		args = append(args, "-tls-cert", files.cert, "-tls-key", files.key)
	}
	if s.frames {
		args = append(args, "-length", strconv.Itoa(s.size))
	}
	return args
}

func quartiles(all []float64) (low, mid, high float64) {
	all = slices.Sorted(slices.Values(all))
	at := func(q int) float64 { return all[(len(all)-1)*q/4] }
	return at(1), at(2), at(3)
}

// run starts a server, loads it, and returns its CPU time a message, ns.
func run(s shape, d time.Duration, roots *x509.CertPool, command func(port string) []string) (ns float64, err error) {
	port, err := freePort()
	if err != nil {
		return 0, err
	}
	server := exec.Command("taskset", append([]string{"-c", "0"}, command(port)...)...)
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	l, err := newLoad(s, "127.0.0.1:"+port, roots)
	if err != nil {
		return 0, err
	}
	defer l.close()
	if _, err = l.run(d / 4); err != nil { // to warm up
		return 0, err
	}
	before, err := cpuTime(server.Process.Pid)
	if err != nil {
		return 0, err
	}
	messages, err := l.run(d)
	if err != nil {
		return 0, err
	}
	after, err := cpuTime(server.Process.Pid)
	if err != nil {
		return 0, err
	}
	if messages == 0 {
		return 0, errors.New("the server has sent nothing back")
	}
	return float64(after-before) / float64(messages), nil
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// cpuTime returns the CPU time of all threads of a process, ns.
func cpuTime(pid int) (ns int64, err error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	for _, name := range tasks {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		n, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			return 0, err
		}
		ns += n
	}
	return ns, nil
}
