package core_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/stack"
)

// The actors of the stress: citizens do to each other, by chance, all that actors can, and keep
// books; a mayor spawns them, watches them and spawns them again. At rest the books must balance:
// see stress_test.go.

const (
	stressCitizens = 9
	stressGuests   = 4
	stressAll      = stressCitizens + stressGuests // who sends
)

// The ends that an ask may have.
var stressErrors = []error{core.ErrTimeout, core.ErrCancelled, core.ErrStopped, core.ErrRestarted, core.ErrPanic,
	core.ErrMailboxFull, core.ErrOverloaded, errStress, errStressResume, errStressStop, core.ErrNoMember}

var (
	errStress         = errors.New("stress")
	errStressResume   = errors.New("stress: resume")
	errStressStop     = errors.New("stress: stop")
	errStressEscalate = errors.New("stress: escalate")
)

// stressBooks is what one citizen, in all its lives, or one guest did and saw. Only who that is
// writes it.
type stressBooks struct {
	asks, jobs, replies, results int
	errs                         [11]int // by stressErrors
	// asks and jobs of stacks that had ended when their answers came
	left int

	tells, refused, heard int // notices sent; of these refused with ErrStopped; begun
	began, ended          int // asks that the citizen handled
	started, stopped      int // instances

	barriers, stashes, forwards, kept, escalations, lots int
}

func (b *stressBooks) add(c *stressBooks) {
	b.asks += c.asks
	b.jobs += c.jobs
	b.replies += c.replies
	b.results += c.results
	for i, n := range c.errs {
		b.errs[i] += n
	}
	b.left += c.left
	b.tells += c.tells
	b.refused += c.refused
	b.heard += c.heard
	b.began += c.began
	b.ended += c.ended
	b.started += c.started
	b.stopped += c.stopped
	b.barriers += c.barriers
	b.stashes += c.stashes
	b.forwards += c.forwards
	b.kept += c.kept
	b.escalations += c.escalations
	b.lots += c.lots
}

// role is what outlives the instances of a citizen, and its houses; a guest has one, too.
type role struct {
	stressBooks
	w    *stress
	id   int
	rng  *rand.Rand
	next [stressCitizens]int // the number of the last message to each
	// the number of the last message from each, by kind if kinds overtake each other
	last [stressAll][3]int
	done atomic.Int32 // functions that were kept and have returned
}

// see takes note of a message that begins: what one sends to another begins in its order, and once.
func (r *role) see(m mark, kind int) {
	switch mail := r.w.mail(r.id); {
	case m.N == 0: // it was forwarded
		return
	case mail == stressFair && m.From < stressCitizens && m.From%3 != 2: // its house may move
		return
	case mail != stressPriority:
		kind = 0
	}
	if last := &r.last[m.From][kind]; m.N <= *last {
		r.w.bad("message %d of %d to %d begins behind its %d", m.N, m.From, r.id, *last)
	} else {
		*last = m.N
	}
}

// mark numbers a message to slot to.
func (r *role) mark(to int) mark {
	r.next[to]++
	return mark{r.id, r.next[to]}
}

// port returns one for an ask, and the mark of that: a router's has no number, as nobody knows
// who gets it.
func (r *role) port() (core.Port[stressReq, uint64], mark) {
	to := r.rng.IntN(stressCitizens)
	switch what := r.rng.IntN(10); {
	case what < len(r.w.routes):
		return r.w.routes[what], mark{From: r.id}
	case what < 6:
		return citizenLots.At(r.w.citizen(to)), r.mark(to)
	}
	return citizenAsks.At(r.w.citizen(to)), r.mark(to)
}

// note takes down how an ask ended, or a job.
func (r *role) note(what string, err error) {
	for i, e := range stressErrors {
		if errors.Is(err, e) {
			r.errs[i]++
			return
		}
	}
	r.w.bad("%s of %d ended with %v", what, r.id, err)
}

