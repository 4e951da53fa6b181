package main

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/bench/compare/erlang"
)

// Every library does every workload that it says it has: the sums are checked where they
// are made.
func TestWorkloads(t *testing.T) {
	if erlang.Present() {
		remove, err := erlang.Prepare()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(remove) // when all subtests have ended
	}
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			if l.name == "erlang" && !erlang.Present() {
				t.Skip(erlang.ErrMissing)
			}
			for _, w := range workloads {
				if !l.has(w.name) {
					continue
				}
				t.Run(w.name, func(t *testing.T) {
					if l.name == "erlang" {
						t.Parallel() // a process of its own, slow to start
					}
					r, err := l.run(w.name, 200)
					if err != nil {
						t.Fatal(err)
					}
					if r.Ops < 1 || r.Ops > 2000 || r.Ns <= 0 {
						t.Errorf("%d operations in %d ns", r.Ops, r.Ns)
					}
				})
			}
		})
	}
}

// What is compared is there: channels and every actor library have all workloads.
func TestNobodyLeavesWorkloadsOut(t *testing.T) {
	for _, l := range libraries {
		for _, w := range workloads {
			if (l.actors || l.name == baseline) && !l.has(w.name) {
				t.Errorf("%s has no %s", l.name, w.name)
			}
		}
		if l.has("nothing") {
			t.Errorf("%s has what there isn't", l.name)
		}
		if _, err := l.run("nothing", 1); err == nil {
			t.Errorf("%s ran what there isn't", l.name)
		}
	}
}

// An idle actor has a size, and a round trip a time. As in a comparison each run has a
// process of its own: what ended runs leave behind, timers that hold a whole actor system
// for seconds, would go while the size is taken, which then is below zero.
func TestWhatIsMeasured(t *testing.T) {
	t.Setenv("STACKHOUSE_COMPARE_CHILD", "yes")
	for _, l := range libraries[:2] {
		r, err := inProcess(l, variant{}, "spawn", 2000)
		if err != nil {
			t.Fatal(err)
		}
		if r.Bytes < 50 || r.Bytes > 20_000 {
			t.Errorf("%s: %d bytes an actor", l.name, r.Bytes)
		}
		if r, err = inProcess(l, variant{}, "pingpong-1", 1000); err != nil {
			t.Fatal(err)
		}
		if r.P[0] <= 0 || r.P[1] < r.P[0] || r.P[2] < r.P[1] {
			t.Errorf("%s: p50, p99 and p99.9 are %v", l.name, r.P)
		}
	}
}
