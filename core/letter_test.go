package core_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

type (
	// packet, note and long are messages of three kinds: long ones go by no envelope.
	packet struct{ N int }
	note   struct{ N int }
	long   struct {
		N int
		_ [2000]byte
	}
	// box takes them.
	box       struct{ taken int }
	boxPacket struct{ core.NoticeStack[packet] }
	boxNote   struct{ core.BatchNoticeStack[note] }
	boxLong   struct{ core.NoticeStack[long] }
	boxAsk    struct{ core.AskStack[packet, int] }
)

func (b *box) packet(s *boxPacket) core.Yield { b.taken++; return s.Return() }
func (b *box) note(s *boxNote) core.Yield     { b.taken += s.Len(); return s.Return() }
func (b *box) long(s *boxLong) core.Yield     { b.taken++; return s.Return() }
func (b *box) ask(s *boxAsk) core.Yield       { return s.Return(b.taken) }

var (
	boxOnPacket = core.HandleNotice((*box).packet)
	boxOnNote   = core.HandleNoticeBatch((*box).note, 0)
	boxOnLong   = core.HandleNotice((*box).long)
	boxOnAsk    = core.Handle((*box).ask)
)

// send tells one of the kinds, from a step or a guest.
func send(s *cue, to core.Address[box], kind, n int) error {
	switch {
	case kind == 0 && s == nil:
		return core.Notice(boxOnPacket.At(to), packet{n})
	case kind == 0:
		return boxOnPacket.At(to).Notice(s, packet{n})
	case kind == 1 && s == nil:
		return core.Notice(boxOnNote.At(to), note{n})
	case kind == 1:
		return boxOnNote.At(to).Notice(s, note{n})
	case s == nil:
		return core.Notice(boxOnLong.At(to), long{N: n})
	default:
		return boxOnLong.At(to).Notice(s, long{N: n})
	}
}

var kinds = [3]string{"core_test.packet", "core_test.note", "core_test.long"}

// letterCounts returns what DeadLetters says, by type and reason.
func letterCounts(sys interface{ DeadLetters() []house.LetterCount }) map[string]uint64 {
	all := map[string]uint64{}
	for _, c := range sys.DeadLetters() {
		all[c.Type+": "+c.Reason.String()] += c.Count
	}
	return all
}