// told takes down what became of a notice.
func (r *role) told(err error) {
	r.tells++
	switch err {
	case nil, core.ErrMailboxFull: // a dead letter
	case core.ErrStopped:
		r.refused++
	default:
		r.w.bad("a notice of %d is refused: %v", r.id, err)
	}
}

// stress is one run.
type stress struct {
	t      testing.TB
	seed   uint64
	sys    *house.System
	roles  [stressAll]*role
	at     [stressCitizens]atomic.Pointer[core.Address[citizen]]
	mayor  core.Address[mayor]
	office *mayor
	pool   core.OffloadPool // whose functions are kept
	group  core.Group[citizen]
	routes [3]core.Port[stressReq, uint64]
	spread core.NoticePort[tale]
	wrong  atomic.Int32
}

// bad is an error of the run; of many, some are shown.
func (w *stress) bad(format string, args ...any) {
	if w.wrong.Add(1) < 10 {
		w.t.Errorf("seed %d: "+format, append([]any{w.seed}, args...)...)
	}
}

func (w *stress) citizen(slot int) core.Address[citizen] { return *w.at[slot].Load() }

type (
	mark struct{ From, N int } // N 0: no number
	// stressReq is an ask; the reply is its Key's double.
	stressReq struct {
		mark
		Key   uint64
		Depth int
	}
	tale struct{ mark } // a lean notice
	saga struct{ mark } // one that waits

	citizen struct {
		*role
		alone  bool // it is Serial
		open   int  // its calls that have begun and haven't ended
		barred int  // barriers that stand
		shut   bool // what comes is stashed
	}
	citizenAsk struct {
		core.AskStack[stressReq, uint64]
		fs    [3]core.Future[uint64]
		keys  [3]uint64
		seen  [3]bool
		job   core.Future[int]
		tick  core.Future[core.Tick]
		asked int
		got   int
		keeps *keeping // the functions that are to return before it ends; nil: none
		bars  bool
		of    *citizen
	}
	citizenSaga struct {
		core.NoticeStack[saga]
		tick core.Future[core.Tick]
		of   *citizen
	}
	citizenLot struct {
		core.BatchAskStack[stressReq, uint64]
		tick core.Future[core.Tick]
	}
	// keeping counts what an ask keeps: there are two goroutines for such functions, so those of
	// another ask may return before.
	keeping struct {
		n    int32
		done atomic.Int32
	}
	// duty is what a function that is kept gets.
	duty struct {
		of   *role
		keep *keeping
		n    int
	}
)

// stressOpen is what citizens handle: from *stack.Stack, which census gets, to *citizenAsk or
// *citizenSaga.
var stressOpen sync.Map

// census is told of the end of each ask and each saga, whatever ends it.
type census struct{}

func (census) Begins(core.Running) error { return nil }

func (census) Ended(r core.Running, _ error) {
	v, ok := stressOpen.LoadAndDelete(stack.Of(r))
	if !ok {
		return // it was stashed
	}
	if s, ok := v.(*citizenSaga); ok {
		s.of.open--
		return
	}
	s := v.(*citizenAsk)
	s.of.open--
	s.of.ended++
	if k := s.keeps; k != nil && k.n > k.done.Load() {
		s.of.w.bad("an ask of %d ends before %d functions that it keeps have returned", s.of.id, k.n-k.done.Load())
	}
	s.of.left += s.asked - s.got
	if s.bars {
		s.of.barred--
	}
}

var (
	citizenAsks  core.Handler[citizen, stressReq, uint64]
	citizenLots  core.Handler[citizen, stressReq, uint64]
	citizenTales core.NoticeHandler[citizen, tale]
	citizenSagas core.NoticeHandler[citizen, saga]
	citizenOpens core.NoticeHandler[citizen, int]
	mayorAdds    core.Handler[mayor, int, int]
	mayorEnds    core.Handler[mayor, struct{}, int]
	mayorGone    core.NoticeHandler[mayor, core.Terminated]
)

