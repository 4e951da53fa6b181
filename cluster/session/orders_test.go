package session

import (
	"fmt"
	"os"
	"testing"
)

// order is a series of choices among what can happen next. The first ones are given; from there on
// it is always the first choice, and how many there were is kept.
type order struct {
	given []int
	sizes []int
	most  int // choices that are made in each way; those behind them are the first always; 0: all
}

func (o *order) choose(n int) int {
	i := len(o.sizes)
	if o.most > 0 && i == o.most {
		return 0
	}
	o.sizes = append(o.sizes, n)
	if i < len(o.given) {
		return o.given[i]
	}
	o.given = append(o.given, 0)
	return 0
}

// next makes the next series, the last choice first; false: there is none.
func (o *order) next() bool {
	for i := len(o.sizes) - 1; i >= 0; i-- {
		if o.given[i]+1 < o.sizes[i] {
			o.given = append(o.given[:i], o.given[i]+1)
			o.sizes = o.sizes[:0]
			return true
		}
	}
	return false
}

// TestTwoDialsInEveryOrder lets both nodes dial at once. Everything that can happen next happens
// first once: it ends in one connection, without a second dial, and both messages come.
func TestTwoDialsInEveryOrder(t *testing.T) {
	runs, taken, kept := 0, 0, [2]int{}
	for o := (&order{}); ; runs++ {
		w := makeNet(1, 1)
		greeted := w.both(o)
		about := fmt.Sprintf("order %v", o.given)
		a, b := w.nodes[0], w.nodes[1]
		if problem := w.agree(0); problem != "" || w.problem != "" {
			t.Fatalf("%s: %s %s", about, w.problem, problem)
		}
		if a.tracks[0].got != 1 || b.tracks[0].got != 1 || a.link.conns+b.link.conns > 3 {
			t.Fatalf("%s: %d and %d came, %d and %d connections", about, a.tracks[0].got, b.tracks[0].got, a.link.conns, b.link.conns)
		}
		dialler := 0
		if a.tracks[0].line.ends[0] == b {
			dialler = 1
		}
		if greeted == 2 && dialler == 1 {
			t.Fatalf("%s: both greeted, and the higher node's connection stays", about)
		}
		kept[dialler]++
		taken += a.refuse[ErrTaken] + b.refuse[ErrTaken]
		if !o.next() {
			break
		}
	}
	t.Logf("%d orders, kept %v, refused %d", runs, kept, taken)
	if runs < 100 || kept[0] == 0 || kept[1] == 0 || taken == 0 {
		t.Errorf("%d orders, kept %v, refused %d: what is tried?", runs, kept, taken)
	}
}

// both has both nodes write a message, and lets happen what can, without time. It returns how many
// nodes had sent a HELLO before they had read one.
func (w *net) both(o *order) (greeted int) {
	w.nodes[0].write(0)
	w.nodes[1].write(0)
	for w.problem == "" {
		lively := w.lively()
		if len(lively)+len(w.dials) == 0 {
			return greeted
		}
		i := o.choose(len(lively) + len(w.dials))
		if i < len(w.dials) {
			w.complete(i, true)
			greeted++
			continue
		}
		at := lively[i-len(w.dials)]
		w.deliver(w.lines[at[0]], at[1])
	}
	return greeted
}

// TestTwoDialsAndAResetInEveryOrder loses one connection, at any moment, besides: after that time
// may pass, and it still ends in one connection, with both messages.
func TestTwoDialsAndAResetInEveryOrder(t *testing.T) { resetInEveryOrder(t, 13) }

// TestLongTwoDialsAndAResetInEveryOrder does so to the end of each.
func TestLongTwoDialsAndAResetInEveryOrder(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("takes seconds: set STACKHOUSE_LONG=1")
	}
	resetInEveryOrder(t, 0)
}

func resetInEveryOrder(t *testing.T, most int) {
	t.Helper()
	runs := 0
	for o := (&order{most: most}); ; runs++ {
		w := makeNet(1, 1)
		w.nodes[0].write(0)
		w.nodes[1].write(0)
		lost := false
		for rounds := 0; w.problem == "" && rounds < 60; rounds++ {
			lively := w.lively()
			events := len(lively) + len(w.dials)
			a, b := w.nodes[0], w.nodes[1]
			if events == 0 {
				if a.tracks[0].got == 1 && b.tracks[0].got == 1 && w.agree(0) == "" {
					break
				}
				if at, ok := w.wake(); ok {
					w.tick(at)
				}
				continue
			}
			var open []*line
			if !lost {
				for _, l := range w.lines {
					if !l.over[0] && !l.over[1] {
						open = append(open, l)
					}
				}
			}
			switch i := o.choose(events + len(open)); {
			case i < len(w.dials):
				w.complete(i, true)
			case i < events:
				at := lively[i-len(w.dials)]
				w.deliver(w.lines[at[0]], at[1])
			default:
				l := open[i-events]
				l.queue = [2][][]byte{{nil}, {nil}}
				lost = true
			}
		}
		if problem := w.agree(0); problem != "" || w.problem != "" || w.nodes[0].tracks[0].got != 1 || w.nodes[1].tracks[0].got != 1 {
			t.Fatalf("order %v: %s %s", o.given, w.problem, problem)
		}
		if !o.next() {
			break
		}
	}
	if t.Logf("%d orders", runs); runs < 1000 {
		t.Errorf("%d orders: what is tried?", runs)
	}
}
