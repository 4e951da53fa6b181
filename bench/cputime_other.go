//go:build !unix

package main

import "time"

// cpuTime returns the CPU time that this process has used.
func cpuTime() time.Duration { return unknown }