func init() { // they call each other
	citizenAsks = core.Handle((*citizen).ask, census{})
	citizenLots = core.HandleBatch((*citizen).lot, 5)
	citizenTales = core.HandleNotice((*citizen).tale)
	citizenSagas = core.HandleNotice((*citizen).saga, census{})
	citizenOpens = core.HandleNotice((*citizen).opens)
	mayorAdds = core.Handle((*mayor).add)
	mayorEnds = core.Handle((*mayor).end)
	mayorGone = core.HandleNotice((*mayor).gone)
}

func (p *citizen) PreStart(s *core.HookStack) core.Yield {
	p.started++
	p.rests("starts")
	return s.Return()
}

func (p *citizen) PostStop(s *core.HookStack) core.Yield {
	p.stopped++
	p.rests("has ended")
	return s.Return()
}

// rests looks whether all is over that instances have begun.
func (p *citizen) rests(now string) {
	if done := int(p.done.Load()); done < p.kept {
		p.w.bad("%d %s beside %d functions that it keeps", p.id, now, p.kept-done)
	}
	if p.began != p.ended || p.open > 0 {
		p.w.bad("%d %s beside %d asks", p.id, now, p.began-p.ended)
	}
}

// begins takes note of a message, or says that it is to be stashed.
func (p *citizen) begins(m mark, kind int) (stashed bool) {
	if p.barred > 0 {
		p.w.bad("a message begins at %d, behind a barrier", p.id)
	}
	if p.alone && p.open > 0 {
		p.w.bad("a message begins at %d, which is Serial, beside another", p.id)
	}
	if p.stopped == p.started {
		p.w.bad("a message begins at %d, which has ended", p.id)
	}
	if p.shut {
		p.stashes++
		return true
	}
	p.see(m, kind)
	return false
}

func (p *citizen) ask(s *citizenAsk) core.Yield {
	if p.begins(s.Req.mark, 2) {
		return core.Stash(s)
	}
	s.of = p
	stressOpen.Store(stack.Of(s), s)
	p.open++
	p.began++
	what := p.rng.IntN(100)
	if s.Req.Depth == 0 {
		what = p.rng.IntN(49)
		if what == 48 {
			return p.keeps(s)
		}
	}
	switch {
	case what < 36:
		return p.answers(s)
	case what < 40:
		return s.Throw(errStress)
	case what < 42:
		panic(p.failure())
	case what < 45:
		return p.waits(s)
	case what < 48: // nothing else begins meanwhile
		s.Barrier()
		s.bars = true
		p.barriers++
		p.barred++
		return p.waits(s)
	case what < 58:
		p.forwards++
		return citizenAsks.At(p.w.citizen(p.rng.IntN(stressCitizens))).Forward(s, stressReq{Key: s.Req.Key, Depth: s.Req.Depth - 1})
	case what < 66:
		s.asked++
		p.jobs++
		core.Offload(s, &s.job, p.rng.IntN(6), labour)
		return core.Suspend(s, (*citizen).worked)
	case what < 68:
		return p.keeps(s)
	case what < 71:
		p.shuts(s)
		return p.answers(s)
	case what < 80:
		p.tellSome(s)
		return p.answers(s)
	case what < 81:
		p.w.citizen(p.rng.IntN(stressCitizens)).Stop()
		return p.answers(s)
	case what < 82:
		p.w.citizen(p.rng.IntN(stressCitizens)).Restart(errStress)
		return p.answers(s)
	}
	p.asksSome(s)
	switch p.rng.IntN(6) {
	case 0:
		return p.answers(s) // what was asked is given up
	case 1:
		panic(p.failure())
	case 2:
		return core.SuspendAny(s, (*citizen).some)
	case 3:
		return core.SuspendUntil(s, (*citizen).enough, (*citizen).all)
	}
	return core.Suspend(s, (*citizen).all)
}

