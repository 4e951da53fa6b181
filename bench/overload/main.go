package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	peakTime   = 3 * time.Second
	leastShare = 0.8 // of the peak
	memoryMax  = 128 << 20
)

func main() {
	serves := flag.Bool("serve", false, "be the server")
	mailbox := flag.Int("mailbox", 1024, "messages that may wait for the server's actor")
	seconds := flag.Int("seconds", 15, "how long the overload lasts")
	flag.Parse()
	var err error
	if *serves {
		err = serve(*mailbox)
	} else {
		err = judge(flag.Args(), time.Duration(*seconds)*time.Second)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "overload:", err)
		os.Exit(1)
	}
}

// judge starts the server by command, loads it, and says what became of it.
func judge(command []string, d time.Duration) (err error) {
	if len(command) == 0 {
		return errors.New("the server's command is missing")
	}
	server := exec.Command(command[0], command[1:]...)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended {
			server.Process.Kill()
			err = errors.Join(err, server.Wait())
		}
	}()
	lines := bufio.NewReader(out)
	address, err := lines.ReadString('\n')
	if err != nil {
		return fmt.Errorf("the server says no address: %w", err)
	}
	address = strings.TrimSpace(address)

	idle := processor(server.Process.Pid)
	calm, err := run(address, closed(peakTime))
	if err != nil {
		return fmt.Errorf("peak: %w", err)
	}
	peak := float64(calm.good.Load()) / peakTime.Seconds()
	between := processor(server.Process.Pid)
	m := watch(server.Process.Pid)
	storm, err := run(address, open(d, 2*peak))
	first, second := m.end()
	atEnd := processor(server.Process.Pid)
	if err != nil {
		return fmt.Errorf("overload: %w", err)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	var c counts
	if err := json.NewDecoder(lines).Decode(&c); err != nil {
		return fmt.Errorf("the server's counts: %w", err)
	}
	ended = true
	if err := server.Wait(); err != nil {
		return err
	}
	good := float64(storm.good.Load()) / d.Seconds()
	full, late := calm.got[codeFull].Load()+storm.got[codeFull].Load(), calm.got[codeLate].Load()+storm.got[codeLate].Load()
	odd := calm.got[codeOdd].Load() + storm.got[codeOdd].Load()
	fmt.Printf("peak %.0f/s; offered %.0f/s for %v; goodput %.0f/s, %.1f %% of the peak\n", peak, float64(storm.sent.Load())/d.Seconds(), d, good, 100*good/peak)
	fmt.Printf("the server had %.0f %% of a processor at the peak, %.0f %% in the overload: less of it is the machine's doing\n",
		100*(between-idle).Seconds()/peakTime.Seconds(), 100*(atEnd-between).Seconds()/d.Seconds())
	fmt.Printf("refused: %d for want of room, %d late; the server counted %d and %d; %d handlers began, %d late by the worker's clock, %d by a later reading\n",
		full, late, c.Full, c.Late, c.Begun, c.BegunLate, c.Slipped)
	fmt.Printf("resident at most %.1f MiB in the first half, %.1f in the second\n", float64(first)/(1<<20), float64(second)/(1<<20))
	var errs []error
	fails := func(when bool, format string, args ...any) {
		if when {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	fails(good < leastShare*peak, "goodput is below %.0f %% of the peak", 100*leastShare)
	fails(float64(storm.sent.Load()) < 1.9*peak*d.Seconds(), "the load was less than twice the peak")
	fails(full == 0, "nothing was refused: that was no overload")
	fails(full != c.Full || late != c.Late || odd != 0, "refusals differ, or %d requests ended oddly", odd)
	fails(c.BegunLate != 0, "%d handlers began after their deadline", c.BegunLate)
	fails(min(first, second) == 0, "the resident memory wasn't seen")
	fails(max(first, second) > memoryMax || second > first+first/10+2<<20, "memory isn't flat, or above %d MiB", memoryMax>>20)
	return errors.Join(errs...)
}