// TestDeadLettersAgainstModel: each notice is handled, or refused as its actor has stopped, or is
// a dead letter that is counted by its type, told once, and once with its message; boxes stop at
// random, guests and actors send, actors also to another system, which refuses them, and in the
// end that whole system has gone.
func TestDeadLettersAgainstModel(t *testing.T) {
	lost := 0
	eachSeed(t, 40, 2, func(t *testing.T, sim *housetest.Sim) {
		r := rand.New(rand.NewPCG(sim.Seed, 84))
		far := stage(t, sim.Seed+1000, 2)
		var boxes []core.Address[box]
		var all []*box
		for i := range 6 {
			b := &box{}
			all = append(all, b)
			boxes = append(boxes, core.Spawn([]*housetest.Sim{sim, far}[i%2].Workers()[i/2%2], func() *box { return b }))
		}
		writer := hint.At(core.Spawn(sim.Workers()[0], func() *player { return &player{} }))
		var told [2]*core.Listener[core.DeadLetter]
		var opened [2]*core.Listener[core.OpenedLetter]
		for i, s := range []*housetest.Sim{sim, far} {
			told[i], opened[i] = core.Events[core.DeadLetter](s).Listen(10_000), core.Events[core.OpenedLetter](s).Listen(10_000)
			defer told[i].Close()
			defer opened[i].Close()
		}
		n, refused := 0, 0
		batch := func(s *cue) {
			i, kind := r.IntN(len(boxes)), r.IntN(3)
			for range 1 + r.IntN(9) {
				n++
				err := send(s, boxes[i], kind, n)
				foreign := s != nil && i%2 == 1
				switch {
				case foreign != (err == core.ErrOtherSystem):
					t.Errorf("box %d of 0, 2, 4 here and 1, 3, 5 elsewhere: %v", i, err)
				case err == core.ErrStopped:
					refused++
				case err != nil && !foreign:
					t.Error(err)
				}
			}
		}
		act := func() {
			switch r.IntN(3) {
			case 0:
				batch(nil)
			case 1:
				core.Notice(writer, func(_ *player, s *cue) core.Yield { batch(s); return s.Return() })
			default:
				sim.Turn()
				far.Turn()
			}
		}
		for i := range 300 {
			act()
			if i%60 == 59 {
				boxes[i/60].Stop()
			}
		}
		sim.Rest()
		far.Rest()
		if err := far.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := refused
		for range 60 {
			act()
		}
		if refused == before {
			t.Error("a system that was shut down takes notices")
		}
		sim.Rest()
		taken := 0
		for _, b := range all {
			taken += b.taken
		}
		seen := map[int]bool{}
		byType, alive := map[string]uint64{}, map[string]uint64{}
		letters := 0
		for i, s := range []*housetest.Sim{sim, far} {
			for key, n := range letterCounts(s) {
				alive[key] += n
			}
			for _, l := range drained(told[i]) {
				letters++
				byType[l.Type+": "+l.Reason.String()]++
				if !strings.HasPrefix(l.To.String(), "core_test.box#") {
					t.Errorf("a letter to %v", l.To)
				}
			}
			for _, l := range drained(opened[i]) {
				var n, kind int
				switch m := l.Message.(type) {
				case packet:
					n, kind = m.N, 0
				case note:
					n, kind = m.N, 1
				case long:
					n, kind = m.N, 2
				}
				if n == 0 || seen[n] || l.Type != kinds[kind] {
					t.Errorf("an opened letter %+v: unknown, or the second time", l)
				}
				seen[n] = true
			}
		}
		if taken+letters+refused != n || len(seen) != letters {
			t.Errorf("%d sent; %d taken, %d refused, %d dead letters, %d opened", n, taken, refused, letters, len(seen))
		}
		if fmt.Sprint(byType) != fmt.Sprint(alive) {
			t.Errorf("told of %v, counted %v", byType, alive)
		}
		lost += letters
	})
	if lost == 0 {
		t.Error("no dead letters")
	}
}

// TestAsksAreNoDeadLetters: who asks gets the error; nor is a stop one, which comes too late.
func TestAsksAreNoDeadLetters(t *testing.T) {
	sim := stage(t, 1, 2)
	a := core.Spawn(sim, func() *box { return &box{} })
	a.Stop()
	if _, err := housetest.Ask(t, sim, boxOnAsk.At(a), packet{}); err != core.ErrStopped {
		t.Errorf("error %v", err)
	}
	if err := core.Notice(boxOnPacket.Random(&core.Group[box]{}, 1), packet{}); err != core.ErrNoMember {
		t.Errorf("error %v", err) // which the guest gets, so that is no dead letter either
	}
	if err := sim.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.Stop()
	if got := sim.DeadLetters(); len(got) != 0 {
		t.Errorf("dead letters %v", got)
	}
}

// TestDeadLetterNoMember: it has no actor, but says of which type one was sought.
func TestDeadLetterNoMember(t *testing.T) {
	sim := stage(t, 1, 1)
	lost := core.Events[core.DeadLetter](sim).Listen(10)
	defer lost.Close()
	nobody := boxOnPacket.RoundRobin(&core.Group[box]{})
	core.Notice(hint.At(core.Spawn(sim, func() *player { return &player{} })), func(_ *player, s *cue) core.Yield {
		if err := nobody.Notice(s, packet{}); err != core.ErrNoMember {
			t.Errorf("the step is told %v", err)
		}
		return s.Return()
	})
	sim.Rest()
	got := fmt.Sprintf("%v", drained(lost))
	if want := "[{no member core_test.packet a core_test.box}]"; got != want {
		t.Errorf("letters %s, want %s", got, want)
	}
}

// TestOpenedLetterOfReleased: what is released with its stack isn't handed on.
func TestOpenedLetterOfReleased(t *testing.T) {
	sim := stage(t, 1, 1)
	opened := core.Events[core.OpenedLetter](sim).Listen(10)
	defer opened.Close()
	a := core.Spawn(sim, func() *opener { return &opener{} })
	a.Stop()
	core.Notice(openerOpen.At(a), sealed{1})
	sim.Rest()
	if all := drained(opened); len(all) != 1 || all[0].Message != nil || all[0].Type != "core_test.sealed" {
		t.Errorf("opened letters %+v", all)
	}
}

