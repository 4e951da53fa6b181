//go:build explore

package stack

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/explore"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// protocols are the scenarios by which the explorer drives this package. Each function says who
// takes part and what must hold. The states are lists at the top of the files named.
var protocols = []struct {
	name string
	run  func(s *stage)
}{
	{"inbox", exploreInbox},                             // send_inbox.go
	{"rungs", exploreRungs},                             // send_inbox.go
	{"park", explorePark},                               // send_inbox.go
	{"borrow", exploreBorrow},                           // send_borrow.go
	{"borrow of two", exploreBorrowOfTwo},               // send_borrow.go
	{"borrow or wake", exploreBorrowOrWake},             // send_borrow.go
	{"send on", exploreSendOn},                          // send_borrow.go
	{"impatient", exploreImpatient},                     // send_borrow.go, send_guest.go
	{"assist", exploreAssist},                           // send_borrow.go
	{"assist against guest", exploreRivals},             // send_borrow.go
	{"call", exploreCall},                               // send_guest.go
	{"call begun", exploreCallBegun},                    // send_guest.go
	{"envelope", exploreEnvelope},                       // call_envelope.go
	{"envelope left", exploreEnvelopeLeft},              // call_envelope.go
	{"entries", exploreEntries},                         // call_envelope.go
	{"stop", exploreStop},                               // send_end.go
	{"leave", exploreLeave},                             // send_inbox.go
	{"refuse", exploreRefuse},                           // send_inbox.go
	{"timeout", exploreTimeout},                         // visit_answer.go
	{"cancel", exploreCancel},                           // visit_answer.go
	{"forward", exploreForward},                         // send_forward.go
	{"forward, and left", exploreForwardLeft},           // send_forward.go
	{"forward, and late", exploreForwardTimeout},        // send_forward.go
	{"given up", exploreGivenUp},                        // send_giveup.go
	{"given up by the first", exploreGivenUpFirst},      // send_giveup.go
	{"given up, and again", exploreGivenUpAgain},        // send_giveup.go
	{"given up, forwarded", exploreGivenUpForward},      // send_giveup.go, send_forward.go
	{"given up, and left", exploreGivenUpLeft},          // send_giveup.go
	{"job", exploreJob},                                 // call_offload.go
	{"job given up", exploreJobGivenUp},                 // call_offload.go
	{"job kept", exploreJobKept},                        // call_offload.go
	{"job that reads", exploreJobReads},                 // call_offload.go
	{"hand-over", exploreHandOver},                      // send_handover.go
	{"hand-over and back", exploreHandBack},             // send_handover.go
	{"two gifts", exploreTwoGifts},                      // send_handover.go
	{"hand-over of who asks", exploreHandOverAsker},     // send_handover.go
	{"hand-over to who leaves", exploreGiveToWhoLeaves}, // send_handover.go
	{"stay", exploreStay},                               // send_handover.go
	{"stop at once", exploreStopAtOnce},                 // send_inbox.go
	{"full", exploreFull},                               // house_mailbox.go
	{"drop oldest", exploreDropOldest},                  // house_mailbox.go
	{"full, and left", exploreFullLeft},                 // house_mailbox.go
	{"room", exploreRoom},                               // send_room.go
	{"room, and given up", exploreRoomGivenUp},          // send_room.go
	{"room, one of two gives up", exploreRoomSwept},     // send_room.go
	{"room, and refused", exploreRoomRefused},           // send_room.go
	{"room, and stopped", exploreRoomStopped},           // send_room.go
	{"away", exploreAway},                               // house_remote.go
	{"away, and given up", exploreAwayGivenUp},          // house_remote.go
	{"away, and held", exploreAwayHeld},                 // house_remote.go
	{"away, and lost", exploreAwayLost},                 // house_remote.go
	{"tally", exploreTally},                             // lost/tally.go
}

// exploreMin is the fewest schedules of all protocols together: fewer would mean that
// scheduling points, or threads, are missing.
const exploreMin = 200_000

