package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestDial(t *testing.T) {
	var out bytes.Buffer
	if err := dials(&out, small); err != nil {
		t.Fatal(err)
	}
	for _, l := range dialLoads {
		// the legend has one
		if n := strings.Count(out.String(), "\n"+l.name+" "); n != 2*len(dialSpins)+1 {
			t.Errorf("%d rows of %s in\n%s", n, l.name, out.String())
		}
	}
	for _, want := range []string{"none", "1ms", " yes ", " no ", "CPU/op"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// A load that is paced does no more than was due, and its latencies begin then.
func TestPaced(t *testing.T) {
	o := small
	o.spin = -1
	r, err := paced(o)
	if err != nil {
		t.Fatal(err)
	}
	if r.ops == 0 || r.ops > 1+uint64(r.elapsed/pace) {
		t.Errorf("%d asks in %v, one is due every %v", r.ops, r.elapsed, pace)
	}
	if r.p[0] <= 0 || !slices.IsSorted(r.p[:]) || r.p[3] > int64(r.elapsed)*33/32 {
		t.Errorf("p50, p99, p99.9 and max are %v in %v", r.p, r.elapsed)
	}
}
