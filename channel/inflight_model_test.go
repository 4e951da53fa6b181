package channel

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// clerk is an actor whose requests do what their cues say, and that does what the test says.
type clerk struct{ desk *desk }

type (
	actStack struct {
		core.NoticeStack[func(*stack.Engine)]
	}
	deskStack struct {
		core.ChannelStack[int, struct{}]
		tick core.Future[core.Tick]
		room core.Future[core.Room]
		job  core.Future[int]
	}
)

var (
	clerkAct   = core.HandleNotice((*clerk).act)
	clerkServe = stack.NewInbound[int, struct{}](stack.EntryOf((*clerk).serve),
		func(s *stack.Inbound) { s.Conn.(*desk).offered(s) }, func(s *stack.Inbound) { s.Conn.(*desk).ended(s) })
)

func (c *clerk) act(s *actStack) core.Yield {
	s.Msg(stack.Of(s).Engine())
	return s.Return()
}

// serve begins a request. Some keep a function.
func (c *clerk) serve(s *deskStack) core.Yield {
	c.desk.begins(s.Req)
	if s.Req%7 == 0 {
		core.OffloadKept(s, &s.job, nil, 0, func(context.Context, int) (int, error) { return 0, nil })
	}
	return c.wait(s)
}

// wait waits for a cue.
func (c *clerk) wait(s *deskStack) core.Yield {
	switch cue := c.desk.cues[s.Req]; {
	case cue == "part":
		delete(c.desk.cues, s.Req)
		s.Bytes(10)
		s.Part(&s.room, struct{}{})
		return core.Suspend(s, (*clerk).wait)
	case cue == "hasty" && (s.Req%7 > 0 || s.job.Ready()):
		s.Part(&s.room, struct{}{})
		return s.Return(struct{}{})
	case cue == "end" && (s.Req%7 > 0 || s.job.Ready()):
		s.Bytes(100)
		return s.Return(struct{}{})
	}
	core.Timer.Ask(s, &s.tick, time.Millisecond)
	return core.Suspend(s, (*clerk).wait)
}

// booked is a request in flight, in the model.
type booked struct {
	id, bytes    int
	alone        bool
	held, aside  bool // held back; and out of its lane
	begun, ended bool
	part, waits  bool // has a part to be written; has had it written, and waits for room
	inParts      bool // a part was written
	readyAs      int  // when it became ready first; 0: it hasn't
}

func (b *booked) ready() bool { return b.ended || b.part }

// desk has an inflight, and the model of it: a slice in the order of arrival. It counts in used
// what a connection would, of its site's quota.
type desk struct {
	q         inflight
	model     []*booked
	unordered bool
	cancelled bool
	cues      map[int]string
	readied   int
	used      int
	wrong     []string
}

func (d *desk) fail(format string, args ...any) {
	d.wrong = append(d.wrong, fmt.Sprintf(format, args...))
}

func (d *desk) find(id int) *booked {
	i := slices.IndexFunc(d.model, func(b *booked) bool { return b.id == id })
	if i < 0 {
		return nil
	}
	return d.model[i]
}

// of is the id of a request.
func of(s *stack.Inbound) int { return *stack.Request[int, struct{}](&s.Stack) }

func (d *desk) begins(id int) {
	b := d.find(id)
	switch {
	case b.held || b.begun || b.ended:
		d.fail("%d begins: %+v", id, *b)
	case b.alone && len(d.model) > 1:
		d.fail("%d isn't alone: %d in flight", id, len(d.model))
	case slices.ContainsFunc(d.model, func(o *booked) bool { return o.alone && o.begun }):
		d.fail("%d begins beside one that is alone", id)
	}
	b.begun = true
}

func (d *desk) offered(s *stack.Inbound) {
	if d.cancelled {
		s.GoOn(s.Engine())
		return
	}
	d.used--
	d.q.offered(s)
	d.becomesReady(of(s)).part = true
}

