package stack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/lost"
	"github.com/stackhouse-go/stackhouse/stack/order"
)

// clerk checks that the message it handles is the first in its model. A message is a number; its
// class is the number modulo 8.
type clerk struct {
	model
	wrong string
}

type (
	clerkLong struct {
		NoticeStack[int]
		_ int // so that it needs a stack of its own
	}
	clerkBatch struct{ BatchNoticeStack[int] }
)

func (c *clerk) short(s *NoticeStack[int]) Yield { c.hear(s.Msg); return s.Return() }
func (c *clerk) long(s *clerkLong) Yield         { c.hear(s.Msg); return s.Return() }
func (c *clerk) ask(s *AskStack[int, int]) Yield { c.hear(s.Req); return s.Return(s.Req) }
func (c *clerk) batch(s *clerkBatch) Yield {
	for _, n := range s.All() {
		c.hear(*n)
	}
	return s.Return()
}

func (c *clerk) hear(n int) {
	if want := c.pop(); want == nil || want.n != n {
		c.wrong += fmt.Sprint(n, ", want ", want, "; ")
	}
}

var (
	clerkShort = newNotice((*clerk).short)
	clerkLonge = newNotice((*clerk).long)
	clerkAsk   = newAsk((*clerk).ask)
	clerkAll   = newBatchNotice((*clerk).batch, 5)
)

// model is the reference: a mailbox that is too simple to be wrong.
type model struct {
	waiting []*item
	bound   int // 0: none
	full    order.WhenFull
	kind    string // "", "priority" or "fair"
	turns   []int  // fair: the queues that have turns, the next one first
	drains  bool   // calls that come from now on don't begin, and wait in late
	late    []*item
	dropped int // refused and dropped
	letters int // notices that nobody handles
	refused int // because the actor has stopped
}

type item struct {
	n      int
	sender int
	queue  int // fair: the sender's, or that of notices
	ask    bool
	answer error // of an ask: the error with which it ends
}

// notices is the number of the queue, and of the sender, of all notices.
const notices = 3

// push returns what the sender of a notice gets.
func (m *model) push(it *item) error {
	if m.bound > 0 && m.waits() >= m.bound {
		if m.full != DropOldest {
			m.drop(it)
			if m.full == Reject || it.ask {
				return fault.ErrMailboxFull
			}
			return nil
		}
		oldest := &m.waiting
		if len(*oldest) == 0 {
			oldest = &m.late
		}
		m.drop((*oldest)[0])
		*oldest = (*oldest)[1:]
	}
	if m.drains {
		m.late = append(m.late, it)
		return nil
	}
	if it.queue = it.sender; m.kind == "fair" && m.holds(func(at *item) bool { return at.sender == notices }) {
		it.queue = notices
	}
	m.waiting = append(m.waiting, it)
	if m.kind == "fair" {
		m.line(it.queue)
	}
	return nil
}

func (m *model) drop(it *item) {
	it.answer = fault.ErrMailboxFull
	m.dropped++
	if !it.ask {
		m.letters++
	}
}

func (m *model) waits() int { return len(m.waiting) + len(m.late) }

// stopped ends all calls that wait, as the actor has stopped.
func (m *model) stopped() {
	for _, it := range append(m.waiting, m.late...) {
		m.refused++
		if it.answer = fault.ErrStopped; !it.ask {
			m.letters++
		}
	}
	m.waiting, m.late = nil, nil
}

func (m *model) holds(what func(*item) bool) bool { return slices.ContainsFunc(m.waiting, what) }

// line gives a queue the last turn, if it has none and may have one.
func (m *model) line(queue int) {
	if m.holds(func(it *item) bool { return it.queue == queue }) && !slices.Contains(m.turns, queue) &&
		!(queue == notices && m.holds(func(it *item) bool { return it.queue != notices })) {
		m.turns = append(m.turns, queue)
	}
}

