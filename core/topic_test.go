package core_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

type (
	// flash is an event: the n-th of its publisher.
	flash struct{ From, N int }

	// ear writes down what it is told, by each of its handlers.
	ear struct {
		got   *[2][]flash
		wants int // for tests with threads: so many, and then done is closed
		done  chan struct{}
		stops func() // nil: nothing
	}
	earLeft  struct{ core.NoticeStack[flash] }
	earRight struct { // with locals: no envelopes
		core.NoticeStack[flash]
		_ int
	}
)

func (r *ear) left(s *earLeft) core.Yield {
	r.got[0] = append(r.got[0], s.Msg)
	if len(r.got[0]) == r.wants {
		close(r.done)
	}
	return s.Return()
}

func (r *ear) right(s *earRight) core.Yield {
	r.got[1] = append(r.got[1], s.Msg)
	return s.Return()
}

func (r *ear) PostStop(s *core.HookStack) core.Yield {
	if r.stops != nil {
		r.stops()
	}
	return s.Return()
}

var earHandlers = [2]core.NoticeHandler[ear, flash]{
	core.HandleNotice((*ear).left), core.HandleNotice((*ear).right),
}

// drained takes what a listener has now.
func drained[E any](l *core.Listener[E]) (all []E) {
	for {
		select {
		case e := <-l.C():
			all = append(all, e)
		default:
			return all
		}
	}
}

// TestTopicWithThreads: two actors and two guests publish, each in order, while others subscribe
// and stop. Who was there all the time gets everything.
func TestTopicWithThreads(t *testing.T) {
	const each = 2000
	sys := open(t, house.Config{Workers: 2})
	var topic core.Topic[flash]
	got, done := &[2][]flash{}, make(chan struct{})
	all, err := core.SpawnWith(sys.Workers()[0], func() *ear { return &ear{got: got, wants: 4 * each, done: done} }, core.Props{Mailbox: core.Unbounded()})
	if err != nil {
		t.Fatal(err)
	}
	topic.Subscribe(earHandlers[0].At(all))
	line := topic.Listen(4 * each)
	deaf := topic.Listen(1)
	ended := make(chan struct{})
	for from := range 2 {
		at := hint.At(core.Spawn(sys.Workers()[from], func() *player { return &player{} }))
		for n := range each / 10 {
			core.Notice(at, func(_ *player, s *cue) core.Yield {
				for i := range 10 {
					topic.Publish(s, flash{from, 10*n + i})
				}
				return s.Return()
			})
		}
	}
	for from := 2; from < 4; from++ {
		go func() {
			for n := range each {
				core.Publish(&topic, flash{from, n})
			}
			ended <- struct{}{}
		}()
	}
	for i := range 100 {
		a := core.Spawn(sys.Workers()[i%2], func() *ear { return &ear{got: &[2][]flash{}} })
		topic.Subscribe(earHandlers[i%2].At(a))
		if i%3 == 0 {
			topic.Unsubscribe(earHandlers[i%2].At(a))
		}
		a.Stop()
	}
	<-ended
	<-ended
	<-done
	check := func(who string, all []flash) {
		var next [4]int
		for _, e := range all {
			if e.N != next[e.From] {
				t.Fatalf("%s got event %d of %d, want %d", who, e.N, e.From, next[e.From])
			}
			next[e.From]++
		}
		if next != [4]int{each, each, each, each} {
			t.Errorf("%s got %v events", who, next)
		}
	}
	if err := all.StopWait(t.Context()); err != nil { // got is ours now
		t.Fatal(err)
	}
	check("the actor", got[0])
	check("the listener", drained(line))
	if n := deaf.Dropped(); n != 4*each-1 {
		t.Errorf("%d events were dropped, want all but one", n)
	}
	line.Close()
	deaf.Close()
	closeSystem(t, sys)
	if n := topic.Len(); n != 0 {
		t.Errorf("%d subscribers, and all have stopped", n)
	}
}

// TestTopicJoinsAtOnce: of goroutines that subscribe and leave at the same time none undoes what
// another does.
func TestTopicJoinsAtOnce(t *testing.T) {
	const goroutines, times = 8, 200
	var topic core.Topic[flash]
	stay := make([][]*core.Listener[flash], goroutines)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range times {
				l := topic.Listen(1)
				if i%2 == 0 {
					stay[g] = append(stay[g], l)
				} else {
					l.Close()
				}
			}
		})
	}
	all.Wait()
	if n := topic.Len(); n != goroutines*times/2 {
		t.Errorf("%d subscribers, want %d", n, goroutines*times/2)
	}
	core.Publish(&topic, flash{})
	for _, l := range slices.Concat(stay...) {
		if n := len(drained(l)); n != 1 {
			t.Fatalf("a listener heard %d events, want 1", n)
		}
	}
}

// TestTopicRefuses: what could not work panics at once.
func TestTopicRefuses(t *testing.T) {
	wants := func(text string, f func()) {
		t.Helper()
		defer func() {
			if got := fmt.Sprint(recover()); got != text {
				t.Errorf("panic %q, want %q", got, text)
			}
		}()
		f()
	}
	var topic core.Topic[flash]
	wants("core: a Topic's subscriber is no actor", func() { topic.Subscribe(core.NoticePort[flash]{}) })
	var parcels core.Topic[sealed]
	wants("stack: several listeners would release copies of one event", func() { parcels.Listen(1) })
	sim := stage(t, 1, 1)
	at := core.Spawn(sim, func() *opener { return &opener{} })
	wants("stack: several actors would release copies of one event", func() { parcels.Subscribe(openerOpen.At(at)) })
}

type (
	// sealed is released with the stack that carries it.
	sealed      struct{ N int }
	opener      struct{}
	openerStack struct{ core.NoticeStack[sealed] }
)

func (*sealed) Release() {}

func (*opener) open(s *openerStack) core.Yield { return s.Return() }

var openerOpen = core.HandleNotice((*opener).open)
