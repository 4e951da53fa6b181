package core_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// Random operations on a tree of actors, beside the reference of life_model_reference_test.go: what each
// actor was refVerb and did, in its order, how each call ended, who heard of whose end, who is left and what it is called
// must be the same after each operation.

const (
	slot    = 200e6 // ns: timers end in one each
	timerAt = 0.99  // where in it
	jitter  = 0.004 // slots that turns may take
	askFor  = 40.04 // slots that an ask may take
	opsTime = 0.02  // slots that operations of one slot may take
	askTime = askFor * slot
)

// The kinds of actors: without hooks, with PreStart and PostStop, with all four.
const (
	kindBare = iota
	kindEnds
	kindFull
)

const (
	hookStart = iota
	hookStop
	hookEnd
	hookAgain
)

var hookNames = [...]string{"PreStart", "PostStop", "PreRestart", "PostRestart"}

var modelErrors = [errorKinds]error{errors.New("e0"), errors.New("e1"), errors.New("e2"), errors.New("e3")}

// mortal is an actor of the tests.
type mortal struct {
	w    *modelWorld
	plan *plan
	life int
	hook int
	wait core.Future[core.Tick]
}

type (
	bareMortal struct{ mortal }
	endsMortal struct{ mortal }
	fullMortal struct{ mortal }
)

func (p *endsMortal) PreStart(s *core.HookStack) core.Yield {
	return p.runs(s, hookStart, (*endsMortal).ran)
}
func (p *endsMortal) PostStop(s *core.HookStack) core.Yield {
	return p.runs(s, hookStop, (*endsMortal).ran)
}
func (p *endsMortal) ran(s *core.HookStack) core.Yield         { return p.ends(s) }
func (p *fullMortal) PreStart(s *core.HookStack) core.Yield    { return fullHook(p, s, hookStart) }
func (p *fullMortal) PostStop(s *core.HookStack) core.Yield    { return fullHook(p, s, hookStop) }
func (p *fullMortal) PreRestart(s *core.HookStack) core.Yield  { return fullHook(p, s, hookEnd) }
func (p *fullMortal) PostRestart(s *core.HookStack) core.Yield { return fullHook(p, s, hookAgain) }
func (p *fullMortal) ran(s *core.HookStack) core.Yield         { return p.ends(s) }

func (p *endsMortal) runs(s *core.HookStack, hook int, next func(*endsMortal, *core.HookStack) core.Yield) core.Yield {
	if p.waits(s, hook) {
		return core.Suspend(s, next)
	}
	return p.ends(s)
}

func fullHook(p *fullMortal, s *core.HookStack, hook int) core.Yield {
	if p.waits(s, hook) {
		return core.Suspend(s, (*fullMortal).ran)
	}
	return p.ends(s)
}

// waits begins a hook, and reports whether it has asked for a timer.
func (p *mortal) waits(s *core.HookStack, hook int) bool {
	p.hook = hook
	p.w.note(p.plan.id, "%d:%s", p.life, hookNames[hook])
	switch p.plan.doesIn(hook, p.life) {
	case waits, panicsLater, throwsLater:
		core.Timer.Ask(s, &p.wait, p.w.take(fmt.Sprintf("hook%d.%d.%d", p.plan.id, p.life, hook)))
		return true
	}
	return false
}

func (p *mortal) ends(s *core.HookStack) core.Yield {
	switch p.plan.doesIn(p.hook, p.life) {
	case panicsNow, panicsLater:
		panic(modelErrors[p.plan.failWith])
	case throwsNow, throwsLater:
		return s.Throw(modelErrors[p.plan.failWith])
	}
	return s.Return()
}

type (
	mortalAsk struct {
		core.AskStack[*refCall, int]
		wait core.Future[core.Tick]
	}
	mortalNotice struct {
		core.NoticeStack[*refCall]
		wait core.Future[core.Tick]
	}
)

// does begins a call, and reports whether it waits.
func (p *mortal) does(s core.Running, wait *core.Future[core.Tick], c *refCall) bool {
	p.w.note(p.plan.id, "%d:call%d", p.life, c.id)
	switch c.act {
	case waits, panicsLater, throwsLater, bars:
		core.Timer.Ask(s, wait, p.w.take(fmt.Sprintf("call%d", c.id)))
		return true
	case begets:
		c.reply = p.w.spawn(core.Under(s), c.child)
	case watches:
		p.w.refs[c.target.id].watch(s, p.plan.kind, false)
	case unwatches:
		p.w.refs[c.target.id].watch(s, p.plan.kind, true)
	case stopsSelf:
		p.w.refs[p.plan.id].Stop()
	}
	return false
}