// pop returns the next call.
func (m *model) pop() *item {
	if m.kind == "" {
		if len(m.waiting) == 0 {
			return nil
		}
		it := m.waiting[0]
		m.waiting = m.waiting[1:]
		return it
	}
	next := -1
	for i, it := range m.waiting {
		switch {
		case m.kind == "fair" && it.queue != m.turns[0]:
		case next < 0, m.kind == "priority" && it.n%order.Classes < m.waiting[next].n%order.Classes:
			next = i
		}
	}
	if next < 0 {
		return nil
	}
	it := m.waiting[next]
	m.waiting = append(m.waiting[:next:next], m.waiting[next+1:]...)
	if m.kind == "fair" {
		m.turns = m.turns[1:]
		if !m.holds(func(at *item) bool { return at.sender == notices }) {
			for _, at := range m.waiting {
				at.queue = at.sender
			}
		}
		m.line(notices)
		m.line(it.queue)
		for _, at := range m.waiting {
			m.line(at.queue)
		}
	}
	return it
}

// talker does in a step what its message says, and then checks the answers to what it asked.
type talker struct {
	wrong string
	look  func() // before it does
}

type sendStack struct {
	NoticeStack[func(s *sendStack)]
	answers [8]Future[int]
	want    [8]*item
	asked   int
}

func (a *talker) send(s *sendStack) Yield {
	s.Msg(s)
	if s.asked == 0 {
		return s.Return()
	}
	return Suspend(s, (*talker).answered)
}

func (a *talker) answered(s *sendStack) Yield {
	a.look()
	for i, want := range s.want[:s.asked] {
		if n, err := s.answers[i].Get(); err != want.answer || err == nil && n != want.n {
			a.wrong += fmt.Sprint(n, " ", err, ", want ", want.n, " ", want.answer, "; ")
		}
	}
	return s.Return()
}

var senderSend = newNotice((*talker).send)

func classOf(s *Stack) int {
	switch {
	case s.by.class == classAsk:
		return *Request[int, int](s) % order.Classes
	}
	return *Message[int](s) % order.Classes
}

var mailboxes = []struct {
	kind string
	mail MailboxRules
}{
	{"", MailboxRules{Max: 1}},
	{"", MailboxRules{Max: 2}},
	{"", MailboxRules{Max: 3}},
	{"", MailboxRules{Max: 64}},
	{"", MailboxRules{Max: 1024}},
	{"", MailboxRules{Max: order.LimitLarge + 10}},
	{"", MailboxRules{Max: -1}},
	{"", MailboxRules{Max: 1, Full: DropNewest}},
	{"", MailboxRules{Max: 7, Full: DropNewest}},
	{"", MailboxRules{Max: 1, Full: DropOldest}},
	{"", MailboxRules{Max: 2, Full: DropOldest}},
	{"", MailboxRules{Max: 40, Full: DropOldest}},
	{"priority", MailboxRules{Max: 1, Sort: func() Mailbox { return NewPriority(classOf) }}},
	{"priority", MailboxRules{Max: 30, Sort: func() Mailbox { return NewPriority(classOf) }}},
	{"fair", MailboxRules{Max: 3, Sort: NewFair}},
	{"fair", MailboxRules{Max: 50, Sort: NewFair}},
	{"fair", MailboxRules{Max: 300, Sort: NewFair}},
}

// On one worker a mailbox is exact: random notices, asks and batches of three actors are refused,
// dropped and handled as in the model, and in its order, also while the actor pauses, drains, or
// stops.
func TestG7MailboxModel(t *testing.T) {
	for _, m := range mailboxes {
		t.Run(fmt.Sprintf("%s %d %d", m.kind, m.mail.Max, m.mail.Full), func(t *testing.T) {
			seeds := uint64(40)
			if m.mail.Max > 2000 {
				seeds = 4
			}
			if invariant.Race { // one goroutine, ten times as slow
				seeds = (seeds + 9) / 10
			}
			for seed := range seeds {
				modelMailbox(t, m.kind, m.mail, seed)
			}
		})
	}
}

