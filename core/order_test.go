package core_test

import (
	"runtime"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

type (
	// tally receives numbered messages, notices and asks together, and counts
	// inversions and losses.
	tally struct {
		last map[int]int // by sender
		bad  int
	}
	numbered  struct{ From, N int }
	tellStack struct{ core.NoticeStack[numbered] }
	askStack  struct{ core.AskStack[numbered, int] }
	badStack  struct{ core.AskStack[int, int] }
)

func (a *tally) see(m numbered) {
	if a.last[m.From]+1 != m.N {
		a.bad++
	}
	a.last[m.From] = m.N
}

func (a *tally) tell(s *tellStack) core.Yield { a.see(s.Msg); return s.Return() }
func (a *tally) ask(s *askStack) core.Yield   { a.see(s.Req); return s.Return(s.Req.N) }

// result says how many messages a sender's last one was the number of, or -1.
func (a *tally) result(s *badStack) core.Yield {
	if a.bad != 0 {
		return s.Return(-a.bad)
	}
	return s.Return(a.last[s.Req])
}

var (
	tallyTell   = core.HandleNotice((*tally).tell)
	tallyAsk    = core.Handle((*tally).ask)
	tallyResult = core.Handle((*tally).result)
)

func newTally(at core.Place) core.Address[tally] {
	return roomy(at, func() *tally { return &tally{last: map[int]int{}} })
}

// teller sends n numbered messages, every third an ask, in steps of ten.
func teller(to core.Address[tally], from, n int) script {
	fs := make([]core.Future[int], n)
	sent := 0
	var again script
	again = func(_ *player, s *scene) core.Yield {
		for range min(10, n-sent) {
			sent++
			if m := (numbered{from, sent}); sent%3 == 0 {
				tallyAsk.At(to).Ask(s, &fs[sent-1], m)
			} else {
				tallyTell.At(to).Notice(s, m)
			}
		}
		if sent == n { // stay: the end of the stack would cancel what has not begun
			return s.wait(answer(n))
		}
		return s.waitAny(again)
	}
	return again
}

// TestG2OrderOfOneSender: notices and asks of one sender to one actor arrive in
// the order in which they were sent, whatever others send meanwhile.
func TestG2OrderOfOneSender(t *testing.T) {
	eachSeed(t, 20, 3, func(t *testing.T, sim *housetest.Sim) {
		to := newTally(sim.Workers()[0])
		const n = 300
		var calls []core.Pending[int]
		for from := range 6 { // two beside, two on each of the others
			_, a := cast(sim, from%3)
			calls = append(calls, core.Begin(a, teller(to, from, n)))
		}
		for i := range n { // a guest, between turns
			m := numbered{6, i + 1}
			if i%3 == 0 {
				calls = append(calls, core.Begin(tallyAsk.At(to), m))
			} else {
				core.Notice(tallyTell.At(to), m)
			}
			sim.Turn()
		}
		sim.Rest()
		for from := range 7 {
			if got, err := housetest.Ask(t, sim, tallyResult.At(to), from); got != n || err != nil {
				t.Errorf("sender %d: %d, %v; want %d", from, got, err, n)
			}
		}
		for _, c := range calls {
			if _, err := c.Get(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestOrderOnThreads is the same with threads.
func TestOrderOnThreads(t *testing.T) {
	sys := open(t, house.Config{Workers: 3})
	to := newTally(sys.Workers()[0])
	const n = 3000
	done := make(chan error)
	for from := range 6 {
		a := play.At(core.Spawn(sys.Workers()[from%3], func() *player { return &player{} }))
		go func() {
			_, err := core.Ask(t.Context(), a, teller(to, from, n))
			done <- err
		}()
	}
	for from := 6; from < 8; from++ {
		go func() {
			for i := range n {
				m := numbered{from, i + 1}
				if i%30 != 0 {
					core.Notice(tallyTell.At(to), m)
				} else if _, err := core.Ask(t.Context(), tallyAsk.At(to), m); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for from := range 8 {
		if got, err := core.Ask(t.Context(), tallyResult.At(to), from); got != n || err != nil {
			t.Errorf("sender %d: %d, %v; want %d", from, got, err, n)
		}
	}
}

// TestSelfNoticeFromANoticeHandler: what a handler sends to its own actor comes
// later, in order, behind what is queued, on the same depth of the stack; and
// an actor that never stops talking to itself starves nobody.
func TestSelfNoticeFromANoticeHandler(t *testing.T) {
	eachSeed(t, 3, 1, func(t *testing.T, sim *housetest.Sim) {
		address, a := cast(sim, 0)
		_, b := cast(sim, 0)
		var order []int
		inside, depth, answered := false, 0, false
		var say func(n int) func(*player, *cue) core.Yield
		say = func(n int) func(*player, *cue) core.Yield {
			return func(_ *player, s *cue) core.Yield {
				if inside {
					t.Error("a handler runs within another of its actor")
				}
				inside = true
				order = append(order, n)
				var pc [256]uintptr
				if d := runtime.Callers(0, pc[:]); depth == 0 {
					depth = d
				} else if d > depth+8 { // the simulation's own frames differ by a few
					t.Fatalf("message %d: depth %d, was %d", n, d, depth)
				}
				if n < 100_000 && !answered {
					hint.At(address).Notice(s, say(n+2))
				}
				inside = false
				return s.Return()
			}
		}
		core.Notice(hint.At(address), say(0))
		core.Notice(hint.At(address), say(1))
		sim.Turn()
		if len(order) < 32 {
			t.Fatalf("a turn handled %d messages", len(order))
		}
		// Others on the worker, and the actor's own other messages.
		_, c := cast(sim, 0)
		for _, call := range []core.Pending[int]{
			core.Begin(b, answer(1)), core.Begin(a, answer(1)), core.Begin(c, relay(b, relay(a, answer(1)))),
		} {
			before := len(order)
			for range 20 {
				sim.Turn()
			}
			if !call.Ready() {
				t.Fatal("an ask starves beside an actor that talks to itself")
			}
			call.Get()
			if len(order) == before {
				t.Error("the actor that talks to itself starves")
			}
		}
		answered = true
		sim.Rest()
		for i, n := range order {
			if i != n {
				t.Fatalf("message %d came in place %d", n, i)
			}
		}
	})
}

// TestSelfAsk: an actor that asks itself waits for itself, and goes on.
func TestSelfAsk(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		wantAnswer(t, sim, a, relay(a, relay(a, relay(a, answer(4)))), 4)
	})
}

// flood asks the other 300 times over and again at each answer, until it is told
// to quit: its actor always has more answers queued than a visit takes.
func flood(other core.Port[script, int], quit *bool) script {
	fs := make([]core.Future[int], 300)
	rounds := 0
	var again script
	again = func(_ *player, s *scene) core.Yield {
		if rounds++; *quit || rounds > 1_000_000 {
			return s.Return(rounds)
		}
		for i := range fs {
			if !fs[i].Waiting() {
				other.Ask(s, &fs[i], answer(i))
			}
		}
		return s.waitAny(again)
	}
	return again
}

// TestAnswersDoNotStarveCalls: two actors that never run out of answers still
// handle calls, and so does a third, which never has any answers.
func TestAnswersDoNotStarveCalls(t *testing.T) {
	eachSeed(t, 2, 1, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		_, b := cast(sim, 0)
		_, c := cast(sim, 0)
		quit := false
		floods := []core.Pending[int]{core.Begin(a, flood(b, &quit)), core.Begin(b, flood(a, &quit))}
		for range 50 {
			sim.Turn()
		}
		for i, p := range []core.Port[script, int]{a, b, c} {
			call := core.Begin(p, answer(1))
			for range 200 {
				sim.Turn()
			}
			if !call.Ready() {
				t.Errorf("a call to actor %d starves behind answers", i)
				quit = true
				sim.Rest()
			}
			call.Get()
		}
		quit = true
		sim.Rest()
		for _, f := range floods {
			if n, err := f.Get(); err != nil || n > 1_000_000 {
				t.Errorf("flood: %d, %v", n, err)
			}
		}
	})
}

// TestAnswersFromElsewhereDoNotStarveCalls: answers of another worker come faster
// than an actor handles them.
func TestAnswersFromElsewhereDoNotStarveCalls(t *testing.T) {
	sim := stage(t, 1, 2)
	_, a := cast(sim, 0)
	_, b := cast(sim, 1)
	quit := false
	floods := []core.Pending[int]{}
	for range 4 { // more than a turn of a's worker takes
		floods = append(floods, core.Begin(a, flood(b, &quit)))
	}
	turns := func(n int) {
		for range n {
			for range 10 {
				sim.Workers()[1].Turn()
			}
			sim.Workers()[0].Turn()
		}
	}
	turns(5)
	call := core.Begin(a, answer(1))
	turns(10)
	if !call.Ready() {
		t.Error("a call starves behind answers")
	}
	quit = true
	sim.Rest()
	call.Get()
	for _, f := range floods {
		f.Get()
	}
}
