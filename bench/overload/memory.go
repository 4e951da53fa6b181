package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"
)

// meter looks how much memory a process has.
type meter struct {
	pid   int
	stop  chan struct{}
	done  chan struct{}
	pages []int64
}

func watch(pid int) *meter {
	m := &meter{pid: pid, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(m.done)
		for {
			m.look()
			select {
			case <-m.stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return m
}

func (m *meter) look() {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", m.pid))
	var size, resident int64
	if err == nil {
		if _, err = fmt.Sscan(string(text), &size, &resident); err == nil {
			m.pages = append(m.pages, resident)
		}
	}
}

// end returns the most that was resident in each half of the time, bytes.
func (m *meter) end() (first, second int64) {
	close(m.stop)
	<-m.done
	for i, n := range m.pages {
		n *= int64(os.Getpagesize())
		if i < len(m.pages)/2 {
			first = max(first, n)
		} else {
			second = max(second, n)
		}
	}
	return first, second
}

// processor returns the time of a processor that a process has had, in the kernel's ticks of 10 ms.
func processor(pid int) time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	var user, system int64
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) > 12 {
		fmt.Sscan(fields[11], &user)
		fmt.Sscan(fields[12], &system)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