func modelMailbox(t *testing.T, kind string, mail MailboxRules, seed uint64) {
	h := newHand(t, 1)
	rng := rand.New(rand.NewPCG(seed, 74))
	w := h.workers[0]
	w.Budget = 1 + rng.IntN(40)
	c := &clerk{model: model{bound: max(0, mail.Max), full: mail.Full, kind: kind}}
	to, make := NewHouse(func() *clerk { return c })
	to.Mailbox(mail)
	h.drivers[0].Register(to, make, w)
	var senders [3]*talker
	var from [3]*House
	for i := range senders {
		senders[i] = &talker{look: func() {
			if to.Gone() {
				c.stopped()
			}
		}}
		from[i] = settleOn(h, 0, senders[i])
	}
	n, least := 0, 0
	burst := []int{4, 100, 3000}[rng.IntN(3)]
	if mail.Max > 2000 {
		burst = order.LimitLarge + 100 // once
	}
	handlers := []*Handler{clerkShort, clerkShort, clerkLonge, clerkAll}
	end := rng.IntN(24) // before this round the actor stops or drains, if it does
	for round := range 12 {
		// What it is told it finds in its inbox, where nothing overtakes what is in the lane.
		switch rng.IntN(4) {
		case 0:
			to.Pause(&h.guests)
		case 1:
			to.Continue(&h.guests)
		}
		switch {
		case round != end:
		case seed%2 == 0:
			to.Stop(&h.guests)
		default:
			to.Drain(&h.guests)
			c.drains = true
		}
		for i := range from {
			act := func(s *sendStack) {
				if senders[i].look(); to.Gone() {
					c.refused += 2
					require.ErrorIs(t, notify(w, to, clerkShort, 0), fault.ErrStopped)
					s.want[0], s.asked = &item{ask: true, answer: fault.ErrStopped}, 1
					w.Push(to, s.Bind(s.answers[0].Promise(), clerkAsk, 0))
					return
				}
				by := handlers[rng.IntN(4)]
				for range rng.IntN(burst) {
					n++
					if rng.IntN(10) == 0 {
						by = handlers[rng.IntN(4)]
					}
					if s.asked < len(s.answers) && rng.IntN(20) == 0 {
						it := &item{n: n, sender: i, ask: true}
						c.push(it)
						s.want[s.asked] = it
						p := s.answers[s.asked].Promise()
						s.asked++
						ask := s.Bind(p, clerkAsk, 0)
						*Request[int, int](ask) = n
						w.Push(to, ask)
					} else {
						it := &item{n: n, sender: notices} // they don't say who sent them
						want := c.push(it)
						if err := notify(w, to, by, n); err != want {
							t.Fatalf("seed %d: notice %d: %v, want %v", seed, n, err, want)
						}
					}
					if got := to.waits(); got != c.waits() {
						t.Fatalf("seed %d: %d calls wait behind message %d, want %d", seed, got, n, c.waits())
					}
				}
			}
			require.NoError(t, notify(w, from[i], senderSend, act))
		}
		for range rng.IntN(3) {
			h.turn(0)
		}
		if mail.Max > 2000 {
			burst = 50
		}
		least = max(least, to.waits())
	}
	to.Continue(&h.guests)
	h.settle()
	require.Equal(t, end < 12, to.Gone(), "seed %d", seed)
	for _, s := range senders {
		s.look()
		c.wrong += s.wrong
	}
	if c.wrong != "" || c.waits() > 0 {
		t.Fatalf("seed %d: %d are left; %.300s", seed, c.waits(), c.wrong)
	}
	require.EqualValues(t, c.dropped, tallied(w, count.Full), "seed %d", seed)
	require.EqualValues(t, c.refused, tallied(w, count.Refused), "seed %d", seed)
	require.EqualValues(t, c.letters, h.letters(), "seed %d", seed)
	require.True(t, mail.Max < 0 || least <= mail.Max)
	for _, k := range from {
		k.Stop(&h.guests)
	}
}

// ledger notes the messages that it gets, by sender and in order.
type ledger struct {
	last  [8]int
	heard [8]int
	wrong string
}

func (l *ledger) note(m words) {
	if m.N <= l.last[m.From] {
		l.wrong += fmt.Sprint(m.From, ": ", m.N, " behind ", l.last[m.From], "; ")
	}
	l.last[m.From] = m.N
	l.heard[m.From]++
}

type ledgerLong struct {
	NoticeStack[words]
	_ int
}

func (l *ledger) short(s *NoticeStack[words]) Yield { l.note(s.Msg); return s.Return() }
func (l *ledger) long(s *ledgerLong) Yield          { l.note(s.Msg); return s.Return() }
func (l *ledger) ask(s *AskStack[words, int]) Yield { l.note(s.Req); return s.Return(s.Req.N) }