// lot answers several at once. A Serial citizen, of which nobody says when a batch has ended,
// does so without a wait.
func (p *citizen) lot(s *citizenLot) core.Yield {
	for _, req := range s.All() {
		if p.begins(req.mark, 2) {
			return core.Stash(s)
		}
	}
	p.lots += s.Len()
	switch what := p.rng.IntN(10); {
	case what == 0:
		panic(p.failure())
	case what == 1:
		return s.ThrowAll(errStress)
	case what < 6 && !p.alone:
		core.Timer.Ask(s, &s.tick, time.Duration(p.rng.IntN(100))*time.Microsecond)
		return core.Suspend(s, (*citizen).lotWaited)
	}
	return p.lotWaited(s)
}

func (p *citizen) lotWaited(s *citizenLot) core.Yield {
	return s.ReturnEach(func(req *stressReq) (uint64, error) {
		if p.rng.IntN(10) == 0 {
			return 0, errStress
		}
		return 2 * req.Key, nil
	})
}

func (p *citizen) answers(s *citizenAsk) core.Yield { return s.Return(2 * s.Req.Key) }

// failure is what a citizen panics with, or throws, which its supervisor decides by.
func (p *citizen) failure() error {
	if p.id%3 == 0 && p.rng.IntN(4) == 0 { // the mayor is its parent
		p.escalations++
		return errStressEscalate
	}
	return [...]error{errStress, errStressResume, errStressResume, errStressStop}[p.rng.IntN(4)]
}

// keeps has one function run, or two, that nothing gives up, whatever becomes of the ask.
func (p *citizen) keeps(s *citizenAsk) core.Yield {
	s.keeps = new(keeping)
	for range 1 + p.rng.IntN(2) {
		core.OffloadKept(s, new(core.Future[int]), p.w.pool, p.duty(s, 0), kept)
	}
	s.asked++
	p.jobs++
	core.OffloadKept(s, &s.job, p.w.pool, p.duty(s, p.rng.IntN(6)), kept)
	if p.rng.IntN(2) == 0 {
		s.Barrier()
		s.bars = true
		p.barriers++
		p.barred++
	}
	switch p.rng.IntN(5) {
	case 0:
		return p.answers(s)
	case 1:
		panic(p.failure())
	}
	return core.Suspend(s, (*citizen).worked)
}

// duty is one more that s keeps.
func (p *citizen) duty(s *citizenAsk, n int) duty {
	p.kept++
	s.keeps.n++
	return duty{p.role, s.keeps, n}
}

// kept is offloaded.
func kept(ctx context.Context, d duty) (int, error) {
	defer func() {
		d.keep.done.Add(1)
		d.of.done.Add(1)
	}()
	runtime.Gosched()
	return labour(ctx, d.n)
}

func (p *citizen) waits(s *citizenAsk) core.Yield {
	core.Timer.Ask(s, &s.tick, time.Duration(p.rng.IntN(100))*time.Microsecond)
	return core.Suspend(s, (*citizen).waited)
}

func (p *citizen) waited(s *citizenAsk) core.Yield { return p.answers(s) }

// labour is offloaded.
func labour(_ context.Context, n int) (int, error) {
	switch n {
	case 0:
		panic("labour")
	case 1:
		return 0, errStress
	}
	return 2 * n, nil
}

func (p *citizen) worked(s *citizenAsk) core.Yield {
	s.got++
	if n, err := s.job.Get(); err != nil {
		p.note("a job", err)
	} else if p.results++; n < 4 || n > 10 || n%2 != 0 {
		p.w.bad("a job's result is %d", n)
	}
	return p.answers(s)
}

// shuts has the citizen stash what comes, until its own notice opens it. Where a mailbox may drop
// that, the citizen stays open: it would stash until its mailbox is full, and nothing would end
// that.
func (p *citizen) shuts(s *citizenAsk) {
	if mail := p.w.mail(p.id); mail == stressDropsOldest || mail == stressDropsNewest {
		return
	}
	if citizenOpens.At(core.Self[citizen](s)).Notice(s, 0) == nil {
		p.shut = true
	}
}

