package core_test

import (
	"errors"
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
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
	if c := p.plan.bearsWhen(hook, p.life); c != nil {
		if n := p.w.spawn(core.Under(s), c); n != 0 {
			p.w.t.Errorf("spawn in a hook: %d", n)
		}
	}
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
	found(core.Finder) error
}

type refOf[A any] struct {
	core.Address[A]
	of *species[A]
}

func (r refOf[A]) call(c *refCall) (p core.Pending[int]) {
	if c.ask {
		return core.Begin(r.of.ask.At(r.Address), c)
	}
	if err := core.Notice(r.of.notice.At(r.Address), c); err == core.ErrStopped {
		c.refused = true
	} else if err != nil {
		panic(err)
	}
	return p
}

func (r refOf[A]) found(in core.Finder) error {
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