var (
	ledgerShort = newNotice((*ledger).short)
	ledgerLonge = newNotice((*ledger).long)
	ledgerAsk   = newAsk((*ledger).ask)
)

// Workers and guests send at once. Accepted messages are handled or dropped, and counted so; the
// messages of each sender stay in order; and no more wait than the bound and its known excess.
func TestMailboxTraffic(t *testing.T) {
	for _, m := range mailboxes {
		t.Run(fmt.Sprintf("%s %d %d", m.kind, m.mail.Max, m.mail.Full), func(t *testing.T) {
			for seed := range uint64(30) {
				mailTraffic(t, m.kind, m.mail, seed)
			}
		})
	}
}

func mailTraffic(t *testing.T, kind string, mail MailboxRules, seed uint64) {
	h := newHand(t, 3)
	rng := rand.New(rand.NewPCG(seed, 75))
	l := &ledger{}
	if kind == "priority" {
		mail.Sort = func() Mailbox { return NewPriority(func(*Stack) int { return -1 }) }
	}
	to, make := NewHouse(func() *ledger { return l })
	to.Mailbox(mail)
	h.drivers[0].Register(to, make, h.workers[0])
	var accepted, refused [8]int
	var calls []*Call
	n := 0
	gone := 0
	told := func(from int, err error) {
		switch err {
		case nil:
			accepted[from]++
		case fault.ErrMailboxFull:
			refused[from]++
		case fault.ErrStopped:
			gone++
		default:
			t.Fatal(err)
		}
	}
	stopped := false
	for range 300 {
		from := rng.IntN(5)
		by := []*Handler{ledgerShort, ledgerShort, ledgerLonge}[rng.IntN(3)]
		switch {
		case from < 3: // a worker
			for range rng.IntN(30) {
				n++
				told(from, notify(h.workers[from], to, by, words{from, n}))
			}
			h.workers[from].RunDeferred()
		case from == 3: // the guests of this stripe
			for range rng.IntN(30) {
				n++
				told(from, Tell(&h.guests, to, by, &words{from, n}))
			}
		default:
			n++
			c := h.guests.Call(to, ledgerAsk)
			*Request[words, int](c.Stack()) = words{4, n}
			if err := h.guests.Send(c); err != nil {
				told(4, err)
			} else {
				calls = append(calls, c)
			}
		}
		// Others don't see what the owner has sent since its last visit, and the owner can't drop
		// what they have sent until it takes it.
		most := 2 * mail.Max
		if mail.Full == DropOldest {
			most = 3 * mail.Max
		}
		if mail.Max > 0 && to.inMail() > most {
			t.Fatalf("seed %d: %d messages wait", seed, to.inMail())
		}
		if in, counted := to.inMail(), to.waits(); in > counted {
			t.Fatalf("seed %d: %d messages wait, and %d are counted", seed, in, counted)
		}
		for rng.IntN(3) == 0 {
			h.turn(rng.IntN(3))
		}
		if !stopped && seed%3 == 0 && n > 1000 {
			stopped = true
			to.Stop(&h.guests)
		}
	}
	h.settle()
	answered, full, late := 0, 0, 0
	for _, c := range calls {
		require.NoError(t, h.guests.Finish(c))
		switch err := c.Stack().Err(); err {
		case nil:
			answered++
		case fault.ErrMailboxFull:
			full++
		case fault.ErrStopped:
			late++
		default:
			t.Fatal(err)
		}
		h.guests.Done(c)
	}
	for i := range 3 {
		h.workers[i].Shard.Flush()
	}
	require.Empty(t, l.wrong, "seed %d", seed)
	sum := func(all []int) (n int) {
		for _, k := range all {
			n += k
		}
		return n
	}
	countFull, countRefused := h.guests.Dropped()
	for _, w := range h.workers {
		countFull += tallied(w, count.Full)
		countRefused += tallied(w, count.Refused)
	}
	dead := h.letters() - uint64(sum(refused[:4])) // dead letters that had been accepted
	require.EqualValues(t, len(calls), answered+full+late, "seed %d: asks that ended", seed)
	require.EqualValues(t, answered, l.heard[4])
	if !stopped {
		require.EqualValues(t, sum(accepted[:4]), sum(l.heard[:4])+int(dead), "seed %d: accepted is handled or dropped", seed)
		require.EqualValues(t, countFull, sum(refused[:])+full+int(dead), "seed %d: each is counted", seed)
		require.Zero(t, countRefused)
	}
	if mail.Max < 0 {
		require.Zero(t, countFull)
	} else if mail.Max < 64 {
		require.NotZero(t, countFull, "seed %d: no mailbox was full", seed)
	}
}