func (d *desk) ended(s *stack.Inbound) {
	if !s.IsHeldBack() && !s.AtPart() {
		d.used--
	}
	d.q.ended(s)
	b := d.becomesReady(of(s))
	b.ended, b.part, b.waits, b.held = true, false, false, false
}

func (d *desk) becomesReady(id int) *booked {
	b := d.find(id)
	if d.readied++; b.readyAs == 0 {
		b.readyAs = d.readied
	}
	return b
}

// next is what the model writes next; nil: nothing.
func (d *desk) next() (first *booked) {
	for _, b := range d.model {
		if d.unordered && !d.cancelled && b.readyAs == 0 {
			continue
		}
		if first == nil || d.unordered && !d.cancelled && (b.inParts || !first.inParts && b.readyAs < first.readyAs) {
			first = b
		}
	}
	if first != nil && !first.ready() {
		return nil
	}
	return first
}

func (d *desk) count(f func(*booked) bool) (n int) {
	for _, b := range d.model {
		if f(b) {
			n++
		}
	}
	return n
}

// accept has some requests come in, as far as they may.
func (d *desk) accept(w *stack.Engine, at *stack.House, rng *rand.Rand, id, most int) {
	admits := len(d.model) < most && d.count(func(b *booked) bool { return b.alone || b.held }) == 0
	if d.q.admits(most) != admits {
		d.fail("it admits %v, with %d of %d", !admits, len(d.model), most)
	}
	if !admits {
		return
	}
	s := w.Receive(at, clerkServe, d, 0)
	*stack.Request[int, struct{}](&s.Stack) = id
	b := &booked{id: id, bytes: 1 + rng.IntN(50), alone: rng.IntN(6) == 0}
	input := w.Shard.Bytes(b.bytes)
	d.model = append(d.model, b)
	if refused := rng.IntN(10) == 0; refused {
		b.alone = false
		d.q.refuse(s, input, core.ErrOverloaded)
		d.becomesReady(id).ended = true
	} else if d.q.accept(w, s, input, b.alone) {
		d.used++
	} else {
		b.held, b.aside = true, true
	}
	if b.held != (b.alone && len(d.model) > 1) {
		d.fail("%d is held back: %v, with %d", id, b.held, len(d.model))
	}
	input.Release()
}

// write writes what is next, and lets who waits for room go on.
func (d *desk) write(w *stack.Engine) {
	b := d.next()
	if d.q.ready() != (b != nil) {
		d.fail("it is ready: %v, and next is %+v", d.q.ready(), b)
		return
	}
	if b != nil {
		if id := of(d.q.head); id != b.id {
			d.fail("%d is written before %d", id, b.id)
		}
		if d.q.written(w) == b.ended {
			d.fail("%d goes on: %v", b.id, !b.ended)
		}
		if b.ended {
			d.model = slices.DeleteFunc(d.model, func(o *booked) bool { return o == b })
		} else {
			b.part, b.waits, b.inParts = false, true, true
		}
	}
	waits := len(d.model) > 0 && d.count(func(b *booked) bool { return b.waits }) == 1
	if d.q.waits() != waits {
		d.fail("it waits: %v", !waits)
	} else if waits {
		d.find(of(d.q.head)).waits = false
		d.used++
		d.q.head.GoOn(w)
	}
}

func (d *desk) holdBack() {
	n := d.q.holdBack()
	for range n {
		d.used--
	}
	want := d.count(func(b *booked) bool { return !b.begun && !b.ended && !b.held })
	if n != want {
		d.fail("%d are held back, not %d", n, want)
	}
	for _, b := range d.model {
		b.held = b.held || !b.begun && !b.ended
	}
}

func (d *desk) letBegin(w *stack.Engine, most int) {
	mayBegin := d.count(func(b *booked) bool { return b.held && (!b.alone || len(d.model) == 1) })
	if n := d.q.mayBegin(); n != mayBegin {
		d.fail("%d may begin, not %d", n, mayBegin)
	}
	want, all := 0, d.count(func(b *booked) bool { return b.held && !b.aside }) == 0
	for _, b := range d.model {
		if all && b.held && want < min(most, mayBegin) {
			want++
			b.held, b.aside = false, false
		}
	}
	n, aside := d.q.letBegin(w, most)
	for range n {
		d.used++
	}
	if n != want || aside != all {
		d.fail("%d begin, not %d; %v that all stand aside", n, want, aside)
	}
}