// Every protocol is exhausted at two preemptions, which takes some twenty seconds.
func TestExplore(t *testing.T) {
	all, proven := 0, 0
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			all += explore.Prove(t, explore.Config{Seams: seams, Bound: 2}, staged(p.run))
			proven++
		})
	}
	if proven < len(protocols) { // one failed, or was chosen
		return
	}
	t.Logf("%d schedules of %d protocols", all, proven)
	if all < exploreMin {
		t.Errorf("%d schedules, want %d", all, exploreMin)
	}
}

func TestExploreLong(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("takes an hour: set STACKHOUSE_LONG")
	}
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			explore.Prove(t, explore.Config{Seams: seams, Bound: 3}, staged(p.run))
		})
	}
}

var seams = explore.Seams{Point: &invariant.AtPoint, Await: &invariant.AtAwait, Self: &invariant.AtSelf}

// stage is a hand whose workers' turns, and whose guests, are threads of an explorer.
type stage struct {
	*explore.Run
	*hand
	loops    []*loop
	askers   []*House
	others   int // threads that aren't workers and haven't ended
	doomed   []*House
	dead     []*listener // in them
	stays    bool        // they don't stop before their worker leaves
	accepted uint64      // notices
}

func staged(scenario func(s *stage)) func(r *explore.Run) {
	return func(r *explore.Run) { scenario(&stage{Run: r}) }
}

// workers makes n workers, none of which runs yet. At the end all pooled objects
// must be home.
func (s *stage) workers(n int) {
	s.hand = makeHand(n)
	for i, w := range s.hand.workers {
		l := &loop{handDriver: s.drivers[i], s: s, w: w}
		w.Driver = l
		s.loops = append(s.loops, l)
	}
	s.After(func() {
		for _, h := range s.askers { // an actor that asks has a table until it stops
			h.Stop(&s.hand.guests)
		}
		if n := s.out(); n != 0 {
			s.Fail("%d pooled objects are still out", n)
		}
		for _, h := range s.houses {
			if n := h.waits(); n != 0 {
				s.Fail("%d calls wait in actor %d, where none does", n, h.serial)
			}
		}
	})
}

// loop is a worker's own goroutine, as in house/loop.go, and its Driver.
type loop struct {
	*handDriver
	s       *stage
	w       *Engine
	bell    bool   // rung, and not heard yet
	event   bool   // the network ends the next wait
	between func() // called between turns, if set
	job     *Stack // the last job that was offloaded
	hurries bool   // it has no time to assist
	keeps   bool   // it assists in its next turn, once
	turning bool   // somebody runs its turn
	over    func() bool
}

// begin and end bracket a turn of l, and check that only one thread at a time runs it.
func (l *loop) begin() {
	if l.turning {
		l.s.Fail("two threads run the turns of worker %d", l.w.Index)
	}
	l.turning = true
}

func (l *loop) Wake() {
	l.s.Point("bell.ring")
	l.bell = true
}

func (l *loop) Wait(_ int64, network bool) {
	if network {
		l.s.Await("bell.wait", func() bool { return l.bell || l.event || l.due() || l.over() })
		l.event = false
	} else {
		l.s.Await("bell.wanted", func() bool { return l.bell })
	}
	l.bell = false
}

func (l *loop) Offloads() OffloadPool   { return l }
func (l *loop) Submit(job *Stack) error { l.job = job; return nil }
func (l *loop) Limit() int64            { return 0 }

func (l *loop) Failed(_ *House, _ *Stack, err error) { l.s.Fail("a step has failed: %v", err) }

// Borrowed is what house's driver does for a borrower.
func (l *loop) Borrowed(c *Call, now int64) (more bool) {
	defer func() {
		if v := recover(); v != nil { // otherwise it would end the process
			l.s.Fail("panic in a borrowed turn: %v", v)
		}
	}()
	l.w.BorrowFor(c)
	defer l.w.BorrowFor(nil)
	turns := 4
	if c == nil {
		turns = 1
	}
	for range turns {
		l.begin()
		done := l.pass()
		l.end()
		if done == 0 || c != nil && c.Ready() {
			break
		}
	}
	return !l.w.Idle()
}