// A worker's MailboxMax holds even if it is more than House.limit can say.
func TestMailboxOfTheWorker(t *testing.T) {
	for _, max := range []int{3, order.LimitLarge, order.LimitLarge + 10} {
		for _, full := range []order.WhenFull{Reject, DropNewest, DropOldest} {
			h := newHand(t, 1)
			h.workers[0].MailboxMax = max
			to, make := NewHouse(func() *ledger { return &ledger{} })
			to.Mailbox(MailboxRules{Full: full})
			h.drivers[0].Register(to, make, h.workers[0])
			for i := range max + 5 {
				_ = notify(h.workers[0], to, ledgerShort, words{0, i + 1})
			}
			require.Equal(t, max, to.waits())
			h.settle()
			require.EqualValues(t, 5, h.letters())
		}
	}
}

// While the actor's worker is stuck, no more messages of a guest wait than the bound.
func TestMailboxOfStuckActor(t *testing.T) {
	for _, max := range []int{1, 2, 3, 63, 64, 100, 255, 256, 1024} {
		for _, by := range []*Handler{ledgerShort, ledgerLonge} {
			h := newHand(t, 1)
			l := &ledger{}
			to, make := NewHouse(func() *ledger { return l })
			to.Mailbox(MailboxRules{Max: max})
			h.drivers[0].Register(to, make, h.workers[0])
			accepted := 0
			for i := range 3 * max {
				if err := Tell(&h.guests, to, by, &words{0, i + 1}); err == nil {
					accepted++
				} else {
					require.True(t, errors.Is(err, fault.ErrMailboxFull))
				}
			}
			require.Equal(t, max, accepted, "one guest reserves no place that it doesn't use")
			require.Equal(t, max, to.inMail())
			h.settle()
			require.Equal(t, max, l.heard[0])
			require.Empty(t, l.wrong)
		}
	}
}

// In a house whose worker has left, calls that their senders end don't stay counted.
func TestMailboxOfWhoLeft(t *testing.T) {
	h := newHand(t, 1)
	to, make := NewHouse(func() *ledger { return &ledger{} })
	to.Mailbox(MailboxRules{Max: 64})
	h.drivers[0].Register(to, make, h.workers[0])
	for i := range 20 {
		require.NoError(t, Tell(&h.guests, to, ledgerShort, &words{0, i + 1}))
	}
	h.workers[0].Leave()
	h.settle()
	for i := range 200 {
		require.NoError(t, Tell(&h.guests, to, ledgerShort, &words{0, i + 1}))
		c := h.guests.Call(to, ledgerAsk)
		require.NoError(t, h.guests.Send(c))
		require.NoError(t, h.guests.Finish(c))
		require.ErrorIs(t, c.Stack().Err(), fault.ErrStopped)
		h.guests.Done(c)
	}
	require.Zero(t, to.waits())
	require.EqualValues(t, 200, h.letters(), "what came before it left is handled")
}

// A notice that was sent before its actor stopped is a dead letter. A notice sent after the stop
// gets ErrStopped and isn't one, whatever the mailbox's policy.
func TestNoticesToWhoStopped(t *testing.T) {
	for _, m := range []MailboxRules{{}, {Max: 100}, {Max: 100, Full: DropNewest}, {Max: 100, Full: DropOldest}, {Max: -1}, {Max: 100, Sort: NewFair}} {
		for _, by := range []*Handler{ledgerShort, ledgerLonge} {
			noticesToWhoStopped(t, m, by)
		}
	}
}

