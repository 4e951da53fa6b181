package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// cluster is a PostgreSQL server of this machine, by its data folder.
type cluster struct {
	data  string
	start []string // command
}

// pid returns the server's main process.
func (c cluster) pid() (int, error) {
	text, err := os.ReadFile(filepath.Join(c.data, "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(line)
}

// signal sends to the main process and its children.
func (c cluster) signal(sig syscall.Signal) error {
	pid, err := c.pid()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, sig); err != nil { // first: one that has stopped begets no more
		return err
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return err
	}
	for _, child := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			syscall.Kill(n, sig) // one that has ended meanwhile needs none
		}
	}
	return nil
}

// pause stops all its processes where they stand; connections stay open, and nobody answers.
func (c cluster) pause() outage {
	return outage{
		name: "PostgreSQL stopped by SIGSTOP",
		down: func() error { return c.signal(syscall.SIGSTOP) },
		up:   func() error { return c.signal(syscall.SIGCONT) },
	}
}

// crash is an immediate shutdown, without a checkpoint, and a start that recovers.
func (c cluster) crash() outage {
	return outage{
		name: "PostgreSQL shut down immediately",
		down: func() error {
			pid, err := c.pid()
			if err != nil {
				return err
			}
			return syscall.Kill(pid, syscall.SIGQUIT)
		},
		up: func() error {
			if out, err := exec.Command(c.start[0], c.start[1:]...).CombinedOutput(); err != nil {
				return fmt.Errorf("%v: %w\n%s", c.start, err, out)
			}
			return nil
		},
	}
}
