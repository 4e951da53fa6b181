package stack

import (
	"slices"
	"testing"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack/lost"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// hand is workers whose turns the test takes by hand, on a virtual clock.
type hand struct {
	t       *testing.T
	now     int64
	guests  Guests
	workers []*Engine
	drivers []*handDriver
	houses  []*House
	serial  uint64

	factories map[*House]Factory
}

// handDriver keeps armed nodes in a slice instead of a wheel.
type handDriver struct {
	*hand
	armed  []*future.Node
	failed []error
	gone   int
	lost   int
}

// resumes has failed actors go on.
var resumes = &supervision.Strategy{Decide: func(error) supervision.Directive { return supervision.Resume }}

func newHand(t *testing.T, workers int) *hand {
	h := makeHand(workers)
	h.t = t
	t.Cleanup(h.balance)
	return h
}

// makeHand is newHand for tests that look themselves whether all objects are home at the end.
func makeHand(workers int) *hand {
	h := &hand{now: 1}
	h.guests.Clock = func() int64 { return h.now }
	h.guests.AskTimeout = 5e9
	for i := range workers {
		d := &handDriver{hand: h}
		w := &Engine{Index: i, Budget: 32, AskTimeout: 5e9, Driver: d, Guests: &h.guests, Now: h.now, Supervise: resumes}
		h.workers, h.drivers = append(h.workers, w), append(h.drivers, d)
	}
	return h
}

func (d *handDriver) Wake()            {}
func (d *handDriver) Wait(int64, bool) {}
func (d *handDriver) Clock() int64     { return d.now }
func (d *handDriver) Arm(n *future.Node) {
	n.Slot = 1
	d.armed = append(d.armed, n)
}
func (d *handDriver) Disarm(n *future.Node) {
	n.Slot = 0
	d.armed = slices.DeleteFunc(d.armed, func(o *future.Node) bool { return o == n })
}
func (d *handDriver) Register(h *House, make Factory, w *Engine) *House {
	d.serial++
	h.Adopt(w, d.serial)
	d.houses = append(d.houses, h)
	if d.factories == nil {
		d.factories = map[*House]Factory{}
	}
	d.factories[h] = make
	return nil
}
func (d *handDriver) Factory(h *House) Factory           { return d.factories[h] }
func (d *handDriver) Offloads() OffloadPool              { return nil }
func (d *handDriver) Shutdown()                          {}
func (d *handDriver) Borrowed(*Call, int64) bool         { return false }
func (d *handDriver) Failed(_ *House, _ *Stack, e error) { d.failed = append(d.failed, e) }
func (d *handDriver) UsedUp(error)                       {}
func (d *handDriver) Broken(error)                       {}
func (d *handDriver) Lost(*House, *Stack, lost.Reason)   { d.lost++ }
func (d *handDriver) Gone(*House)                        { d.gone++ }
func (d *handDriver) Queued(int64)                       {}
func (d *handDriver) Slow(SlowStep)                      {}

// settleOn gives a house to a worker.
func settleOn[A any](h *hand, worker int, actor *A) *House {
	house, make := NewHouse(func() *A { return actor })
	h.drivers[worker].Register(house, make, h.workers[worker])
	return house
}

// turn takes one turn of a worker.
func (h *hand) turn(i int) {
	w, d := h.workers[i], h.drivers[i]
	h.now += 1000
	w.Now = h.now
	w.TakeRungs()
	w.Run(256)
	slices.SortStableFunc(d.armed, func(a, b *future.Node) int { return int(a.When - b.When) })
	for len(d.armed) > 0 && d.armed[0].When <= h.now {
		n := d.armed[0]
		d.Disarm(n)
		w.Fire(n)
	}
	w.Run(256)
	w.RunDeferred()
	w.ArmFresh()
	w.Shard.Flush()
}

// settle takes turns until all is quiet.
func (h *hand) settle() {
	for busy := true; busy; {
		busy = false
		for i := range h.workers {
			h.turn(i)
		}
		for _, w := range h.workers {
			busy = busy || !w.Idle() || w.Pending() && w.gifts.Load() != closedRungs
		}
	}
}

// tell sends a notice from outside.
func tell[Msg any](h *hand, to *House, by *Handler, msg Msg) error {
	s := h.guests.Begin(to, by)
	*Message[Msg](s) = msg
	return s.Post()
}

// letters returns how many dead letters there were.
func (h *hand) letters() (n uint64) {
	add := func(_ *Handler, _ lost.Reason, k uint64) { n += k }
	for _, w := range h.workers {
		w.Tally.Each(add)
	}
	h.guests.Events.Tally.Each(add)
	return n
}

// balance is the end of every test: it checks that all pooled objects are home.
func (h *hand) balance() {
	if h.t.Failed() {
		return
	}
	if n := h.out(); n != 0 {
		h.t.Errorf("%d pooled objects are still out", n)
	}
	for _, k := range h.houses {
		if n := k.waits(); n != 0 {
			h.t.Errorf("%d calls wait in actor %d, where none does", n, k.serial)
		}
	}
}

// out settles the workers, and returns how many pooled objects aren't home.
func (h *hand) out() int {
	h.settle()
	n := h.guests.Pools.Outstanding()
	for _, w := range h.workers {
		w.Shard.Flush()
	}
	for _, w := range h.workers {
		n += w.Shard.Outstanding()
	}
	return n
}

// words is a message with its sender, and its number among the messages of that sender.
type words struct{ From, N int }

// writer's step does what its message says.
type writer struct{}

func (*writer) write(s *NoticeStack[func(w *Engine)]) Yield {
	s.Msg(s.Engine())
	return s.Return()
}

var writerWrite = newNotice((*writer).write)

// inMail counts the messages that wait in h by walking its inbox and its lanes.
func (h *House) inMail() (n int) {
	count := func(s *Stack) {
		if s.by.envelope.opens == nil {
			n += int(s.by.counts)
			return
		}
		e := envelopeOf(s)
		if e.filled > 0 { // the owner fills it, and its word is of an earlier use
			n += int(e.filled)
		} else {
			n += int(e.word.Load() &^ envelopeClosed)
		}
		if s == h.calls.head {
			n -= int(h.opening.read)
		}
	}
	for s := h.calls.head; s != nil; s = s.next {
		count(s)
	}
	for s := h.inbox.Load(); s != nil; s = s.next {
		if s.lane == Calls {
			count(s)
		}
	}
	if a := h.annex.Load(); a != nil && a.rules != nil && a.rules.sorter != nil {
		n += a.rules.sorter.Len()
	}
	return n
}

// tallied returns what w has counted.
func tallied(w *Engine, counter int) uint64 {
	w.Count.Publish()
	return w.Count.Load(counter)
}