func noticesToWhoStopped(t *testing.T, m MailboxRules, by *Handler) {
	h := newHand(t, 2)
	to, make := NewHouse(func() *ledger { return &ledger{} })
	to.Mailbox(m)
	h.drivers[0].Register(to, make, h.workers[0])
	says := []func(i int) error{
		func(i int) error { return Tell(&h.guests, to, by, &words{0, i}) },
		func(i int) error { return tell(h, to, by, words{0, i}) },
		func(i int) error { return notify(h.workers[0], to, by, words{1, i}) },
		func(i int) error { return notify(h.workers[1], to, by, words{2, i}) },
	}
	for i := range 5 {
		for _, say := range says {
			require.NoError(t, say(i))
		}
	}
	to.Stop(&h.guests)
	h.settle()
	require.EqualValues(t, 20, h.letters())
	for i := range 5 {
		for _, say := range says {
			require.ErrorIs(t, say(i), fault.ErrStopped)
		}
	}
	c := h.guests.Call(to, ledgerAsk)
	require.ErrorIs(t, h.guests.Send(c), fault.ErrStopped)
	require.Zero(t, to.inMail())
	h.settle()
	require.EqualValues(t, 20, h.letters())
	h.balance()
}

// After a stop no notice joins an envelope that had places on offer.
func TestStopWithdrawsPlaces(t *testing.T) {
	h := newHand(t, 1)
	w := h.workers[0]
	to := settleOn(h, 0, &ledger{})
	for i := range 5 {
		require.NoError(t, notify(w, to, ledgerShort, words{0, i + 1}))
	}
	w.stop(to)
	require.ErrorIs(t, notify(w, to, ledgerShort, words{0, 6}), fault.ErrStopped)
	h.settle()
	require.EqualValues(t, 5, h.letters())
}

// A goroutine waits for room until the mailbox is half empty, its context ends, or the actor has
// stopped.
func TestTellWait(t *testing.T) {
	h := newHand(t, 1)
	l := &ledger{}
	to, factory := NewHouse(func() *ledger { return l })
	to.Mailbox(MailboxRules{Max: 4})
	h.drivers[0].Register(to, factory, h.workers[0])
	n := 0
	fill := func() {
		for to.waits() < 4 {
			n++
			require.NoError(t, Tell(&h.guests, to, ledgerShort, &words{0, n}))
		}
	}
	wait := func(ctx context.Context) chan error {
		outcome := make(chan error, 1)
		n++
		m := words{0, n}
		go func() { outcome <- TellWait(ctx, &h.guests, to, ledgerShort, &m) }()
		for !to.flags.Has(flags.Awaited) {
			runtime.Gosched()
		}
		return outcome
	}
	fill()
	outcome := wait(t.Context())
	h.settle()
	require.NoError(t, <-outcome)
	h.settle()
	require.Equal(t, 5, l.heard[0])
	require.Empty(t, l.wrong)

	fill()
	ctx, cancel := context.WithCancel(t.Context())
	outcome = wait(ctx)
	cancel()
	require.ErrorIs(t, <-outcome, fault.ErrCancelled)
	require.Equal(t, 4, to.waits())
	require.ErrorIs(t, TellWait(ctx, &h.guests, to, ledgerShort, &words{}), fault.ErrCancelled)
	h.settle()
	require.Zero(t, h.letters())

	fill()
	outcome = wait(t.Context())
	to.Stop(&h.guests)
	h.settle()
	require.ErrorIs(t, <-outcome, fault.ErrStopped)
	require.EqualValues(t, 4, h.letters())
}

// A goroutine that waits for room isn't signalled before half of the mailbox is empty.
func TestRoomIsHalfOfTheMailbox(t *testing.T) {
	h := newHand(t, 1)
	h.workers[0].Budget = 1
	l := &ledger{}
	to, factory := NewHouse(func() *ledger { return l })
	to.Mailbox(MailboxRules{Max: 4})
	h.drivers[0].Register(to, factory, h.workers[0])
	for i := range 4 {
		require.NoError(t, Tell(&h.guests, to, ledgerLonge, &words{0, i + 1}))
	}
	outcome := make(chan error, 1)
	go func() { outcome <- TellWait(t.Context(), &h.guests, to, ledgerLonge, &words{0, 5}) }()
	for !to.flags.Has(flags.Awaited) {
		runtime.Gosched()
	}
	w := h.workers[0]
	w.TakeRungs()
	for left := 3; left >= 2; left-- {
		require.Equal(t, 1, w.Run(1))
		require.Equal(t, left > 2, to.flags.Has(flags.Awaited), "%d wait", left)
	}
	require.NoError(t, <-outcome)
	require.Equal(t, 3, to.shown())
	h.settle()
	require.Equal(t, 5, l.heard[0])
}

