package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// machine is what the computer had done up to a moment.
type machine struct {
	at   time.Time
	busy time.Duration // of all processors, stolen time included; 0: not known
	own  time.Duration // by this process and its children
}

func readMachine() machine {
	text, _ := os.ReadFile("/proc/stat")
	return machine{time.Now(), busy(text), cpuTime(syscall.RUSAGE_SELF) + cpuTime(syscall.RUSAGE_CHILDREN)}
}

// tick is the unit of /proc/stat.
const tick = time.Second / 100

// busy sums the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq,
// steal, and two more that user and nice contain.
func busy(stat []byte) (sum time.Duration) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := strings.Fields(string(line))
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0
	}
	for i, f := range fields[1:9] {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0
		}
		if i != 3 && i != 4 { // idle, iowait
			sum += time.Duration(n) * tick
		}
	}
	return sum
}

func cpuTime(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// others returns the share of the processors that other processes took since before.
func (m machine) others(before machine) float64 {
	foreign := (m.busy - before.busy) - (m.own - before.own)
	return max(0, foreign.Seconds()/m.at.Sub(before.at).Seconds()/float64(runtime.NumCPU()))
}

// describe says how quiet the machine was.
func (m machine) describe(before machine) string {
	if m.busy == 0 {
		return "what else ran is not known"
	}
	text := fmt.Sprintf("other processes took %.0f %% of the CPUs", 100*m.others(before))
	if m.others(before) > 0.1 {
		text += ": too much for figures to rely on"
	}
	return text
}
