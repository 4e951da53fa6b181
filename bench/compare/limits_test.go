package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

func at(workload, library string, factor float64) row {
	nan := spread{math.NaN(), math.NaN()}
	return row{workload: workload, library: library, factor: spread{median: factor}, factor50: nan}
}

func TestCheck(t *testing.T) {
	fast := at("ask-guest", ours, 0.9)
	fast.factor50 = spread{median: 1.01}
	for _, c := range []struct {
		name      string
		workloads string
		rows      []row
		missed    string // parts of the lines that say so
		unknown   int
	}{
		{"good", "tell-actor", []row{at("tell-actor", ours, 0.35), at("tell-actor", "protoactor", 2), at("tell-actor", "erlang", 0.36)}, "", 0},
		{"over a limit", "tell-actor", []row{at("tell-actor", ours, 0.36), at("tell-actor", "protoactor", 2), at("tell-actor", "erlang", 2)},
			"tell-actor mean 0.36 of channels, at most 0.35", 0},
		{"p50", "ask-guest", []row{fast, at("ask-guest", "protoactor", 2), at("ask-guest", "erlang", 2)},
			"ask-guest p50 1.01 of channels, at most 1.00", 0},
		{"behind a rival", "timers", []row{at("timers", ours, 2), at("timers", "protoactor", 2), at("timers", "erlang", 3)},
			"timers mean 2.00 of channels, protoactor 2.00", 0},
		{"behind a peer", "tell-1-1", []row{at("tell-1-1", ours, 1.6), at("tell-1-1", "protoactor", 2), at("tell-1-1", "erlang", 3)},
			"tell-1-1 mean 1.60 of channels, Hollywood in November 2026 1.50", 0},
		{"no Erlang", "timers", []row{at("timers", ours, 1), at("timers", "protoactor", 2)}, "", 1},
		{"no channels", "timers", []row{at("timers", ours, math.NaN()), at("timers", "protoactor", math.NaN()), at("timers", "erlang", math.NaN())}, "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			err := check(&out, all(t, 1, c.workloads, ""), c.rows)
			if (c.missed != "") != errors.Is(err, errMissed) {
				t.Errorf("got %v", err)
			}
			var missed []string
			for text := range strings.Lines(out.String()) {
				if line, ok := strings.CutPrefix(text, "MISSED "); ok {
					missed = append(missed, strings.Join(strings.Fields(line), " "))
				}
			}
			if got := strings.Join(missed, "\n"); got != c.missed {
				t.Errorf("missed %q, want %q", got, c.missed)
			}
			if want := fmt.Sprintf("%d not measured", c.unknown); !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		})
	}
}

// What a peer did here counts. What it did once counts where it did nothing here.
func TestMeasuredPeerIsNotDated(t *testing.T) {
	const then, now = "tell-1-1 mean 1.60 of channels, Hollywood in November 2026 1.50", "tell-1-1 mean 1.60 of channels, hollywood "
	o := options{hollywood: "source", reps: 1, seconds: 1}
	if err := o.choose("tell-1-1", "stackhouse,hollywood"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		rows  []row
		lines []string
	}{
		{"ahead", []row{at("tell-1-1", hollywood, 1.7)}, []string{"ok " + now + "1.70"}},
		{"behind", []row{at("tell-1-1", hollywood, 1.4)}, []string{"MISSED " + now + "1.40"}},
		{"failed", nil, []string{"- " + now + "0.00", "MISSED " + then}},
		{"no factor", []row{at("tell-1-1", hollywood, math.NaN())}, []string{"- " + now + "NaN", "MISSED " + then}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			// what it prints says more
			_ = check(&out, o, append(c.rows, at("tell-1-1", ours, 1.6)))
			var lines []string
			for text := range strings.Lines(out.String()) {
				if strings.Contains(text, "ollywood") {
					lines = append(lines, strings.Join(strings.Fields(text), " "))
				}
			}
			if !slices.Equal(lines, c.lines) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(c.lines, "\n"))
			}
		})
	}
}

// A limit of what isn't there would never be missed.
func TestLimitsAreOfWorkloads(t *testing.T) {
	var named []string
	for _, l := range limits {
		named = append(named, l.workload)
	}
	for _, p := range peers {
		for w := range p.factors {
			named = append(named, w)
		}
	}
	for _, name := range named {
		if _, err := pick(workloads, func(w workload) string { return w.name }, name, "workload"); err != nil {
			t.Error(err)
		}
	}
}

// PEERS.md and -check have the same factors.
func TestPeersAreThoseOfThePage(t *testing.T) {
	page, err := os.ReadFile("PEERS.md")
	if err != nil {
		t.Fatal(err)
	}
	var header []string
	seen := 0
	for text := range strings.Lines(string(page)) {
		if !strings.HasPrefix(text, "|") || strings.HasPrefix(text, "|--") {
			continue
		}
		cells := strings.Split(strings.Trim(text, "|\n"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if header == nil {
			header = cells
			continue
		}
		name, _, _ := strings.Cut(cells[0], " ")
		for i, p := range peers {
			column := i + 2 // after the workload and channels
			if header[column] != p.name {
				t.Fatalf("column %d is %s, not %s", column, header[column], p.name)
			}
			want := "none"
			if f, ok := p.factors[name]; ok {
				seen++
				want = fmt.Sprintf("%.1f", f)
				if f >= 10 {
					want = fmt.Sprint(f)
				}
			}
			if cells[column] != want {
				t.Errorf("%s of %s is %s on the page and %s in the table", name, p.name, cells[column], want)
			}
		}
	}
	if factors := len(peers[0].factors) + len(peers[1].factors) + len(peers[2].factors); seen != factors {
		t.Errorf("the page has %d of %d factors", seen, factors)
	}
}
