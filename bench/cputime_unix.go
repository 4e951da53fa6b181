//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return unknown
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
