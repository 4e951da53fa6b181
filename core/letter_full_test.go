package core_test

import (
	"fmt"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestDeadLetterMailboxFull: what a full mailbox refuses or drops is a dead letter, whoever sends
// it, also if the sender was told.
func TestDeadLetterMailboxFull(t *testing.T) {
	for _, full := range []core.WhenFull{core.Reject, core.DropNewest, core.DropOldest} {
		eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
			lost := core.Events[core.DeadLetter](sim).Listen(1000)
			defer lost.Close()
			b := &box{}
			a, err := core.SpawnWith(sim.Workers()[0], func() *box { return b }, core.Props{Mailbox: core.Bounded(5, full)})
			if err != nil {
				t.Fatal(err)
			}
			for n := range 20 {
				send(nil, a, n%3, n)
			}
			for i := range 2 {
				core.Notice(hint.At(core.Spawn(sim.Workers()[i], func() *player { return &player{} })), func(_ *player, s *cue) core.Yield {
					for n := range 20 {
						send(s, a, n%3, n)
					}
					return s.Return()
				})
			}
			sim.Rest()
			letters := drained(lost)
			counted := uint64(0)
			for _, c := range sim.DeadLetters() {
				counted += c.Count
			}
			if b.taken+len(letters) != 60 || len(letters) < 20 || counted != uint64(len(letters)) {
				t.Errorf("60 sent, %d taken, %d dead letters, %d counted", b.taken, len(letters), counted)
			}
			for _, l := range letters {
				if l.Reason != core.LostFull || l.To != a.Any() {
					t.Errorf("a dead letter %+v", l)
				}
			}
		})
	}
}

// TestTopicMailboxFull: an event for which a subscriber has no room is a dead letter, and the
// others get it.
func TestTopicMailboxFull(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		var topic core.Topic[flash]
		got := [2]*[2][]flash{{}, {}}
		for i := range 2 {
			a, _ := core.SpawnWith(sim.Workers()[0], func() *ear { return &ear{got: got[i]} }, core.Props{Mailbox: core.Bounded(3+100*i, core.Reject)})
			topic.Subscribe(earHandlers[i].At(a))
		}
		for n := range 20 {
			core.Publish(&topic, flash{0, n})
		}
		core.Notice(hint.At(core.Spawn(sim.Workers()[1], func() *player { return &player{} })), func(_ *player, s *cue) core.Yield {
			for n := range 20 {
				topic.Publish(s, flash{1, n})
			}
			return s.Return()
		})
		sim.Rest()
		if n := letterCounts(sim)["core_test.flash: mailbox full"]; n == 0 || len(got[0][0])+int(n) != 40 || len(got[1][1]) != 40 {
			t.Errorf("%d and %d events arrived, %d dead letters", len(got[0][0]), len(got[1][1]), n)
		}
	})
}

// TestLettersAboutLettersOfGuests: what a guest's letter finds full is counted, and nobody is told.
func TestLettersAboutLettersOfGuests(t *testing.T) {
	sim := stage(t, 1, 1)
	m, small := &sexton{}, core.Props{Mailbox: core.Bounded(1, core.Reject)}
	at, _ := core.SpawnWith(sim, func() *sexton { return m }, small)
	full, _ := core.SpawnWith(sim, func() *box { return &box{} }, small)
	core.Events[core.DeadLetter](sim).Subscribe(sextonMourn.At(at))
	for n := range 100 {
		core.Notice(boxOnPacket.At(full), packet{n})
	}
	sim.Rest()
	if got := letterCounts(sim); got["core_test.packet: mailbox full"] != 99 || got["stack.DeadLetter: mailbox full"] != 98 || m.mourned != 1 {
		t.Errorf("told of %d letters, counted %v", m.mourned, got)
	}
}

// TestLettersThatEvict: who drops its oldest messages and listens to dead letters hears of a
// letter that had to go, and not of those that go to make room for that.
func TestLettersThatEvict(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		b := &sexton{}
		a, _ := core.SpawnWith(sim.Workers()[0], func() *sexton { return b }, core.Props{Mailbox: core.Bounded(10, core.DropOldest)})
		core.Events[core.DeadLetter](sim).Subscribe(sextonMourn.At(a))
		core.Notice(hint.At(core.Spawn(sim.Workers()[0], func() *player { return &player{} })), func(_ *player, s *cue) core.Yield {
			for n := range 13 {
				sextonDig.At(a).Notice(s, n)
			}
			return s.Return()
		})
		sim.Rest()
		if got := fmt.Sprint(b.dug, " ", b.mourned); got != "8 3" {
			t.Errorf("dug and mourned %s, want 8 3: the first, and then two at a time had to go", got)
		}
	})
}

type (
	sexton    struct{ dug, mourned int }
	sextonTwo struct{ core.NoticeStack[int] }
	sextonOne struct {
		core.NoticeStack[core.DeadLetter]
	}
)

func (x *sexton) dig(s *sextonTwo) core.Yield   { x.dug++; return s.Return() }
func (x *sexton) mourn(s *sextonOne) core.Yield { x.mourned++; return s.Return() }

var (
	sextonDig   = core.HandleNotice((*sexton).dig)
	sextonMourn = core.HandleNotice((*sexton).mourn)
)
