package house

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// bindThread has the calling thread run on one CPU only.
func bindThread(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if !set.IsSet(cpu) { // beyond the 1,024 that a set can hold
		return fmt.Errorf("CPU %d: %w", cpu, unix.EINVAL)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("CPU %d: %w", cpu, err)
	}
	return nil
}

// checkCPUs returns an error that names a CPU which the process may not use. It tries each, as only
// the kernel knows: a thread's own set says where it runs, not where it may be bound.
func checkCPUs(cpus []int) (err error) {
	if len(cpus) == 0 {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("CPUs: %w", err)
	}
	defer func() {
		if e := unix.SchedSetaffinity(0, &before); err == nil && e != nil {
			err = fmt.Errorf("CPUs: %w", e)
		}
	}()
	for _, cpu := range cpus {
		if err := bindThread(cpu); err != nil {
			return fmt.Errorf("the process may not use %w", err)
		}
	}
	return nil
}

// nameThread names the calling thread, for top -H and profilers. The main thread's
// name is the process's and stays. A thread without its name works as well.
func nameThread(name string) {
	if unix.Gettid() != unix.Getpid() {
		_ = os.WriteFile("/proc/thread-self/comm", []byte(name), 0)
	}
}