// Notices that another worker sent before an actor stopped are lost because of the stop, and not
// because its mailbox is full.
func TestTooManyBehindAStop(t *testing.T) {
	h := newHand(t, 2)
	to, make := NewHouse(func() *ledger { return &ledger{} })
	to.Mailbox(MailboxRules{Max: 1, Full: DropOldest})
	h.drivers[0].Register(to, make, h.workers[0])
	from := settleOn(h, 1, &writer{})
	require.NoError(t, tell(h, from, writerWrite, func(w *Engine) {
		for i := range 2 { // they wait in the outbox
			require.NoError(t, notify(w, to, ledgerShort, words{1, i + 1}))
		}
		to.Stop(&h.guests)
		h.turn(0)
		require.True(t, to.Gone())
	}))
	h.turn(1)
	h.settle()
	stopped := 0
	add := func(_ *Handler, why lost.Reason, n uint64) {
		require.Equal(t, lost.Stopped, why)
		stopped += int(n)
	}
	h.workers[0].Tally.Each(add)
	require.Equal(t, 2, stopped)
}

// A stop goes ahead of calls, even if as many answers as may go ahead of them in a row just have.
func TestStopGoesAheadOfCalls(t *testing.T) {
	for _, m := range []MailboxRules{{}, {Sort: NewFair}} {
		h := newHand(t, 1)
		l := &ledger{}
		to, make := NewHouse(func() *ledger { return l })
		to.Mailbox(m)
		h.drivers[0].Register(to, make, h.workers[0])
		for i := range 3 {
			require.NoError(t, Tell(&h.guests, to, ledgerShort, &words{0, i + 1}))
		}
		to.Stop(&h.guests)
		to.urgents = replyStreak
		h.settle()
		require.Zero(t, l.heard[0])
		require.EqualValues(t, 3, h.letters())
	}
}

// Each handled message is counted once, however it was sent and however it ends.
func TestMessagesAreCounted(t *testing.T) {
	for _, m := range []MailboxRules{{}, {Max: 100, Full: DropOldest}, {Max: 100, Sort: NewFair}} {
		for _, by := range []*Handler{clerkShort, clerkLonge, clerkAll} {
			for _, end := range []func(h *House, g *Guests){(*House).Drain, (*House).Stop} {
				h := newHand(t, 1)
				w := h.workers[0]
				to, make := NewHouse(func() *clerk { return &clerk{} })
				to.Mailbox(m)
				h.drivers[0].Register(to, make, w)
				for n := range 20 {
					require.NoError(t, notify(w, to, by, n))
				}
				end(to, &h.guests)
				require.NoError(t, Tell(&h.guests, to, by, new(int)))
				h.settle()
				require.True(t, to.Gone())
				require.EqualValues(t, 22, tallied(w, count.Messages), "%v %s", m, by.Name())
			}
		}
	}
}

// An answer doesn't count as a call in the asker's mailbox, even if the asker's worker has left.
func TestAnswerToAWorkerThatLeft(t *testing.T) {
	h := newHand(t, 2)
	asker := &talker{look: func() {}}
	from, to := settleOn(h, 0, asker), settleOn(h, 1, &clerk{})
	require.NoError(t, tell(h, from, senderSend, func(s *sendStack) {
		s.asked = 1
		s.Engine().Push(to, s.Bind(s.answers[0].Promise(), clerkAsk, 0))
	}))
	h.turn(0)
	from.Stop(&h.guests)
	h.turn(0)
	h.workers[0].Leave()
	h.settle()
	require.Zero(t, from.waits())
}

