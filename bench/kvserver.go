package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// errBuild: the server doesn't compile.
var errBuild = errors.New("can't build examples/kv")

// server is examples/kv in a process of its own.
type server struct {
	command *exec.Cmd
	cancel  context.CancelFunc
	address string
	log     bytes.Buffer  // the beginning of what it said; written before ended
	ended   chan struct{} // closed when the process has closed its log
}

// logMax bounds what is kept of the server's log, bytes.
const logMax = 64 << 10

// startServer builds the server into dir and runs it on a free port.
func startServer(dir string, workers int) (*server, error) {
	program := filepath.Join(dir, "kv")
	build := exec.Command("go", "build", "-o", program, "github.com/stackhouse-go/stackhouse/examples/kv")
	if said, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %v\n%s", errBuild, err, bytes.TrimSpace(said))
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{cancel: cancel, ended: make(chan struct{})}
	s.command = exec.CommandContext(ctx, program, "-addr", "127.0.0.1:0", "-workers", strconv.Itoa(workers), "-drain", "5s")
	s.command.Cancel = func() error { return s.command.Process.Signal(syscall.SIGTERM) }
	s.command.WaitDelay = grace
	out, err := s.command.StderrPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		cancel()
		return nil, err
	}
	if err := s.listen(out); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// listen reads the server's log up to the line with its address.
func (s *server) listen(log io.Reader) error {
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		s.log.WriteString(line)
		if _, after, ok := strings.Cut(line, "address="); ok {
			s.address, _, _ = strings.Cut(strings.TrimSpace(after), " ")
			go s.keep(lines)
			return nil
		}
		if err != nil {
			close(s.ended)
			return errors.New("the server didn't say where it listens")
		}
	}
}

// keep reads the rest of the log, so that the server never waits to write it.
func (s *server) keep(lines io.Reader) {
	defer close(s.ended)
	io.Copy(&s.log, io.LimitReader(lines, logMax))
	io.Copy(io.Discard, lines)
}

// stop has the server drain and waits for its end.
func (s *server) stop() error {
	s.cancel()
	<-s.ended
	if err := s.command.Wait(); s.command.ProcessState == nil || !s.command.ProcessState.Success() {
		return fmt.Errorf("the server ended badly: %w\n%s", err, s.log.String())
	}
	return nil
}

// ticks is USER_HZ: what the kernel counts CPU time in, per second, for all
// architectures that Go runs on.
const ticks = 100

// cpu returns the CPU time that the server has taken, in steps of 10 ms; 0 where there is no /proc.
func (s *server) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.command.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(stat, []byte(") ")) // the name may hold spaces
	fields := strings.Fields(string(rest))      // from the third on: see proc(5)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticks
}

// control is the connection that reads what the server counts.
type control struct {
	conn  net.Conn
	lines *bufio.Reader
}

func dialControl(address string) (*control, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &control{conn, bufio.NewReader(conn)}, nil
}

// memory asks for INFO.
func (c *control) memory() (m memory, err error) {
	c.conn.SetDeadline(time.Now().Add(grace))
	if _, err = io.WriteString(c.conn, "INFO\r\n"); err != nil {
		return m, err
	}
	head, err := c.lines.ReadString('\n')
	if err != nil {
		return m, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "$")))
	if err != nil {
		return m, fmt.Errorf("INFO: %q", head)
	}
	text := make([]byte, n+len("\r\n"))
	if _, err = io.ReadFull(c.lines, text); err != nil {
		return m, err
	}
	return parseInfo(string(text))
}

func parseInfo(text string) (m memory, err error) {
	m.pauses = unknown
	fields := map[string]*uint64{"mallocs": &m.mallocs, "collections": &m.gcs, "heap_bytes": &m.bytes}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if field := fields[name]; field != nil {
			if *field, err = strconv.ParseUint(value, 10, 64); err != nil {
				return m, fmt.Errorf("INFO: %w", err)
			}
			delete(fields, name)
		}
	}
	if len(fields) > 0 {
		return m, fmt.Errorf("INFO lacks some of mallocs, collections and heap_bytes:\n%s", text)
	}
	return m, nil
}