// breaks ends a call that fails.
func (c *refCall) breaks() error {
	switch c.act {
	case panicsNow, panicsLater:
		panic(modelErrors[c.err])
	case throwsNow, throwsLater:
		return modelErrors[c.err]
	}
	return nil
}

func onAsk[A any](a *A, s *mortalAsk) core.Yield {
	p := any(a).(mortalOf).me()
	if s.Req.act == bars {
		s.Barrier()
	}
	if p.does(s, &s.wait, s.Req) {
		return core.Suspend(s, afterAsk[A])
	}
	return endAsk(s)
}

func afterAsk[A any](a *A, s *mortalAsk) core.Yield {
	if _, err := s.wait.Get(); err != nil {
		return s.Throw(err)
	}
	p := any(a).(mortalOf).me()
	p.w.note(p.plan.id, "%d:end%d", p.life, s.Req.id)
	return endAsk(s)
}

func endAsk(s *mortalAsk) core.Yield {
	if err := s.Req.breaks(); err != nil {
		return s.Throw(err)
	}
	return s.Return(s.Req.reply)
}

func onNotice[A any](a *A, s *mortalNotice) core.Yield {
	if s.Msg.act == bars {
		s.Barrier()
	}
	if any(a).(mortalOf).me().does(s, &s.wait, s.Msg) {
		return core.Suspend(s, afterNotice[A])
	}
	return endNotice(s)
}

func afterNotice[A any](a *A, s *mortalNotice) core.Yield {
	if _, err := s.wait.Get(); err != nil {
		return s.Throw(err)
	}
	p := any(a).(mortalOf).me()
	p.w.note(p.plan.id, "%d:end%d", p.life, s.Msg.id)
	return endNotice(s)
}

func endNotice(s *mortalNotice) core.Yield {
	if err := s.Msg.breaks(); err != nil {
		return s.Throw(err)
	}
	return s.Return()
}

func onTerminated[A any](a *A, s *core.NoticeStack[core.Terminated]) core.Yield {
	p := any(a).(mortalOf).me()
	p.w.saw = append(p.w.saw, fmt.Sprintf("%d.%d saw %d", p.plan.id, p.life, p.w.ids[s.Msg.Actor]))
	return s.Return()
}

type mortalOf interface{ me() *mortal }

func (p *mortal) me() *mortal { return p }

// species is the handlers of one kind of mortal.
type species[A any] struct {
	ask    core.Handler[A, *refCall, int]
	notice core.NoticeHandler[A, *refCall]
	hears  core.NoticeHandler[A, core.Terminated]
}

func newSpecies[A any]() species[A] {
	return species[A]{core.Handle(onAsk[A]), core.HandleNotice(onNotice[A]), core.HandleNotice(onTerminated[A])}
}

var (
	bareSpecies species[bareMortal]
	endsSpecies species[endsMortal]
	fullSpecies species[fullMortal]
)

func init() { // they spawn each other
	bareSpecies, endsSpecies, fullSpecies = newSpecies[bareMortal](), newSpecies[endsMortal](), newSpecies[fullMortal]()
}

// ref is an actor of any kind.
type ref interface {
	Stop()
	Drain()
	Pause()
	Continue()
	Restart(error)
	Path() core.Path
	call(*refCall) core.Pending[int]
	watch(s core.Running, by int, no bool)
	found(core.Directory) error
}

type refOf[A any] struct {
	core.Address[A]
	of *species[A]
}

func (r refOf[A]) call(c *refCall) (p core.Pending[int]) {
	if c.ask {
		return core.Begin(r.of.ask.At(r.Address), c)
	}
	if err := core.Notice(r.of.notice.At(r.Address), c); err != nil {
		panic(err)
	}
	return p
}

func (r refOf[A]) found(in core.Directory) error {
	a, err := core.Lookup[A](in, r.Path().String())
	if err == nil && a != r.Address {
		return errors.New("another actor")
	}
	return err
}

