package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// server is a process of the service.
type server struct {
	cmd     *exec.Cmd
	address string
	ended   chan struct{}
	exit    error // once ended is closed

	mu  sync.Mutex
	log []string // its last lines
}

// launch runs the service on a port that the system picks, which its log has.
func launch(binary string, args ...string) (*server, <-chan string, error) {
	s := &server{cmd: exec.Command(binary, append([]string{"-addr", "127.0.0.1:0"}, args...)...), ended: make(chan struct{})}
	out, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, nil, err
	}
	address := make(chan string, 1)
	go func() {
		s.read(out, address)
		s.exit = s.cmd.Wait()
		close(s.ended)
	}()
	return s, address, nil
}

// read keeps the last lines, and tells the address.
func (s *server) read(out io.Reader, address chan<- string) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		if _, at, ok := strings.Cut(line, "listens address="); ok {
			address <- strings.Fields(at)[0]
		}
		s.mu.Lock()
		s.log = append(s.log[max(0, len(s.log)-50):], line)
		s.mu.Unlock()
	}
}

// start launches and waits until the service listens, which it does when it has loaded.
func start(ctx context.Context, binary string, args ...string) (*server, error) {
	s, address, err := launch(binary, args...)
	if err != nil {
		return nil, err
	}
	select {
	case s.address = <-address:
		return s, nil
	case <-s.ended:
		return nil, fmt.Errorf("the service ended: %v\n%s", s.exit, s.tail())
	case <-ctx.Done():
		s.kill()
		return nil, fmt.Errorf("the service doesn't listen: %w\n%s", ctx.Err(), s.tail())
	}
}

func (s *server) tail() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

// kill is kill -9.
func (s *server) kill() {
	s.cmd.Process.Signal(os.Kill) // an error means that it has ended
	<-s.ended
}

// stop is SIGTERM; the service must leave with code 0.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-s.ended
	if s.exit != nil {
		return fmt.Errorf("after SIGTERM: %w\n%s", s.exit, s.tail())
	}
	return nil
}

// alive reports whether it has not ended.
func (s *server) alive() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}
