package measure

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTally(t *testing.T) {
	bad := errors.New("bad")
	for _, c := range []struct {
		name string
		do   func(t *Tally)
		want error
	}{
		{"right", func(t *Tally) { t.Report(2); t.Report(4) }, nil},
		{"mangled", func(t *Tally) { t.Report(2); t.Report(5) }, ErrWrong},
		{"lost in a share", func(t *Tally) { t.Report(2); t.Report(0) }, ErrWrong},
		{"doubled", func(t *Tally) { t.Report(4); t.Report(4) }, ErrWrong},
		{"failed", func(t *Tally) { t.Report(2); t.Fail(bad); t.Fail(ErrWrong) }, bad},
		{"failed at the end", func(t *Tally) { t.Report(2); t.Fail(bad); t.Report(4) }, bad},
	} {
		tally := NewTally(2)
		c.do(tally)
		if err := tally.Wait(6); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestTallyMissesReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tally := NewTally(3)
		tally.Report(1)
		if err := tally.Wait(1); err == nil || !strings.Contains(err.Error(), "2 reports are missing") {
			t.Errorf("got %v", err)
		}
	})
}

func TestArithmetic(t *testing.T) {
	for n := range 100 {
		sum := uint64(0)
		for i := range n {
			sum += uint64(i + 1)
		}
		if Sum(n) != sum {
			t.Errorf("Sum(%d) is %d, not %d", n, Sum(n), sum)
		}
	}
	for _, c := range []struct{ n, trees, leaves int }{
		{1, 1, 10}, {10, 1, 10}, {99, 9, 10}, {100, 1, 100}, {20_000, 2, 10_000}, {300_000, 3, 100_000}, {1_000_000, 10, 100_000},
	} {
		if trees, leaves := Trees(c.n); trees != c.trees || leaves != c.leaves {
			t.Errorf("Trees(%d): %d of %d, want %d of %d", c.n, trees, leaves, c.trees, c.leaves)
		}
	}
	if LeafSum(10) != 45 {
		t.Errorf("LeafSum(10) is %d", LeafSum(10))
	}
}

// A run is done twice, the second time counts, and all is closed at the end.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		latencies := NewLatencies(2)
		r, err := Run(func() (*Work, error) {
			return &Work{
				Latencies: latencies,
				Do: func(n int) (int, error) {
					events = append(events, "do")
					nap := time.Duration(4-len(events)) * time.Millisecond // 3, then 2
					for i := range uint64(n) {
						from := latencies.Begin(i)
						time.Sleep(nap)
						latencies.End(from)
					}
					return n + 1, nil
				},
				Close:   func() error { events = append(events, "close"); return nil },
				Retries: func() uint64 { return 7 },
			}, nil
		}, 4)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(events, " "); got != "do do close" {
			t.Errorf("events: %s", got)
		}
		if r.Ops != 5 || r.Ns != 8e6 || r.Retries != 7 || r.Mallocs == nil || r.Bytes != 0 {
			t.Errorf("%+v", r)
		}
		if p := r.P[0]; p < 2e6 || p > 2.1e6 {
			t.Errorf("p50 is %d ns", p)
		}
	})
}

func TestRunFails(t *testing.T) {
	bad := errors.New("bad")
	for name, start := range map[string]Make{
		"make": func() (*Work, error) { return nil, bad },
		"do":   func() (*Work, error) { return &Work{Do: func(int) (int, error) { return 0, bad }}, nil },
		"close": func() (*Work, error) {
			return &Work{Do: func(n int) (int, error) { return n, nil }, Close: func() error { return bad }}, nil
		},
	} {
		if _, err := Run(start, 1); !errors.Is(err, bad) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
