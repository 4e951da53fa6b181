package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// kind is one way to serve.
type kind struct {
	name    string
	workers int // of kv; 0: redis-server
}

var (
	kvOne = kind{"kv", 1}
	kvTwo = kind{"kv, two workers", 2}
	redis = kind{"redis-server", 0}
)

// patience is how long a server may take to start, to answer and to end.
const patience = 10 * time.Second

// server is a process.
type server struct {
	command *exec.Cmd
	port    string
	log     *tail
}

// tail keeps what a process says: the last logMax bytes.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const logMax = 64 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if len(t.text) > 2*logMax {
		t.text = append(t.text[:0], t.text[len(t.text)-logMax:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// start runs a server of that kind and waits until it answers.
func start(o options, k kind, dir string, env ...string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cpus := o.server
	args := []string{"redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", dir}
	if k.workers > 0 {
		args = []string{o.kv, "-addr", "127.0.0.1:" + port, "-workers", strconv.Itoa(k.workers)}
	}
	if k.workers > 1 {
		cpus = o.both
	}
	s := &server{port: port, log: &tail{}}
	s.command = exec.Command("taskset", append([]string{"-c", cpus}, args...)...)
	s.command.Stdout, s.command.Stderr = s.log, s.log
	s.command.Env = append(os.Environ(), env...)
	s.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		reply, err := s.ask("PING")
		if err == nil && reply == "+PONG" {
			return s, nil
		}
		if time.Now().After(end) {
			return nil, errors.Join(fmt.Errorf("%s doesn't answer: %v\n%s", k.name, err, s.log), s.stop())
		}
	}
}

// freePort returns a port that was free a moment ago.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// stop ends the server and waits for its end. It holds nothing.
func (s *server) stop() error {
	s.command.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(patience, func() { s.command.Process.Kill() })
	defer timer.Stop()
	err := s.command.Wait()
	if err != nil {
		return fmt.Errorf("a server ended badly: %w\n%s", err, s.log)
	}
	return nil
}

func (s *server) address() string { return net.JoinHostPort("127.0.0.1", s.port) }

// ask sends one request and returns its reply: a line, or a bulk string.
func (s *server) ask(request string) (string, error) {
	conn, err := net.DialTimeout("tcp", s.address(), patience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return "", err
	}
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	line = strings.TrimSpace(line)
	if err != nil || !strings.HasPrefix(line, "$") {
		return line, err
	}
	n, err := strconv.Atoi(line[1:])
	if err != nil || n < 0 {
		return "", fmt.Errorf("%s: %q", request, line)
	}
	text := make([]byte, n)
	_, err = io.ReadFull(in, text)
	return string(text), err
}

// info returns the counters of INFO. Those that aren't there are missing.
func (s *server) info() (map[string]float64, error) {
	text, err := s.ask("INFO")
	if err != nil {
		return nil, err
	}
	return parseInfo(text), nil
}

func parseInfo(text string) map[string]float64 {
	counters := map[string]float64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			counters[name] = n
		}
	}
	return counters
}

// usage is what the kernel has counted of a process.
type usage struct {
	cpu      time.Duration
	switches float64 // times that a thread went to sleep
}

// usage sums over the threads. Those that have ended are missing; both servers keep
// theirs.
func (s *server) usage() (u usage, err error) {
	folder := fmt.Sprintf("/proc/%d/task", s.command.Process.Pid)
	tasks, err := os.ReadDir(folder)
	if err != nil {
		return u, err
	}
	for _, t := range tasks {
		stat, err := os.ReadFile(folder + "/" + t.Name() + "/schedstat")
		if err != nil {
			return u, err
		}
		onCPU, _, _ := bytes.Cut(stat, []byte(" "))
		ns, err := strconv.ParseInt(string(onCPU), 10, 64)
		if err != nil {
			return u, fmt.Errorf("schedstat: %w", err)
		}
		u.cpu += time.Duration(ns)
		status, err := os.ReadFile(folder + "/" + t.Name() + "/status")
		if err != nil {
			return u, err
		}
		u.switches += parseStatus(string(status))["voluntary_ctxt_switches"]
	}
	return u, nil
}

// resident returns the process's resident memory in bytes.
func (s *server) resident() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	return parseStatus(string(status))["VmRSS"] * 1024, err
}

// parseStatus reads /proc/PID/status; sizes are in KiB.
func parseStatus(text string) map[string]float64 {
	fields := map[string]float64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		if n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64); err == nil {
			fields[name] = n
		}
	}
	return fields
}
