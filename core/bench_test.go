package core_test

import (
	"context"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// One operation is a blocking ask of an actor whose worker has nothing to do.
func BenchmarkAskOfParkedWorker(b *testing.B) {
	sys, err := house.New(house.Config{Workers: 1, Supervise: resumes, Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	if err := sys.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	p := lonerAdd.At(core.Spawn(sys, func() *loner { return &loner{} }))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := core.Ask(context.Background(), p, 1); err != nil {
			b.Fatal(err)
		}
	}
	if err := sys.Shutdown(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// telling has an actor tell another in bursts, four under way; behind each goes an ask.
type telling struct {
	to   core.NoticePort[uint64]
	told core.Port[struct{}, uint64]
	left int
	done chan struct{}
}

type tellingStack struct {
	core.NoticeStack[int]
	sum core.Future[uint64]
}

func (a *telling) send(s *tellingStack) core.Yield {
	for range 128 {
		a.to.Notice(s, 1)
	}
	a.told.Ask(s, &s.sum, struct{}{})
	return core.Suspend(s, (*telling).sent)
}

func (a *telling) sent(s *tellingStack) core.Yield {
	if a.left--; a.left > 3 {
		return a.send(s)
	}
	if a.left == 0 {
		close(a.done)
	}
	return s.Return()
}

type told struct{ n uint64 }

func (a *told) add(s *core.NoticeStack[uint64]) core.Yield { a.n += s.Msg; return s.Return() }

func (a *told) count(s *core.AskStack[struct{}, uint64]) core.Yield { return s.Return(a.n) }

var (
	tellingSend = core.HandleNotice((*telling).send)
	toldAdd     = core.HandleNotice((*told).add)
	toldCount   = core.Handle((*told).count)
)

// One operation is a notice to an actor of the same, of another worker.
func BenchmarkTell(b *testing.B) {
	for name, on := range map[string]int{"near": 0, "far": 1} {
		b.Run(name, func(b *testing.B) {
			sys, err := house.New(house.Config{Workers: 2, Supervise: resumes, Logger: quiet})
			if err != nil {
				b.Fatal(err)
			}
			if err := sys.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
			to := core.Spawn(sys.Workers()[on], func() *told { return &told{} })
			a := &telling{to: toldAdd.At(to), told: toldCount.At(to), left: b.N/128 + 4, done: make(chan struct{})}
			from := tellingSend.At(core.Spawn(sys.Workers()[0], func() *telling { return a }))
			b.ReportAllocs()
			b.ResetTimer()
			for range 4 {
				core.Notice(from, 1)
			}
			<-a.done
			b.StopTimer()
			if err := sys.Shutdown(context.Background()); err != nil {
				b.Fatal(err)
			}
			st := sys.Stats()
			b.ReportMetric(float64(st.Turns)/float64(b.N), "turns/op")
			b.ReportMetric(float64(st.Parks)/float64(b.N)*1e6, "parks/Mop")
		})
	}
}

// parent makes children beside itself, a burst at a time, and tells each a number.
type parent struct {
	children []core.Address[told]
	self     core.NoticePort[struct{}]
	left     int
	done     chan struct{}
}

func (a *parent) spawn(s *core.NoticeStack[struct{}]) core.Yield {
	for range min(a.left, 128) {
		a.left--
		child := core.Spawn(core.Beside(s), func() *told { return &told{} })
		toldAdd.At(child).Notice(s, 1)
		a.children = append(a.children, child)
	}
	if a.left > 0 {
		a.self.Notice(s, struct{}{})
	} else {
		close(a.done)
	}
	return s.Return()
}

var parentSpawn = core.HandleNotice((*parent).spawn)

// One operation is an actor that an actor made, and that has handled a message.
func BenchmarkSpawn(b *testing.B) {
	sys, err := house.New(house.Config{Workers: 1, Supervise: resumes, Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	if err := sys.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	a := &parent{children: make([]core.Address[told], 0, b.N), left: b.N, done: make(chan struct{})}
	a.self = parentSpawn.At(core.Spawn(sys, func() *parent { return a }))
	b.ReportAllocs()
	b.ResetTimer()
	core.Notice(a.self, struct{}{})
	<-a.done
	b.StopTimer()
	if err := sys.Shutdown(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// One operation is a notice of a goroutine to an actor, handled.
func BenchmarkGuestTell(b *testing.B) {
	sys, err := house.New(house.Config{Workers: 1, Supervise: resumes, Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	if err := sys.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	to := roomy(sys, func() *told { return &told{} })
	add := toldAdd.At(to)
	b.ReportAllocs()
	for b.Loop() {
		if err := core.Notice(add, 1); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := core.Ask(b.Context(), toldCount.At(to), struct{}{}); err != nil {
		b.Fatal(err)
	}
	if err := sys.Shutdown(context.Background()); err != nil {
		b.Fatal(err)
	}
}