func (r refOf[A]) watch(s core.Running, by int, no bool) {
	switch by {
	case kindBare:
		watchOr(s, r.Address, bareSpecies.hears, no)
	case kindEnds:
		watchOr(s, r.Address, endsSpecies.hears, no)
	default:
		watchOr(s, r.Address, fullSpecies.hears, no)
	}
}

func watchOr[B, A any](s core.Running, target core.Address[A], by core.NoticeHandler[B, core.Terminated], no bool) {
	if no {
		core.Unwatch(s, target, by)
	} else {
		core.Watch(s, target, by)
	}
}

// modelWorld is a simulation and the reference beside it.
type modelWorld struct {
	*housetest.Sim
	*reference
	t    *testing.T
	rng  *rand.Rand
	refs []ref
	ids  map[core.AnyAddress]int

	at     int // the slot
	used   map[int]bool
	lines  [][]string
	saw    []string
	asked  []*refCall // that haven't ended
	calls  int
	names  int
	chatty bool // each operation is logged
}

func (w *modelWorld) note(id int, format string, args ...any) {
	w.lines[id] = append(w.lines[id], fmt.Sprintf(format, args...))
}

// take returns how long to wait, to the end of a slot that nobody else has.
func (w *modelWorld) take(who string) time.Duration {
	n := int(float64(w.Now)/slot + 0.005)
	for n += len(who) * int(who[len(who)-1]) % 5; w.used[n]; n++ {
	}
	w.used[n] = true
	w.reference.waits[who] = float64(n) + timerAt
	return time.Duration((float64(n)+timerAt)*slot) - time.Duration(w.Now)
}

// spawn returns 0, or 1 and the number of who has the name, -1 if that is of another kind.
func (w *modelWorld) spawn(at core.Place, p *plan) int {
	switch p.kind {
	case kindBare:
		return spawnOf(w, at, p, &bareSpecies, func() (*bareMortal, *mortal) { a := &bareMortal{}; return a, &a.mortal })
	case kindEnds:
		return spawnOf(w, at, p, &endsSpecies, func() (*endsMortal, *mortal) { a := &endsMortal{}; return a, &a.mortal })
	}
	return spawnOf(w, at, p, &fullSpecies, func() (*fullMortal, *mortal) { a := &fullMortal{}; return a, &a.mortal })
}

func spawnOf[A any](w *modelWorld, at core.Place, p *plan, of *species[A], make func() (*A, *mortal)) int {
	life := 0
	for len(w.refs) <= p.id {
		w.refs, w.lines = append(w.refs, nil), append(w.lines, nil)
	}
	a, err := core.SpawnWith(at, func() *A {
		life++
		a, of := make()
		of.w, of.plan, of.life = w, p, life
		return a
	}, core.Props{Name: p.name, OnFailure: p.own.strategy(), Children: p.below.strategy(), Serial: p.serial})
	switch {
	case err == nil:
		p.serialNo = a.House().Serial()
		w.refs[p.id] = refOf[A]{a, of}
		w.ids[a.Any()] = p.id
		return 0
	case !errors.Is(err, core.ErrAlreadyExists):
		panic(err)
	case a == core.Address[A]{}:
		return -1
	}
	return 1 + w.ids[a.Any()]
}

// strategy is p for the runtime.
func (p *policy) strategy() *core.Strategy {
	if p == nil {
		return nil
	}
	s := &core.Strategy{Restarts: p.limit, Window: int64(p.window * slot), Backoff: int64(p.backoff * slot), BackoffMax: int64(p.backoffMax * slot)}
	switch p.scope {
	case forAll:
		s.Scope = core.AllForOne
	case forRest:
		s.Scope = core.RestForOne
	}
	s.Decide = func(err error) core.Directive {
		for i, e := range modelErrors {
			var start *core.StartError
			if errors.As(err, &start) && errors.Is(err, e) {
				return modelDirectives[p.start[i]]
			} else if errors.Is(err, e) {
				return modelDirectives[p.by[i]]
			}
		}
		panic(err)
	}
	return s
}

var modelDirectives = [directives]core.Directive{core.Restart, core.Resume, core.Stop, core.Escalate}