// pass is the first half of a turn.
func (l *loop) pass() (done int) {
	w := l.w
	w.Now = l.now
	w.TakeRungs()
	for i := 0; i < len(l.armed); i++ {
		if n := l.armed[i]; n.When <= l.now {
			l.Disarm(n)
			w.Fire(n)
			i = -1
		}
	}
	return w.Run(256)
}

// end is the second half of a turn.
func (l *loop) end() {
	l.w.RunDeferred()
	l.w.ArmFresh()
	l.w.Shard.Flush()
	l.turning = false
}

// turn is house.Worker.Turn.
func (l *loop) turn() (busy bool) {
	w := l.w
	l.begin()
	done := l.pass()
	kept := l.keeps && w.OwesWake()
	if kept {
		l.keeps = false
	} else if w.OwesWake() {
		w.RunDeferred()
		for n := 0; n < 4 && w.OwesWake() && w.Idle() && !l.hurries; n++ {
			w.Assist()
			w.TakeRungs()
			done += w.Run(256)
		}
		w.WakeNow()
	}
	l.end()
	if !kept {
		w.WakeNow()
	}
	return kept || done > 0 || !w.Idle()
}

// due reports whether a timer is due.
func (l *loop) due() bool {
	return slices.ContainsFunc(l.armed, func(n *future.Node) bool { return n.When <= l.now })
}

// run turns and parks until the scenario is over for it.
func (l *loop) run(over func() bool) {
	l.over = over
	for !over() {
		if l.between != nil {
			l.between()
		}
		if !l.turn() {
			l.w.Sleep(0, true)
		}
	}
}

// start has every worker run until over holds.
func (s *stage) start(over func() bool) {
	for i, l := range s.loops {
		s.Go(fmt.Sprint("worker ", i), func() { l.run(over) })
	}
}

// settled is start of two workers, if only the first can tell when it is over.
func (s *stage) settled(over func() bool) {
	ended := false
	s.Go("worker 0", func() {
		s.loops[0].run(over)
		ended = true
	})
	s.Go("worker 1", func() { s.loops[1].run(func() bool { return ended }) })
}

// other adds a thread that is no worker.
func (s *stage) other(name string, f func()) {
	s.others++
	s.Go(name, func() { f(); s.others-- })
}

// alone reports whether only workers are left.
func (s *stage) alone() bool { return s.others == 0 }

// listener notes the messages that it gets, by sender.
type listener struct {
	next  [4]int
	all   int
	wrong string
}

func (l *listener) hear(m words) {
	if m.N != l.next[m.From] {
		l.wrong += fmt.Sprint(m.From, " ", m.N, ", want ", l.next[m.From], "; ")
	}
	l.next[m.From]++
	l.all++
}

type listenStack struct {
	NoticeStack[words]
	local int // so that it needs a stack of its own
}

func (l *listener) words(s *NoticeStack[words]) Yield { l.hear(s.Msg); return s.Return() }
func (l *listener) long(s *listenStack) Yield         { s.local++; l.hear(s.Msg); return s.Return() }

// asked doesn't check the order, because askers give up.
func (l *listener) asked(s *AskStack[words, int]) Yield { l.all++; return s.Return(s.Req.N) }

var (
	listenWords = newNotice((*listener).words)
	listenLong  = newNotice((*listener).long)
	listenAsk   = newAsk((*listener).asked)
)

// inquires adds an inquirer.
func (s *stage) inquires(worker int, a *inquirer) *House {
	h := settleOn(s.hand, worker, a)
	s.askers = append(s.askers, h)
	return h
}

// hears adds a listener.
func (s *stage) hears(worker int) (*listener, *House) {
	l := &listener{}
	return l, settleOn(s.hand, worker, l)
}