// If the function that returns a message's class panics, the message's call fails.
func TestPriorityPanics(t *testing.T) {
	h := newHand(t, 1)
	w := h.workers[0]
	c := &clerk{}
	to, make := NewHouse(func() *clerk { return c })
	to.Mailbox(MailboxRules{Max: 10, Sort: func() Mailbox {
		return NewPriority(func(s *Stack) int {
			if n := *Message[int](s); n == 2 {
				panic("two")
			}
			return 0
		})
	}})
	h.drivers[0].Register(to, make, w)
	for n := 1; n <= 4; n++ {
		require.NoError(t, notify(w, to, clerkShort, n))
		if n != 2 {
			c.push(&item{n: n})
		}
	}
	h.settle()
	require.Empty(t, c.wrong)
	require.Empty(t, c.waiting)
	require.Len(t, h.drivers[0].failed, 1)
	require.ErrorIs(t, h.drivers[0].failed[0], fault.ErrPanic)
}

// A connection's own stack and its requests aren't refused, and aren't counted.
func TestMailboxOfConnections(t *testing.T) {
	h := newHand(t, 1)
	w := h.workers[0]
	to, make := NewHouse(func() *pairActor { return &pairActor{} })
	to.Mailbox(MailboxRules{Max: 1, Full: DropOldest})
	h.drivers[0].Register(to, make, w)
	wires := [3]wire{}
	by := NewOwned("wire", (*wire).run, (*wire).alarm, (*wire).finish)
	for i := range wires {
		Own(&wires[i], to, by)
		require.NoError(t, w.Push(to, &wires[i].Stack))
	}
	require.Zero(t, to.waits())
	pairs := newBatchNotice((*pairActor).told, 0)
	require.NoError(t, notify(w, to, pairs, text{}))
	require.NoError(t, notify(w, to, pairs, text{}), "the other is dropped, and none of a connection")
	require.Equal(t, 1, to.waits())
	h.settle()
	for i := range wires {
		require.Equal(t, 1, wires[i].pushed)
	}
	require.EqualValues(t, 1, tallied(w, count.Full))
	to.Stop(&h.guests)
}

type pairTold struct{ BatchNoticeStack[text] }

func (a *pairActor) told(s *pairTold) Yield { return s.Return() }

// impatient is a context that ends as soon as its Done is called.
type impatient struct {
	context.Context
	waited bool
}

func (p *impatient) Done() <-chan struct{} {
	p.waited = true
	c := make(chan struct{})
	close(c)
	return c
}

func (p *impatient) Err() error {
	if p.waited {
		return context.Canceled
	}
	return nil
}

// A goroutine that gives up waiting for room leaves its Call nowhere, even if there never is room.
// The others that wait are still signalled.
func TestGivenUpWaitingForRoom(t *testing.T) {
	h := newHand(t, 1)
	l := &ledger{}
	to, factory := NewHouse(func() *ledger { return l })
	to.Mailbox(MailboxRules{Max: 1})
	h.drivers[0].Register(to, factory, h.workers[0])
	require.NoError(t, Tell(&h.guests, to, ledgerShort, &words{0, 1}))
	waits := make(chan error)
	go func() { waits <- TellWait(t.Context(), &h.guests, to, ledgerShort, &words{0, 2}) }()
	for !to.flags.Has(flags.Awaited) {
		runtime.Gosched()
	}
	out := h.guests.Pools.Outstanding()
	for range 1000 {
		require.ErrorIs(t, TellWait(&impatient{Context: t.Context()}, &h.guests, to, ledgerShort, &words{1, 1}), fault.ErrCancelled)
	}
	require.Equal(t, out, h.guests.Pools.Outstanding())
	h.settle()
	require.NoError(t, <-waits)
	h.settle()
	require.Equal(t, 2, l.heard[0])
}

// The number of calls in flags doesn't overflow with the highest bound: the mailbox may hold twice
// as many, and the calls that come while it is full.
func TestLargestMailboxIsCounted(t *testing.T) {
	for _, full := range []order.WhenFull{Reject, DropNewest, DropOldest} {
		h := newHand(t, 1)
		to, make := NewHouse(func() *ledger { return &ledger{} })
		to.Mailbox(MailboxRules{Max: MailboxTop, Full: full})
		h.drivers[0].Register(to, make, h.workers[0])
		to.count(2*MailboxTop - 1) // as if so many waited
		for range 3 {
			to.count(1)
			require.GreaterOrEqual(t, to.waits(), 2*MailboxTop)
			require.False(t, to.reserve())
		}
		to.count(-2*MailboxTop - 2)
		require.Zero(t, to.waits())
	}
}
