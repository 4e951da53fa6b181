package stack

import (
	"sync"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// idle is a Driver for workers whose turns the test takes by hand.
type idleDriver struct {
	woken  int
	failed []error
	mu     sync.Mutex
	now    func() int64
}

func (d *idleDriver) Wake()                 { d.mu.Lock(); d.woken++; d.mu.Unlock() }
func (d *idleDriver) Clock() int64          { return d.now() }
func (d *idleDriver) Wait(int64, bool)      {}
func (d *idleDriver) Arm(n *future.Node)    { n.Slot = 1 }
func (d *idleDriver) Disarm(n *future.Node) { n.Slot = 0 }
func (d *idleDriver) Register(h *House, _ Factory, w *Engine) *House {
	h.Adopt(w, 1)
	return nil
}
func (d *idleDriver) Factory(*House) Factory               { return nil }
func (d *idleDriver) Offloads() OffloadPool                { return nil }
func (d *idleDriver) Shutdown()                            {}
func (d *idleDriver) Borrowed(*Call, int64) bool           { return false }
func (d *idleDriver) Failed(h *House, s *Stack, err error) { d.failed = append(d.failed, err) }
func (d *idleDriver) UsedUp(error)                         {}
func (d *idleDriver) Broken(error)                         {}
func (d *idleDriver) Lost(*House, *Stack, lost.Reason)     {}
func (d *idleDriver) Gone(*House)                          {}
func (d *idleDriver) Queued(int64)                         {}
func (d *idleDriver) Slow(SlowStep)                        {}

func newTestWorker() (*Engine, *idleDriver) {
	began := time.Now()
	d := &idleDriver{now: func() int64 { return int64(time.Since(began)) }}
	return &Engine{Budget: 32, AskTimeout: 5e9, Driver: d, Guests: &Guests{Clock: d.now, AskTimeout: 5e9}}, d
}

type (
	echo    struct{ seen uint64 }
	echoReq struct{ N uint64 }
	echoRep struct{ N uint64 }
	asker   struct {
		echo *House
		done uint64
		left int
	}
	askerStack struct {
		NoticeStack[int]
		f Future[echoRep]
	}
)

func (e *echo) ask(s *AskStack[echoReq, echoRep]) Yield {
	e.seen++
	return s.Return(echoRep{s.Req.N + 1})
}

var echoAsk = newAsk((*echo).ask)

func (a *asker) run(s *askerStack) Yield {
	a.left = s.Msg
	return a.next(s)
}

func (a *asker) next(s *askerStack) Yield {
	if s.f.Ready() {
		r, _ := s.f.Get()
		a.done += r.N
	}
	if a.left == 0 {
		return s.Return()
	}
	a.left--
	c := s.Bind(s.f.Promise(), echoAsk, 0)
	Request[echoReq, echoRep](c).N = 1
	s.Engine().Push(a.echo, c)
	return Suspend(s, (*asker).next)
}

var askerRun = newNotice((*asker).run)

func BenchmarkAskLocal(b *testing.B) {
	w, _ := newTestWorker()
	e, _ := NewHouse(func() *echo { return &echo{} })
	e.Adopt(w, 1)
	a, _ := NewHouse(func() *asker { return &asker{echo: e} })
	a.Adopt(w, 2)
	s := w.Guests.Begin(a, askerRun)
	*Message[int](s) = b.N
	s.Post()
	b.ResetTimer()
	w.TakeRungs()
	for !w.Idle() {
		w.Run(256)
		w.ArmFresh()
		w.Shard.Flush()
	}
	if a.actor.(*asker).done != uint64(2*b.N) {
		b.Fatal(a.actor.(*asker).done)
	}
}

type sink struct{ n uint64 }

func (k *sink) take(s *NoticeStack[uint64]) Yield { k.n += s.Msg; return s.Return() }

var sinkTake = newNotice((*sink).take)

type source struct{ to *House }
type sourceStack struct{ NoticeStack[int] }

func (a *source) run(s *sourceStack) Yield {
	for range s.Msg {
		notify(s.Engine(), a.to, sinkTake, uint64(1))
	}
	return s.Return()
}

var sourceRun = newNotice((*source).run)

func BenchmarkNoticeLocal(b *testing.B) {
	w, _ := newTestWorker()
	e, _ := NewHouse(func() *sink { return &sink{} })
	e.Adopt(w, 1)
	a, _ := NewHouse(func() *source { return &source{to: e} })
	a.Adopt(w, 2)
	b.ResetTimer()
	for range b.N / 64 {
		s := w.Guests.Begin(a, sourceRun)
		*Message[int](s) = 64
		s.Post()
		w.TakeRungs()
		for !w.Idle() {
			w.Run(256)
			w.ArmFresh()
			w.Shard.Flush()
		}
	}
	if e.actor.(*sink).n != uint64(b.N/64*64) {
		b.Fatal(e.actor.(*sink).n)
	}
}