func (d *desk) cancel(w *stack.Engine) {
	for _, b := range d.model {
		b.held = false
	}
	for range d.q.cancel(w) {
		d.used++
	}
	d.cancelled = true
}

// discard frees what is complete.
func (d *desk) discard(w *stack.Engine) {
	for d.q.complete() {
		d.model = slices.DeleteFunc(d.model, func(b *booked) bool { return b.id == of(d.q.head) })
		d.q.pop(w)
	}
}

// look compares what can be seen.
func (d *desk) look() {
	n, bytes, holds, held := 0, 0, 0, 0
	var before *stack.Inbound
	for c := d.q.head; c != nil; before, c = c, c.After {
		if c.Before != before {
			d.fail("what stands before %d", of(c))
		}
		n, bytes, holds = n+1, bytes+c.Input.Len(), holds+c.Holds
		if c.IsHeldBack() {
			held++
		}
	}
	if before != d.q.tail || n != d.q.n || n != len(d.model) || bytes != d.q.bytes || holds != d.q.heldBytes || held != int(d.q.heldBack) {
		d.fail("%d of %d in flight, %d bytes, %d held, %d held back: %+v", n, len(d.model), bytes, holds, held, d.q)
	}
	used := d.count(func(b *booked) bool { return !b.ended && !b.held && !b.part && !b.waits })
	if !d.cancelled && used != d.used {
		d.fail("%d are used, not %d", d.used, used)
	}
}

// PlayInflight has requests come, wait, begin, offer parts, end and be written, at random, and
// cancels them at last; by number if the seed is odd. rest and run are a simulation's.
func PlayInflight(t testing.TB, seed uint64, on core.Place, rest func(), run func(time.Duration)) {
	rng := rand.New(rand.NewPCG(seed, 6))
	d := &desk{cues: map[int]string{}, unordered: seed%2 == 1}
	d.q.unordered = d.unordered
	at := core.Spawn(on, func() *clerk { return &clerk{d} })
	do := func(f func(*stack.Engine)) {
		require.NoError(t, core.Notice(clerkAct.At(at), f))
		rest()
		for _, b := range d.model {
			b.aside = b.held
		}
		d.look()
		require.Empty(t, d.wrong, "seed %d", seed)
	}
	most, id := 1+rng.IntN(12), 0
	for range 400 {
		switch rng.IntN(6) {
		case 0, 1:
			do(func(w *stack.Engine) {
				for range 1 + rng.IntN(5) {
					id++
					d.accept(w, at.House(), rng, id, most)
				}
				if rng.IntN(4) == 0 {
					d.holdBack()
					if rng.IntN(2) == 0 {
						d.letBegin(w, rng.IntN(5))
					}
				}
			})
		case 2:
			do(func(w *stack.Engine) {
				if d.letBegin(w, rng.IntN(5)); rng.IntN(3) == 0 { // again, before they have begun
					d.holdBack()
				}
			})
		case 3:
			for _, b := range d.model {
				if rng.IntN(3) == 0 {
					d.cues[b.id] = []string{"part", "hasty", "end", "end"}[rng.IntN(4)]
				}
			}
			run(time.Duration(rng.IntN(20)) * time.Millisecond)
		default:
			do(d.write)
		}
	}
	do(d.cancel)
	for _, b := range d.model {
		d.cues[b.id] = "end"
	}
	run(time.Second)
	do(d.discard)
	require.Empty(t, d.model, "seed %d: some never ended", seed)
	require.Zero(t, d.used, "seed %d", seed)
	require.Equal(t, inflight{fresh: d.q.fresh, inParts: d.q.inParts}, d.q, "seed %d", seed)
}