// TestLettersAboutLetters: a dead letter that tells of one is counted, and nobody is told, or it
// would never end.
func TestLettersAboutLetters(t *testing.T) {
	sim := stage(t, 1, 1)
	topic := core.Events[core.DeadLetter](sim)
	first, second := housetest.NewProbe(t, sim), housetest.NewProbe(t, sim)
	port := housetest.NoticePort[core.DeadLetter](first)
	topic.Subscribe(port)
	topic.Subscribe(housetest.NoticePort[core.DeadLetter](second))
	gone := core.Spawn(sim, func() *box { return &box{} })
	core.Notice(hint.At(core.Spawn(sim, func() *player { return &player{} })), func(_ *player, s *cue) core.Yield {
		for n := range 100 {
			boxOnPacket.At(gone).Notice(s, packet{n})
		}
		gone.Stop()
		first.Address.Stop() // before what is about to wait in its lane
		return s.Return()
	})
	sim.Rest()
	got := letterCounts(sim)
	lost := got["stack.DeadLetter: stopped"]
	if told := len(housetest.Take[core.DeadLetter](second)); told != 100 || got["core_test.packet: stopped"] != 100 || topic.Len() != 1 {
		t.Errorf("told of %d letters, counted %v, %d subscribers", told, got, topic.Len())
	}
	core.Notice(hint.At(core.Spawn(sim, func() *player { return &player{} })), func(_ *player, s *cue) core.Yield {
		for n := range 50 {
			if err := port.Notice(s, core.DeadLetter{Type: fmt.Sprint(n)}); err != core.ErrStopped {
				t.Error(err)
			}
		}
		return s.Return()
	})
	sim.Rest()
	if got := letterCounts(sim)["stack.DeadLetter: stopped"]; len(housetest.Take[core.DeadLetter](second)) > 0 || got != lost || lost == 0 {
		t.Errorf("told of more letters, or counted %d about others, want %d", got, lost)
	}
}

// TestDeadLetterLines: a line says why, what and to whom, and lines are few.
func TestDeadLetterLines(t *testing.T) {
	var log bytes.Buffer
	sim := housetest.New(t, 1, house.Config{Workers: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 {
		a := core.Spawn(sim, func() *box { return &box{} })
		for n := range 200 {
			core.Notice(boxOnPacket.At(a), packet{n})
		}
		a.Stop()
		sim.Run(200 * time.Millisecond)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	for i, line := range lines {
		want := fmt.Sprintf(`level=INFO msg="stackhouse: nobody handles a notice" reason=stopped message=core_test.packet to=core_test.box#%d worker=0 skipped=%d`,
			i+1, min(i, 1)*199)
		if !strings.HasSuffix(line, want) {
			t.Errorf("line %q, want %q", line, want)
		}
	}
}

// TestQueueWaitOfARecycledNotice: what a notice of another worker, or of a guest, says of when it
// was sent, the next one that goes by the same stack doesn't.
func TestQueueWaitOfARecycledNotice(t *testing.T) {
	sim := stage(t, 1, 2)
	var boxes [2]core.Address[box]
	var tellers [2]core.NoticePort[func(*player, *cue) core.Yield]
	for i, w := range sim.Workers() {
		boxes[i] = roomy(w, func() *box { return &box{} })
		tellers[i] = hint.At(core.Spawn(w, func() *player { return &player{} }))
	}
	tell := func(from, to, n int) {
		core.Notice(tellers[from], func(_ *player, s *cue) core.Yield {
			for range n {
				send(s, boxes[to], 0, 1)
			}
			return s.Return()
		})
		sim.Rest()
	}
	for n := 1; n < 100; n *= 3 { // by a stack each, and in envelopes
		tell(0, 1, n)
		tell(1, 0, n)
		for range n {
			send(nil, boxes[n%2], 0, 1)
		}
		sim.Rest()
	}
	sim.Now += int64(time.Hour)
	for range 200 { // one visit in 16 is measured
		tell(0, 0, 1)
		tell(1, 1, 1)
	}
	if most := stats(sim).QueueWait.Max; most > time.Second {
		t.Errorf("a notice has waited for %v", most)
	}
}
