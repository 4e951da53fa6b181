package stack

import (
	"slices"
	"testing"

	"github.com/stackhouse-go/stackhouse/future"
)

// hand is workers whose turns the test takes by hand, on a virtual clock.
type hand struct {
	t       *testing.T
	now     int64
	guests  Guests
	workers []*Worker
	drivers []*handDriver
	serial  uint64
}

// handDriver keeps armed nodes in a slice instead of a wheel.
type handDriver struct {
	*hand
	armed  []*future.Node
	failed []error
	gone   int
}

func newHand(t *testing.T, workers int) *hand {
	h := &hand{t: t, now: 1}
	h.guests.Clock = func() int64 { return h.now }
	h.guests.AskTimeout = 5e9
	for i := range workers {
		d := &handDriver{hand: h}
		w := &Worker{Index: i, Budget: 32, AskTimeout: 5e9, Driver: d, Guests: &h.guests, Now: h.now}
		h.workers, h.drivers = append(h.workers, w), append(h.drivers, d)
	}
	t.Cleanup(h.balance)
	return h
}

func (d *handDriver) Wake()        {}
func (d *handDriver) Clock() int64 { return d.now }
func (d *handDriver) Arm(n *future.Node) {
	n.Slot = 1
	d.armed = append(d.armed, n)
}
func (d *handDriver) Disarm(n *future.Node) {
	n.Slot = 0
	d.armed = slices.DeleteFunc(d.armed, func(o *future.Node) bool { return o == n })
}
func (d *handDriver) Settle(h *House, w *Worker)         { d.serial++; h.Adopt(w, d.serial) }
func (d *handDriver) Offload(*Stack) bool                { return false }
func (d *handDriver) Lend(*Call, int64) bool             { return false }
func (d *handDriver) Failed(_ *House, _ *Stack, e error) { d.failed = append(d.failed, e) }
func (d *handDriver) Gone(*House)                        { d.gone++ }
func (d *handDriver) Queued(int64)                       {}

// settleOn gives a house to a worker.
func settleOn[A any](h *hand, worker int, actor *A) *House {
	house := NewHouse(func() *A { return actor })
	h.drivers[worker].Settle(house, h.workers[worker])
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
			busy = busy || !w.Idle() || (w.Pending() && w.rungs.Load() != closedRungs)
		}
	}
}

// pass lets time pass.
func (h *hand) pass(ns int64) {
	h.now += ns
	h.settle()
}

// tell sends a notice from outside.
func tell[Msg any](h *hand, to *House, by *Handler, msg Msg) {
	s := h.guests.Begin(to, by)
	*Message[Msg](s) = msg
	s.Post()
}

// balance is the end of every test: all is home.
func (h *hand) balance() {
	if h.t.Failed() {
		return
	}
	h.settle()
	n := h.guests.Pools.Outstanding()
	for _, w := range h.workers {
		w.Shard.Flush()
	}
	for _, w := range h.workers {
		n += w.Shard.Outstanding()
	}
	if n != 0 {
		h.t.Errorf("%d pooled objects are still out", n)
	}
}