func (p *citizen) opens(s *core.NoticeStack[int]) core.Yield {
	p.shut = false
	core.Unstash(s)
	return s.Return()
}

// tellSome sends some notices to one other, or to two.
func (p *citizen) tellSome(s core.Running) {
	to, other := p.rng.IntN(stressCitizens), p.rng.IntN(stressCitizens)
	for n := p.rng.IntN(30); n > 0; n-- {
		switch p.rng.IntN(8) {
		case 0:
			p.told(citizenSagas.At(p.w.citizen(to)).Notice(s, saga{p.mark(to)}))
		case 1:
			p.told(citizenTales.At(p.w.citizen(other)).Notice(s, tale{p.mark(other)}))
		case 2:
			if err := p.w.spread.Notice(s, tale{mark{From: p.id}}); err != core.ErrNoMember {
				p.told(err)
			}
		default:
			p.told(citizenTales.At(p.w.citizen(to)).Notice(s, tale{p.mark(to)}))
		}
	}
}

// asksSome asks up to three others.
func (p *citizen) asksSome(s *citizenAsk) {
	for i := range 1 + p.rng.IntN(len(s.fs)) {
		s.keys[i] = p.rng.Uint64()
		s.asked++
		p.asks++
		to, m := p.port()
		req := stressReq{m, s.keys[i], s.Req.Depth - 1}
		if p.rng.IntN(3) == 0 {
			to.AskWithin(s, &s.fs[i], req, time.Duration(p.rng.IntN(400))*time.Microsecond)
		} else {
			to.Ask(s, &s.fs[i], req)
		}
	}
}

// look takes note of the answers that came since the last look.
func (p *citizen) look(s *citizenAsk) {
	for i := range s.fs {
		if !s.fs[i].Ready() || s.seen[i] {
			continue
		}
		s.seen[i] = true
		s.got++
		if n, err := s.fs[i].Get(); err != nil {
			p.note("an ask", err)
		} else if p.replies++; n != 2*s.keys[i] {
			p.w.bad("the reply to %x of %d is %x", s.keys[i], p.id, n)
		}
	}
}

func (p *citizen) enough(s *citizenAsk) bool { return s.fs[0].Ready() }

func (p *citizen) some(s *citizenAsk) core.Yield {
	if p.look(s); s.got < s.asked && p.rng.IntN(3) > 0 {
		return core.SuspendAny(s, (*citizen).some)
	}
	return p.answers(s)
}

func (p *citizen) all(s *citizenAsk) core.Yield { p.look(s); return p.answers(s) }

func (p *citizen) tale(s *core.NoticeStack[tale]) core.Yield {
	if p.begins(s.Msg.mark, 1) {
		return core.Stash(s)
	}
	p.heard++
	switch p.rng.IntN(200) {
	case 0:
		return s.Throw(p.failure())
	case 1:
		panic(p.failure())
	case 2:
		p.tellSome(s)
	}
	return s.Return()
}

func (p *citizen) saga(s *citizenSaga) core.Yield {
	if p.begins(s.Msg.mark, 0) {
		return core.Stash(s)
	}
	s.of = p
	stressOpen.Store(stack.Of(s), s)
	p.open++
	p.heard++
	core.Timer.Ask(s, &s.tick, time.Duration(p.rng.IntN(50))*time.Microsecond)
	return core.Suspend(s, (*citizen).sagaEnds)
}

func (p *citizen) sagaEnds(s *citizenSaga) core.Yield {
	if p.rng.IntN(20) == 0 {
		return s.Throw(p.failure())
	}
	return s.Return()
}

// mayor has citizens live, and live again, until it is told to end them.
type mayor struct {
	w       *stress
	alive   map[core.AnyAddress]int
	ends    bool
	watched int
	told    int
}

