package housetest_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// queued is how many messages are in front of the stop.
const queued = 10_000

type (
	// teller counts what it handles, and at the tenth has somebody stop it.
	teller struct {
		handled int
		at      int // how many of them before the stop had been sent
		stop    func()
	}
	// tellerStack has a local: its messages don't share envelopes.
	tellerStack struct {
		core.NoticeStack[uint64]
		_ int
	}
	// page is too long for envelopes.
	page [16]uint64
	// herald sends from its own worker.
	herald struct {
		to   core.Address[teller]
		of   *teller
		tell func(s *core.NoticeStack[int], to core.Address[teller])
	}
)

func (a *teller) count() {
	if a.handled++; a.handled == 10 {
		a.stop()
	}
}

func (a *teller) stopped(at core.Address[teller]) {
	at.Stop()
	a.at = a.handled
}

func (a *teller) stack(s *tellerStack) core.Yield               { a.count(); return s.Return() }
func (a *teller) letter(s *core.NoticeStack[uint64]) core.Yield { a.count(); return s.Return() }

func (a *teller) page(s *core.NoticeStack[page]) core.Yield { a.count(); return s.Return() }

func (h *herald) send(s *core.NoticeStack[int]) core.Yield {
	for range s.Msg {
		h.tell(s, h.to)
	}
	return s.Return()
}

func (h *herald) stop(s *core.NoticeStack[uint64]) core.Yield {
	h.of.stopped(h.to)
	return s.Return()
}

var (
	tellerStackNotice = core.HandleNotice((*teller).stack)
	tellerPage        = core.HandleNotice((*teller).page)
	tellerLetter      = core.HandleNotice((*teller).letter)
	heraldSend        = core.HandleNotice((*herald).send)
	heraldStop        = core.HandleNotice((*herald).stop)
)

// TestStopOvertakesTheQueue: a stop that is sent behind 10,000 messages acts after the one that is
// being handled, whoever sent it, and whatever the messages go by. Between threads it may be one
// more, which is taken while the stop is being sent: see TestStopAfterOneMore in package house.
func TestStopOvertakesTheQueue(t *testing.T) {
	kinds := map[string]func(s *core.NoticeStack[int], to core.Address[teller]){
		"stacks":      func(s *core.NoticeStack[int], to core.Address[teller]) { tellerStackNotice.At(to).Notice(s, 1) },
		"long stacks": func(s *core.NoticeStack[int], to core.Address[teller]) { tellerPage.At(to).Notice(s, page{}) },
		"envelopes":   func(s *core.NoticeStack[int], to core.Address[teller]) { tellerLetter.At(to).Notice(s, 1) },
	}
	for kind, tell := range kinds {
		for _, from := range []string{"its own worker", "another worker", "a guest"} {
			for _, by := range []string{"its own step", "its own worker", "another worker", "a guest"} {
				t.Run(fmt.Sprintf("%s from %s, stopped by %s", kind, from, by), func(t *testing.T) {
					stopBehind(t, kind, tell, from, by)
				})
			}
		}
	}
}

func stopBehind(t *testing.T, kind string, tell func(*core.NoticeStack[int], core.Address[teller]), from, by string) {
	sim := housetest.New(t, 1, house.Config{Workers: 2, Logger: slog.New(slog.DiscardHandler)})
	own, other := sim.Workers()[0], sim.Workers()[1]
	a := &teller{}
	at := core.Spawn(own, func() *teller { return a })
	spawn := func(w *house.Worker) core.Address[herald] {
		return core.Spawn(w, func() *herald { return &herald{at, a, tell} })
	}
	near, far := spawn(own), spawn(other)
	a.stop = func() {
		switch by {
		case "another worker":
			core.Notice(heraldStop.At(far), 0)
			for other.Turn() { // while the step runs, as it would on a thread of its own
			}
		case "its own worker":
			core.Notice(heraldStop.At(near), 0)
		default:
			a.stopped(at)
		}
	}
	switch from {
	case "its own worker":
		core.Notice(heraldSend.At(near), queued)
		own.Turn()
	case "another worker":
		core.Notice(heraldSend.At(far), queued)
		other.Turn()
	case "a guest":
		for range queued {
			switch kind {
			case "stacks":
				core.Notice(tellerStackNotice.At(at), 1)
			case "long stacks":
				core.Notice(tellerPage.At(at), page{})
			default:
				core.Notice(tellerLetter.At(at), 1)
			}
		}
	}
	for range 100 {
		own.Turn()
	}
	if a.handled != a.at || a.at < 10 {
		t.Errorf("%d messages are handled, %d before the stop", a.handled, a.at)
	}
	if sim.Actors() != 2 {
		t.Error("it hasn't stopped")
	}
}