// heard checks that l got each sender's messages in order, and how many of each.
func (s *stage) heard(l *listener, want ...int) {
	for from, n := range want {
		if l.next[from] != n {
			s.Fail("%d messages of sender %d were heard, want %d", l.next[from], from, n)
		}
	}
	if l.wrong != "" {
		s.Fail("out of order: %s", l.wrong)
	}
}

// say sends a notice as a guest, in a stack of its own.
func (s *stage) say(to *House, from, n int) { s.sent(tell(s.hand, to, listenLong, words{from, n})) }

// sent counts a notice if it was accepted; otherwise its actor must have stopped.
func (s *stage) sent(err error) {
	switch {
	case err == nil:
		s.accepted++
	case err != fault.ErrStopped:
		s.Fail("a notice failed: %v", err)
	}
}

// dooms makes a house on worker 0 that stops when the worker leaves, before or after messages come:
// each notice is refused, or accepted and then a dead letter.
func (s *stage) dooms() *House {
	l, h := s.bounds(MailboxRules{Max: 6})
	s.dead = append(s.dead, l)
	if s.doomed = append(s.doomed, h); len(s.doomed) == 1 {
		s.After(func() {
			n := s.letters()
			for _, l := range s.dead {
				for _, heard := range l.next {
					n += uint64(heard)
				}
			}
			if n != s.accepted {
				s.Fail("%d notices were heard, or are dead letters, of %d that were accepted", n, s.accepted)
			}
		})
	}
	return h
}

// pass sends the same as a step of a worker.
func pass(w *Engine, to *House, from, n int) {
	c := w.Begin(listenLong)
	*Message[words](c) = words{from, n}
	w.Push(to, c)
}

// guestContext is the context of a guest, which a thread may end.
type guestContext struct {
	context.Context
	c     *Call
	ended bool
	brief bool // it ends as soon as the guest waits
}

func (p *guestContext) Deadline() (time.Time, bool) { return time.Now().Add(time.Hour), true }

func (p *guestContext) Err() error {
	if p.ended {
		return context.Canceled
	}
	p.ended = p.brief // the first look is before the ask is sent
	return nil
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done is called when a guest that has waited goes on. If both the signal and the end are there,
// the guest takes the signal: a choice of the end is as if the end had come first.
func (p *guestContext) Done() <-chan struct{} {
	if p.c.cell.Signalled() {
		return nil
	}
	return closed
}

// ask asks h for n as a guest. The answer must be n.
func (s *stage) ask(p *guestContext, h *House, n int) error {
	c := s.hand.guests.Call(h, listenAsk)
	*Request[words, int](c.Stack()) = words{0, n}
	p.Context, p.c = context.Background(), c
	if err := s.hand.guests.Wait(p, c); err != nil {
		return err
	}
	s.answered(c, n)
	return nil
}

// asks is ask by a guest that doesn't give up.
func (s *stage) asks(h *House, n int) {
	if err := s.ask(&guestContext{}, h, n); err != nil {
		s.Fail("the ask for %d failed: %v", n, err)
	}
}

// begins sends an ask without waiting for its answer; nil: the actor has stopped.
func (s *stage) begins(h *House, n int) *Call {
	c := s.hand.guests.Call(h, listenAsk)
	*Request[words, int](c.Stack()) = words{0, n}
	if err := s.hand.guests.Send(c); err == fault.ErrStopped {
		return nil
	} else if err != nil {
		s.Fail("the ask for %d failed: %v", n, err)
	}
	return c
}

// ends waits for the answer of begins, n or an error.
func (s *stage) ends(c *Call, n int) error {
	if c == nil {
		return fault.ErrStopped
	}
	if err := s.hand.guests.Finish(c); err != nil {
		return err
	}
	if err := c.Stack().Err(); err != nil {
		s.hand.guests.Done(c)
		return err
	}
	s.answered(c, n)
	return nil
}

// answered checks the answer of c, and puts it.
func (s *stage) answered(c *Call, n int) {
	if reply := *Reply[int](c.Stack()); reply != n {
		s.Fail("the answer to %d is %d", n, reply)
	}
	s.hand.guests.Done(c)
}
