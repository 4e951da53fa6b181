package house_test

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// ran is where a step ran.
type ran struct {
	thread int
	name   string
	cpus   unix.CPUSet
}

// whereSteps asks an actor on each worker where its steps run.
func whereSteps(t *testing.T, sys *house.System) []ran {
	t.Helper()
	all := make([]ran, len(sys.Workers()))
	for i, w := range sys.Workers() {
		_, p := spawn(w)
		_, err := core.Ask(t.Context(), p, func(s *task) core.Yield {
			all[i] = here(t)
			return s.Return(0)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func here(t *testing.T) (r ran) {
	name, err := os.ReadFile("/proc/thread-self/comm")
	if err == nil {
		err = unix.SchedGetaffinity(0, &r.cpus)
	}
	if err != nil {
		t.Error(err)
	}
	r.thread, r.name = unix.Gettid(), strings.TrimSpace(string(name))
	return r
}

// cpusOf returns the numbers in a set.
func cpusOf(set unix.CPUSet) (all []int) {
	for i := range 1024 {
		if set.IsSet(i) {
			all = append(all, i)
		}
	}
	return all
}

// TestLockThreads: each worker has a thread of its own, that a step may rely on. It
// ends with the worker.
func TestLockThreads(t *testing.T) {
	sys := newSystem(t, house.Config{Workers: 3, LockThreads: true})
	if err := sys.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := whereSteps(t, sys)
	threads := map[int]bool{}
	for i, at := range first {
		threads[at.thread] = true
		if want := fmt.Sprintf("worker %d", i); at.name != want && at.thread != unix.Getpid() {
			t.Errorf("worker %d runs on thread %q, want %q", i, at.name, want)
		}
	}
	if len(threads) != 3 {
		t.Errorf("3 workers run on %d threads", len(threads))
	}
	for range 100 {
		for i, at := range whereSteps(t, sys) {
			if at.thread != first[i].thread {
				t.Fatalf("worker %d ran on thread %d, then on %d", i, first[i].thread, at.thread)
			}
		}
	}

	// A step that ends its goroutine ends the thread; the worker goes on on another.
	_, p := spawn(sys.Workers()[1])
	if _, err := core.Ask(t.Context(), p, func(*task) core.Yield { runtime.Goexit(); return core.Yield{} }); err == nil {
		t.Error("a step without an end answered")
	}
	after := whereSteps(t, sys)
	if after[0].thread != first[0].thread || after[1].thread == first[1].thread {
		t.Errorf("threads %v, then %v", first, after)
	}
	if err := shutdown(sys); err != nil {
		t.Error(err)
	}
	balanced(t, sys)
	for _, at := range append(first, after...) {
		wantEnded(t, at.thread)
	}
}

// wantEnded waits for the end of a thread. The main thread is put aside instead.
func wantEnded(t *testing.T, thread int) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); thread != unix.Getpid(); runtime.Gosched() {
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", thread)); os.IsNotExist(err) {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("thread %d hasn't ended", thread)
		}
	}
}

// TestCPUs: worker i runs on CPUs[i%len(CPUs)], and after a step has ended its goroutine too.
func TestCPUs(t *testing.T) {
	runtime.LockOSThread() // Start must leave it as it was
	defer runtime.UnlockOSThread()
	before := cpusOf(here(t).cpus)
	for _, cpus := range [][]int{before[:1], before[len(before)-1:], before[:min(2, len(before))]} {
		sys := started(t, house.Config{Workers: 3, CPUs: cpus})
		for range 2 {
			for i, at := range whereSteps(t, sys) {
				if got, want := cpusOf(at.cpus), cpus[i%len(cpus)]; len(got) != 1 || got[0] != want {
					t.Errorf("CPUs %v: worker %d runs on %v, want %d", cpus, i, got, want)
				}
			}
			_, p := spawn(sys.Workers()[2])
			if _, err := core.Ask(t.Context(), p, func(*task) core.Yield { runtime.Goexit(); return core.Yield{} }); err == nil {
				t.Error("a step without an end answered")
			}
		}
		if got := cpusOf(here(t).cpus); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Fatalf("who called Start runs on %v now, before on %v", got, before)
		}
	}
}

// TestStartWithACPUNotAllowed: nothing starts, and nothing is lost.
func TestStartWithACPUNotAllowed(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := cpusOf(here(t).cpus)
	for _, cpu := range []int{1023, 1024, math.MaxInt} {
		open := descriptors(t)
		sys := newSystem(t, house.Config{Workers: 2, CPUs: []int{before[0], cpu}})
		err := sys.Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("CPU %d", cpu)) {
			t.Errorf("error %v, want one that names CPU %d", err, cpu)
		}
		if err := shutdown(sys); err != nil {
			t.Error(err)
		}
		if n := descriptors(t); n != open {
			t.Errorf("%d descriptors, %d before", n, open)
		}
		if got := cpusOf(here(t).cpus); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Fatalf("who called Start runs on %v now, before on %v", got, before)
		}
	}
}
