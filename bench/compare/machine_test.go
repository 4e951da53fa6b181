package main

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestBusy(t *testing.T) {
	const stat = "cpu  100 20 30 9000 800 4 5 6 50 7\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
	if got := busy([]byte(stat)); got != 165*tick {
		t.Errorf("busy for %v, not %v", got, 165*tick)
	}
	for _, bad := range []string{"", "cpu 1 2 3", "cpu a b c d e f g h i j", "intr 1 2 3 4 5 6 7 8 9 10"} {
		if got := busy([]byte(bad)); got != 0 {
			t.Errorf("%q: busy for %v", bad, got)
		}
	}
}

func TestOthers(t *testing.T) {
	start := time.Unix(1, 0)
	all := time.Duration(runtime.NumCPU()) * 10 * time.Second
	before := machine{start, time.Hour, time.Minute}
	for _, c := range []struct {
		busy, own time.Duration
		want      string
	}{
		{all, all, "took 0 %"},
		{all / 2, all, "took 0 %"}, // the two clocks differ a little
		{all, all / 2, "took 50 % of the CPUs: too much"},
		{all / 20, 0, "took 5 % of the CPUs"},
	} {
		after := machine{start.Add(10 * time.Second), before.busy + c.busy, before.own + c.own}
		if got := after.describe(before); !strings.Contains(got, c.want) {
			t.Errorf("%v busy, %v own: %s", c.busy, c.own, got)
		}
	}
	if got := (machine{}).describe(before); !strings.Contains(got, "not known") {
		t.Error(got)
	}
	if m := readMachine(); m.own <= 0 || m.busy < 0 {
		t.Errorf("%+v", m)
	}
}
