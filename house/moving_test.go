package house_test

import (
	"os"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// A hopper tells and asks other hoppers, by numbered messages, and checks those that it gets.
// All are born on one worker, and each message takes a while, so that they move.

const (
	hoppers   = 24
	hopPeers  = 5 // whom a hopper writes to in a round
	hopShares = 20 * time.Microsecond
)

type (
	hop struct {
		From, N int
	}
	hopper struct {
		index int
		peers []core.Address[hopper]
		sent  [hoppers]int
		got   [hoppers]int
		wrong int
		steps int // plain, so that the race detector sees two threads in one actor
		burns time.Duration
		tells int // notices to each in a round
	}
	hopTold  struct{ core.NoticeStack[hop] }
	hopAsked struct{ core.AskStack[hop, int] }
	hopRun   struct {
		core.AskStack[int, int]
		f    [hopPeers]core.Future[int]
		tick core.Future[core.Tick]
	}
)

var (
	hopTell  = core.HandleNotice((*hopper).tell)
	hopAsk   = core.Handle((*hopper).ask)
	hopBegin = core.Handle((*hopper).run)
	hopWrong = core.Handle((*hopper).result)
)

func (h *hopper) see(m hop) {
	h.steps++
	if h.got[m.From]+1 != m.N {
		h.wrong++
	}
	h.got[m.From] = m.N
	if h.burns > 0 {
		burn(h.burns)
	}
}

func (h *hopper) tell(s *hopTold) core.Yield { h.see(s.Msg); return s.Return() }
func (h *hopper) ask(s *hopAsked) core.Yield { h.see(s.Req); return s.Return(s.Req.N) }

// run is a round: notices, and then an ask, to each of some peers; in some rounds it waits for a
// timer, too.
func (h *hopper) run(s *hopRun) core.Yield {
	h.steps++
	if s.f[0].Ready() {
		for i := range s.f {
			if _, err := s.f[i].Get(); err != nil {
				h.wrong++
			}
		}
	}
	if s.Req == 0 {
		return s.Return(h.wrong)
	}
	s.Req--
	for i := range s.f {
		to := (h.index + 1 + (s.Req+3*i)%(hoppers-1)) % hoppers
		for range h.tells {
			h.sent[to]++
			hopTell.At(h.peers[to]).Notice(s, hop{h.index, h.sent[to]})
		}
		h.sent[to]++
		hopAsk.At(h.peers[to]).Ask(s, &s.f[i], hop{h.index, h.sent[to]})
	}
	if s.Req%50 == 0 {
		core.Timer.Ask(s, &s.tick, time.Millisecond)
	}
	return core.Suspend(s, (*hopper).run)
}

// result returns how much was wrong, or -1 if not all has come.
func (h *hopper) result(s *core.AskStack[[hoppers]int, int]) core.Yield {
	if h.got != s.Req {
		return s.Return(-1)
	}
	return s.Return(h.wrong)
}

// burn takes d of CPU time, about.
func burn(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// hopAbout has all hoppers do some rounds, and returns what the system counted.
func hopAbout(t *testing.T, rounds, tells int, burns time.Duration) house.Stats {
	sys := started(t, house.Config{Workers: 3, ShareAfter: hopShares, AskTimeout: time.Hour, MailboxMax: -1})
	cradle := core.Spawn(sys.Workers()[0], func() *hopper { return &hopper{} })
	var all []*hopper
	var at []core.Address[hopper]
	for i := range hoppers {
		h := &hopper{index: i, burns: burns, tells: tells}
		all, at = append(all, h), append(at, core.Spawn(cradle.Beside(), func() *hopper { return h }))
	}
	var runs []core.Pending[int]
	for i, h := range all {
		h.peers = at
		runs = append(runs, core.Begin(hopBegin.At(at[i]), rounds))
	}
	for i, run := range runs {
		if got, err := run.Get(); got != 0 || err != nil {
			t.Errorf("hopper %d: %d wrong, %v", i, got, err)
		}
	}
	for i := range all {
		var sent [hoppers]int
		for from := range all {
			sent[from] = all[from].sent[i] // its last round has ended
		}
		if got, err := core.Ask(t.Context(), hopWrong.At(at[i]), sent); got != 0 || err != nil {
			t.Errorf("hopper %d: %d wrong, %v", i, got, err)
		}
	}
	st := sys.Stats()
	if st.Full != 0 {
		t.Errorf("%d messages were refused", st.Full)
	}
	t.Logf("%d moves, %d forwards, %d messages", st.Given, st.Forwards, st.Messages)
	return st
}

// Order holds, and nothing is lost or answered twice, while actors move between workers.
func TestG2OrderWhileActorsMove(t *testing.T) {
	if hopAbout(t, 400, 2, 3*time.Microsecond).Given == 0 {
		t.Error("no actor has moved")
	}
}

// The same for a hundred million messages.
func TestLongOrderWhileActorsMove(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG")
	}
	if st := hopAbout(t, 14_000, 60, 0); st.Given < 1000 || st.Messages < 100_000_000 {
		t.Error("that was too little")
	}
}