// stressLives: failures cost a citizen its instance, nothing, its life, or are its parent's
// business, as often as they come.
func (w *stress) lives(slot int) *core.Strategy {
	s := &core.Strategy{Restarts: -1, Decide: core.Decide(core.Restart, core.OnIs(errStressResume, core.Resume),
		core.OnIs(errStressStop, core.Stop), core.OnIs(errStressEscalate, core.Escalate))}
	switch {
	case slot == 4:
		s.Backoff, s.BackoffMax = 100e3, 1e6
	case slot == 5 && w.seed%2 == 1:
		s.Restarts = 0 // the default: it is held now and then
	}
	return s
}

// The mailboxes of citizens.
const (
	stressDefault = iota
	stressRejects
	stressDropsOldest
	stressDropsNewest
	stressUnbounded
	stressPriority
	stressFair
	stressMails
)

func (w *stress) mail(slot int) int { return (slot + int(w.seed)) % stressMails }

func (w *stress) mailbox(slot int) core.Mailbox {
	switch w.mail(slot) {
	case stressRejects:
		return core.Bounded(40, core.Reject)
	case stressDropsOldest:
		return core.Bounded(40, core.DropOldest)
	case stressDropsNewest:
		return core.Bounded(40, core.DropNewest)
	case stressUnbounded:
		return core.Unbounded()
	case stressPriority:
		return core.ByPriority(40, citizenSagas.Class(func(*saga) int { return 0 }), citizenTales.Class(func(*tale) int { return 1 }))
	case stressFair:
		return core.FairBySender(40)
	}
	return core.Mailbox{}
}

// passivation has some citizens stop by themselves.
func (w *stress) passivation(slot int) core.Passivation {
	switch slot {
	case 1:
		return core.Passivation{Messages: 300}
	case 7:
		return core.Passivation{Idle: 300 * time.Microsecond}
	}
	return core.Passivation{}
}

// add spawns the citizen of a slot, where slots of its kind are born, and watches it.
func (k *mayor) add(s *core.AskStack[int, int]) core.Yield { k.spawn(s, s.Req); return s.Return(0) }

func (k *mayor) spawn(s core.Running, slot int) {
	all := k.w.sys.Workers()
	// a house stays where it is only if its place is a worker
	place := [...]core.Place{core.Under(s), k.w.sys, all[slot%len(all)]}[slot%3]
	r := k.w.roles[slot]
	alone := slot == 6 && k.w.seed%2 == 0
	a, err := core.SpawnWith(place, func() *citizen { return &citizen{role: r, alone: alone} }, core.Props{
		Name: fmt.Sprintf("citizen%d", slot), OnFailure: k.w.lives(slot), Serial: alone, Mailbox: k.w.mailbox(slot), Passivate: k.w.passivation(slot)})
	if err != nil {
		k.w.bad("the name of citizen %d isn't free: %v", slot, err)
		return
	}
	k.w.at[slot].Store(&a)
	k.w.group.Join(a)
	k.alive[a.Any()] = slot
	k.watched++
	core.Watch(s, a, mayorGone)
}

func (k *mayor) gone(s *core.NoticeStack[core.Terminated]) core.Yield {
	slot, known := k.alive[s.Msg.Actor]
	if k.told++; !known {
		k.w.bad("the mayor hears twice, or of a stranger: %v", s.Msg.Actor)
		return s.Return()
	}
	delete(k.alive, s.Msg.Actor)
	if !k.ends {
		k.spawn(s, slot)
	}
	return s.Return()
}

// end has all citizens end, and none live again; the reply is how many still live.
func (k *mayor) end(s *core.AskStack[struct{}, int]) core.Yield {
	if !k.ends {
		k.ends = true
		for _, at := range slices.SortedFunc(maps.Values(k.alive), cmp.Compare) {
			k.w.citizen(at).Stop()
		}
	}
	return s.Return(len(k.alive))
}