// chance is what the runtime takes for a number from 0 to 1 that differs between actors and restarts:
// splitmix64, as any other would do.
func chance(serial uint64, n int) float64 {
	z := (serial<<8 + uint64(n) + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

// outcome is how an ask ended, in the words of the reference.
func outcome(n int, err error) string {
	for i, e := range modelErrors {
		if errors.Is(err, e) && errors.Is(err, core.ErrPanic) {
			return fmt.Sprintf("panic%d", i)
		} else if errors.Is(err, e) {
			return fmt.Sprintf("threw%d", i)
		}
	}
	switch {
	case err == nil && n == 0:
		return "ok"
	case err == nil && n < 0:
		return "taken"
	case err == nil:
		return fmt.Sprintf("taken%d", n-1)
	case err == core.ErrStopped:
		return "stopped"
	case err == core.ErrRestarted:
		return "restarted"
	case err == core.ErrTimeout:
		return "timeout"
	}
	return err.Error()
}

// compare has both come to rest, and compares.
func (w *modelWorld) compare() bool {
	w.Rest()
	w.settle()
	if w.unsure != "" {
		return true
	}
	good := true
	bad := func(format string, args ...any) {
		w.t.Helper()
		w.t.Errorf(format, args...)
		good = false
	}
	for id := range w.lines {
		var want []string
		if id < len(w.reference.lines) {
			want = w.reference.lines[id]
			w.reference.lines[id] = nil
		}
		if !slices.Equal(w.lines[id], want) {
			bad("actor %d: %v, want %v", id, w.lines[id], want)
		}
		w.lines[id] = nil
	}
	slices.Sort(w.saw)
	slices.Sort(w.reference.saw)
	if !slices.Equal(w.saw, w.reference.saw) {
		bad("heard of ends: %v, want %v", w.saw, w.reference.saw)
	}
	w.saw, w.reference.saw = nil, nil
	w.asked = slices.DeleteFunc(w.asked, func(c *refCall) bool {
		got := ""
		if c.pending.Ready() {
			got = outcome(c.pending.Get())
		}
		if want := w.ends[c.id]; got != want {
			bad("call %d ended %q, want %q", c.id, got, want)
		}
		delete(w.ends, c.id)
		return got != ""
	})
	if len(w.ends) > 0 {
		bad("these ended twice: %v", w.ends)
	}
	if got, want := w.Actors(), len(w.alive); got != want {
		bad("%d actors, want %d", got, want)
	}
	return good
}

// lookup compares the names.
func (w *modelWorld) lookup() bool {
	for _, a := range w.actors {
		if a == nil || a.name == "" {
			continue
		}
		err := w.refs[a.id].found(w.Sim)
		if has := w.reference.names[a.path()]; has == a && err != nil || has != a && err == nil {
			w.t.Errorf("lookup of %d, %s: %v", a.id, a.path(), err)
			return false
		}
	}
	return true
}

// modelRun is one simulation of so many operations; it returns how many were done.
func modelRun(t *testing.T, seed uint64, ops int, table *coverage) (done int) {
	w := &modelWorld{
		Sim:       housetest.New(t, seed, house.Config{Workers: 1 + int(seed%3), Logger: quietLogger, AskTimeout: time.Duration(askTime)}),
		reference: &reference{names: map[string]*refActor{}, ends: map[int]string{}, waits: map[string]float64{}, table: table},
		t:         t, rng: rand.New(rand.NewPCG(seed, 1)), ids: map[core.AnyAddress]int{}, used: map[int]bool{},
	}
	w.chatty = os.Getenv("STACKHOUSE_LIFE") == strconv.FormatUint(seed, 10)
	for done = 0; done < ops && w.unsure == ""; {
		w.reference.now = float64(w.Now) / slot
		done += w.operation()
		if !w.compare() || done%16 == 0 && !w.lookup() {
			for _, a := range w.alive {
				w.did("%d stands %d, life %d, hook %d to %.2f, rests %t to %.2f, paused %t, drains %t, %d begun, %d queued", a.id, a.stand, a.life, a.hook, a.hookDue, a.resting, a.restsTo, a.paused, a.drains, len(a.begun), len(a.calls))
			}
			t.Fatalf("seed %d, after %d operations; STACKHOUSE_LIFE=%d shows them", seed, done, seed)
		}
	}
	w.finish()
	return done
}

var quietLogger = slog.New(slog.DiscardHandler)

// finish has all stop, and looks at what is left and at what was counted.
func (w *modelWorld) finish() {
	for _, a := range slices.Clone(w.alive) {
		if a.parent == nil {
			w.system(a, "stop", toldStop, w.refs[a.id].Stop)
		}
	}
	for w.unsure == "" && w.compare() && len(w.alive) > 0 {
		w.timePasses(5)
	}
	for rounds := 0; w.unsure != "" && w.Actors() > 0; rounds++ { // all must end, whatever came first
		for _, r := range w.refs {
			if r != nil {
				r.Stop()
			}
		}
		if w.Run(time.Second); rounds > 1000 {
			w.t.Fatalf("seed %d: %d actors never stop", w.Seed, w.Actors())
		}
	}
	for _, c := range w.asked {
		if !c.pending.Ready() {
			w.t.Fatalf("seed %d: call %d has not ended", w.Seed, c.id)
		}
		c.pending.Get()
	}
	if w.unsure != "" || w.t.Failed() {
		return
	}
	for range 64 {
		for _, worker := range w.Workers() {
			worker.Turn() // counts are published now and then
		}
	}
	st := w.Stats()
	if n := int(st.DeadLetter); n < w.dead || n > w.dead+w.unheard {
		w.t.Errorf("seed %d: %d dead letters, want %d to %d", w.Seed, n, w.dead, w.dead+w.unheard)
	}
	for _, c := range []struct {
		name      string
		got, want int
	}{{"failures", int(st.Failures), w.failures}, {"restarts", int(st.Restarts), w.restarts}, {"expired calls", int(st.Expired), w.expired}, {"late answers", int(st.Late), 0}} {
		if c.got != c.want {
			w.t.Errorf("seed %d: counted %d %s, want %d", w.Seed, c.got, c.name, c.want)
		}
	}
}

// operation does something at random, and returns how many operations that was.
func (w *modelWorld) operation() int {
	if len(w.alive) == 0 || w.rng.IntN(100) < max(1, 12-len(w.alive)) {
		return w.bornAtTop()
	}
	if float64(w.Now)/slot-float64(w.at) > opsTime || w.rng.IntN(6) == 0 {
		return w.timePasses(1 + w.rng.IntN(2)*w.rng.IntN(12))
	}
	a := w.alive[w.rng.IntN(len(w.alive))]
	for range 3 {
		if a.parent == nil || a.stand != isUp { // most happens where there are parents
			a = w.alive[w.rng.IntN(len(w.alive))]
		}
	}
	for _, b := range w.alive { // what is seldom, and so much the better
		if b.stand != isUp || b.parent == nil || w.rng.IntN(2) == 0 {
			continue
		}
		if (b.parent.resting || b.restsBeside()) && len(b.calls) < 4 {
			w.callSomething(b)
			return 1
		} else if b.inGroup() && slices.ContainsFunc(b.begun, (*refCall).fails) && !b.paused && !b.drains {
			w.holdSomehow(b)
			return 1
		}
	}
	if w.rng.IntN(12) == 0 { // the dead answer, too
		if a = w.actors[w.rng.IntN(len(w.actors))]; a == nil {
			return 0
		}
	}
	n := 1
	if w.rng.IntN(4) == 0 {
		n += w.rng.IntN(4)
	}
	for range n {
		w.tellSomething(a)
	}
	return n
}

// did writes an operation down.
func (w *modelWorld) did(format string, args ...any) {
	if w.chatty {
		w.t.Logf("%.3f "+format, append([]any{w.reference.now}, args...)...)
	}
}

func (w *modelWorld) timePasses(slots int) int {
	w.at += slots
	w.did("to slot %d", w.at)
	for next := math.Floor(float64(w.Now)/slot) + 1; next <= float64(w.at); next++ {
		w.Run(time.Duration(next*slot - float64(w.Now)))
		w.until(next)
		if w.unsure != "" {
			break
		}
	}
	return 1
}

func (w *modelWorld) bornAtTop() int {
	p := w.newPlan(nil)
	if p.name != "" && w.rng.IntN(3) == 0 {
		for _, a := range w.alive {
			if a.parent == nil && a.name != "" {
				p.name = a.name
			}
		}
	}
	var at core.Place = w.Sim
	if w.rng.IntN(2) == 0 {
		all := w.Workers()
		at = all[w.rng.IntN(len(all))]
	}
	n := w.spawn(at, p)
	w.did("spawn %v: %d", p, n)
	want := 0
	if p.name != "" {
		if had := w.reference.names[p.path()]; had != nil {
			if want = -1; had.kind == p.kind {
				want = 1 + had.id
			}
		}
	}
	if n != want {
		w.t.Errorf("spawn of %s: %d, want %d", p.path(), n, want)
	}
	if n == 0 {
		w.born(p)
	}
	return 1
}

// newPlan makes up an actor.
func (w *modelWorld) newPlan(parent *refActor) *plan {
	p := &plan{id: len(w.refs), kind: w.rng.IntN(3), parent: parent, serial: w.rng.IntN(5) == 0, failWith: w.rng.IntN(errorKinds)}
	w.refs, w.lines = append(w.refs, nil), append(w.lines, nil)
	if w.rng.IntN(3) > 0 {
		w.names++
		p.name = fmt.Sprintf("n%d", w.names)
		if parent != nil && w.rng.IntN(2) == 0 {
			p.name = fmt.Sprintf("child%d", w.rng.IntN(3))
		}
	}
	if w.rng.IntN(3) > 0 {
		p.own = w.newPolicy()
	}
	if w.rng.IntN(5) > 0 {
		p.below = w.newPolicy()
	}
	if parent != nil && w.rng.IntN(6) > 0 {
		p.own = nil
	}
	for i := range p.hooks {
		p.hooks[i] = [...]act{returns, returns, waits, waits, panicsNow, panicsLater, throwsNow, throwsLater}[w.rng.IntN(8)]
	}
	p.failing = w.rng.IntN(4)
	if p.kind == kindFull && w.rng.IntN(3) > 0 { // its first start is good, a later one isn't
		p.hooks[hookStart] = returns
		p.hooks[hookAgain] = [...]act{panicsNow, panicsLater, throwsNow, throwsLater}[w.rng.IntN(4)]
		p.failing = 2 + w.rng.IntN(3)
	}
	if !(&refActor{plan: p}).local() {
		for _, i := range []int{hookStart, hookAgain} {
			switch p.hooks[i] {
			case panicsNow:
				p.hooks[i] = panicsLater
			case throwsNow:
				p.hooks[i] = throwsLater
			}
		}
	}
	return p
}

func (w *modelWorld) newPolicy() *policy {
	p := &policy{window: 600, limit: -1, scope: [...]int{forOne, forAll, forAll, forRest, forRest}[w.rng.IntN(5)]}
	for i := range p.by {
		p.by[i], p.start[i] = w.rng.IntN(directives), [...]int{toRestart, toRestart, toResume, toStop, toEscalate}[w.rng.IntN(5)]
	}
	if w.rng.IntN(3) == 0 {
		p.limit, p.window = 1+w.rng.IntN(3), 10.5
	}
	if w.rng.IntN(2) == 0 {
		p.backoff, p.backoffMax = 5.7, 40
	}
	return p
}

// local says that the failures of a are no concern of others, whatever they are.
func (a *refActor) local() bool {
	p := a.policyOf(nil)
	if a.parent == nil {
		return true
	}
	return (a.own != nil || p.scope == forOne) && !slices.Contains(p.by[:], toEscalate) && !slices.Contains(p.start[:], toEscalate)
}

func (a *refActor) root() *refActor {
	for a.parent != nil {
		a = a.parent
	}
	return a
}

func (c *refCall) fails() bool { return c.act >= panicsNow && c.act <= throwsLater }

// troubled says that somebody of the family of a has a call to come that will fail, and concern others.
func (w *modelWorld) troubled(a *refActor) bool {
	for _, b := range w.alive {
		if b.root() == a.root() && !b.local() && (slices.ContainsFunc(b.calls, (*refCall).fails) || slices.ContainsFunc(b.begun, (*refCall).fails)) {
			return true
		}
	}
	return false
}

// tellSomething is one operation on a.
func (w *modelWorld) tellSomething(a *refActor) {
	r := w.refs[a.id]
	n := w.rng.IntN(50)
	if slices.ContainsFunc(a.begun, (*refCall).fails) { // a failure to come, in what state?
		n = w.rng.IntN(15)
	}
	switch n {
	case 0:
		w.system(a, "stop", toldStop, r.Stop)
	case 1, 12:
		w.holdSomehow(a)
	case 2, 3, 4:
		w.system(a, "pause", toldPause, r.Pause)
	case 5, 6, 7, 8:
		w.system(a, "continue", toldContinue, r.Continue)
	case 9, 10, 13:
		w.did("restart %d", a.id)
		e := w.rng.IntN(errorKinds)
		r.Restart(modelErrors[e])
		w.tell(a, refTold{what: toldRestart, err: e})
	default:
		w.callSomething(a)
	}
}

// holdSomehow pauses or drains a.
func (w *modelWorld) holdSomehow(a *refActor) {
	if w.rng.IntN(5) > 1 {
		w.system(a, "pause", toldPause, w.refs[a.id].Pause)
		return
	}
	w.did("drain %d", a.id)
	w.refs[a.id].Drain()
	w.call(a, &refCall{act: marks})
}

// inGroup says that what becomes of a becomes of others.
func (a *refActor) inGroup() bool {
	return a.parent != nil && a.own == nil && a.parent.below != nil && a.parent.below.scope != forOne
}

func (w *modelWorld) system(a *refActor, name string, what refVerb, do func()) {
	w.did("%s %d", name, a.id)
	do()
	w.tell(a, refTold{what: what})
}

func (w *modelWorld) callSomething(a *refActor) {
	w.calls++
	c := &refCall{id: w.calls, act: [...]act{returns, waits, waits, panicsNow, panicsLater, panicsLater, throwsNow, throwsLater, throwsLater, bars, stopsSelf,
		begets, begets, begets, begets, watches, watches, unwatches}[w.rng.IntN(18)], err: w.rng.IntN(errorKinds), ask: w.rng.IntN(3) > 0}
	if a.parent != nil && (a.parent.resting || a.restsBeside()) && w.rng.IntN(4) > 0 {
		c.act = panicsNow
	} else if a.inGroup() && w.rng.IntN(2) == 0 {
		c.act = [...]act{panicsNow, panicsLater, panicsLater, throwsLater}[w.rng.IntN(4)]
	}
	if c.fails() && !a.local() && w.troubled(a) {
		c.act = waits
	}
	switch c.act {
	case begets:
		if len(w.alive) > 32 || a.closed() {
			c.act = returns
		} else {
			c.child = w.newPlan(a)
		}
	case watches, unwatches:
		c.target = w.actors[w.rng.IntN(len(w.actors))]
		if c.target == nil || c.target.root() == a.root() && !c.target.isBelow(a) {
			c.act = returns
		}
	}
	if c.ask {
		c.deadline = w.reference.now + askFor
	}
	text := fmt.Sprintf("call%d to %d: %s error %d ask %t", c.id, a.id, actNames[c.act], c.err, c.ask)
	if c.child != nil {
		text += ": " + c.child.String()
	}
	w.did(text)
	c.pending = w.refs[a.id].call(c)
	if c.ask {
		w.asked = append(w.asked, c)
	}
	w.call(a, c)
}

// isBelow says that a is a child of b, or a child of one.
func (a *refActor) isBelow(b *refActor) bool {
	for a = a.parent; a != nil; a = a.parent {
		if a == b {
			return true
		}
	}
	return false
}

func modelRuns(t *testing.T, ops int) {
	var table coverage
	unsure, sims := 0, 0
	for seed := uint64(0); ops > 0; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			n := modelRun(t, seed, min(ops, 1000), &table)
			if ops -= n; n < 1000 {
				unsure++
			}
		})
		if sims++; t.Failed() {
			return
		}
	}
	t.Logf("%d simulations, of which %d ended early, where two things would have happened at about the same time", sims, unsure)
	t.Log(table.text())
	for d, of := range table {
		for s, row := range of {
			for state, n := range row {
				if n == 0 {
					t.Errorf("directive %d, scope %d, %s: never reached", d, s, stateNames[state])
				}
			}
		}
	}
}

// TestLifeModel is 100,000 operations.
func TestLifeModel(t *testing.T) { modelRuns(t, 100_000) }

// TestLifeModelLong is 10 million.
func TestLifeModelLong(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG=1: this takes half an hour")
	}
	modelRuns(t, 10_000_000)
}
