package stack

import (
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// far is an actor of another process. Its handlers stand here for their messages alone.
type far struct{}

func (*far) told(s *NoticeStack[words]) Yield    { panic("no step of it runs here") }
func (*far) asked(s *AskStack[words, int]) Yield { panic("no step of it runs here") }

var (
	farTold  = newNotice((*far).told)
	farAsked = newAsk((*far).asked)
)

// tape is a Remote that notes what it gets.
type tape struct {
	w        *Engine
	h        *House
	closed   bool // it isn't ready
	most     int  // nor once so many were told; 0: there is no bound
	asks     []*Stack
	told     []words
	forgot   int
	commands []command.Verb
	awaits   []bool
}

func newTape(w *Engine, max int) *tape {
	r := &tape{w: w}
	r.h = NewStandIn(w, 1000, reflect.TypeFor[far](), max, r)
	return r
}

func (r *tape) Ready(*House) bool                   { return !r.closed && (r.most == 0 || len(r.told) < r.most) }
func (r *tape) Command(_ *House, what command.Verb) { r.commands = append(r.commands, what) }
func (r *tape) Node() string                        { return "shop" }
func (r *tape) Await(_ *House, is bool)             { r.awaits = append(r.awaits, is) }

func (r *tape) Take(_ *House, s *Stack) {
	if s.by.class == classNotice {
		r.told = append(r.told, *Message[words](s))
		r.w.Discard(s)
		return
	}
	s.SetSlot(uint32(len(r.asks)))
	r.asks = append(r.asks, s)
}

func (r *tape) Forget(_ *House, s *Stack) {
	r.asks[s.Slot()] = nil
	r.forgot++
}

// answers ends all asks that are away: with what they ask for, or err.
func (r *tape) answers(err error) {
	for i, s := range r.asks {
		if s == nil {
			continue
		}
		r.asks[i] = nil
		*Reply[int](s) = Request[words, int](s).N
		r.w.Answer(s, pool.Bytes{}, err)
	}
}

// near asks actors, one of another process perhaps.
type near struct {
	to      *House
	answers []int
	errs    []error
}

type nearStack struct {
	NoticeStack[words]
	f Future[int]
}

func (a *near) ask(s *nearStack) Yield {
	c := s.Bind(s.f.Promise(), farAsked, int64(s.Msg.From))
	*Request[words, int](c) = s.Msg
	s.Engine().Push(a.to, c)
	return Suspend(s, (*near).got)
}

func (a *near) got(s *nearStack) Yield {
	n, err := s.f.Get()
	if err != nil {
		a.errs = append(a.errs, err)
	} else {
		a.answers = append(a.answers, n)
	}
	return s.Return()
}

// forward passes asks on.
func (a *near) forward(s *AskStack[words, int]) Yield {
	c, y := s.Forward(farAsked)
	*Request[words, int](c) = s.Req
	c.Aim(a.to)
	return y
}

var (
	nearAsk     = newNotice((*near).ask)
	nearForward = newAsk((*near).forward)
)

// guestAsks begins an ask of a guest.
func guestAsks(t *testing.T, h *hand, to *House, by *Handler, n int) *Call {
	c := h.guests.Call(to, by)
	*Request[words, int](c.Stack()) = words{0, n}
	require.NoError(t, h.guests.Send(c))
	return c
}

// ends takes the answer to an ask of a guest.
func (h *hand) ends(c *Call) (int, error) {
	if err := h.guests.Finish(c); err != nil {
		return 0, err
	}
	defer h.guests.Done(c)
	return *Reply[int](c.Stack()), c.Stack().Err()
}

// Calls of the own worker, of another one and of guests come to the Remote, in order for each
// sender, and the answers to asks come home, also those that were forwarded.
func TestStandIn(t *testing.T) {
	h := newHand(t, 2)
	r := newTape(h.workers[0], 0)
	asks := [2]*near{{to: r.h}, {to: r.h}}
	var guest [2]*Call
	for i, a := range asks {
		at := settleOn(h, i, a)
		tell(h, at, nearAsk, words{0, 7})
		guest[i] = guestAsks(t, h, at, nearForward, 8+i)
		tell(h, settleOn(h, i, &writer{}), writerWrite, func(w *Engine) {
			for n := range 100 {
				require.NoError(t, notify(w, r.h, farTold, words{i, n}))
			}
		})
	}
	for n := range 3 {
		require.NoError(t, Tell(&h.guests, r.h, farTold, &words{2, n}))
	}
	direct := guestAsks(t, h, r.h, farAsked, 21)
	h.settle()
	require.Len(t, r.asks, 5)
	require.Len(t, r.told, 203)
	next := [3]int{}
	for _, m := range r.told {
		require.Equal(t, next[m.From], m.N)
		next[m.From]++
	}
	r.answers(nil)
	h.settle()
	for _, a := range h.houses {
		a.Stop(&h.guests)
	}
	for i, a := range asks {
		require.Equal(t, []int{7}, a.answers)
		n, err := h.ends(guest[i])
		require.NoError(t, err)
		require.Equal(t, 8+i, n)
	}
	n, err := h.ends(direct)
	require.NoError(t, err)
	require.Equal(t, 21, n)
}

// While the Remote isn't ready calls wait, up to the bound; then they go on in order.
func TestStandInHolds(t *testing.T) {
	h := newHand(t, 1)
	r := newTape(h.workers[0], 4)
	r.closed = true
	for n := range 5 {
		err := Tell(&h.guests, r.h, farTold, &words{0, n})
		require.Equal(t, n == 4, errors.Is(err, fault.ErrMailboxFull), n)
		h.settle()
	}
	require.Empty(t, r.told)
	r.closed = false
	r.w.Readmit(r.h)
	h.settle()
	require.Equal(t, []words{{0, 0}, {0, 1}, {0, 2}, {0, 3}}, r.told)
	require.Zero(t, r.h.waits())
}

// Notices that share envelopes, of the own worker, of another one and of guests, come one by one:
// the Remote may not be ready amid them, and those that haven't come when the stand-in ends are
// dead letters.
func TestStandInAmidEnvelopes(t *testing.T) {
	const n = 40
	for from := range 3 {
		for most := 1; most <= n; most++ {
			for _, ends := range []bool{false, true} {
				h := newHand(t, 2)
				r := newTape(h.workers[0], 0)
				r.most = most
				var at *House
				if from < 2 {
					at = settleOn(h, from, &writer{})
					tell(h, at, writerWrite, func(w *Engine) {
						for i := range n {
							require.NoError(t, notify(w, r.h, farTold, words{0, i}))
						}
					})
				} else {
					for i := range n {
						require.NoError(t, Tell(&h.guests, r.h, farTold, &words{0, i}))
					}
				}
				h.settle()
				require.Len(t, r.told, most)
				require.Equal(t, n-most, r.h.waits())
				left := 0
				if r.most = 0; ends {
					r.w.Vanish(r.h, errFar)
					left = n - most
				} else {
					r.w.Readmit(r.h)
				}
				h.settle()
				for i, m := range r.told {
					require.Equal(t, words{0, i}, m)
				}
				require.Len(t, r.told, n-left)
				require.EqualValues(t, left, h.letters())
				require.Zero(t, r.h.waits())
				require.Nil(t, r.h.calls.head, "no envelope is left")
				if at != nil {
					at.Stop(&h.guests)
				}
			}
		}
	}
}

// An ask whose asker's time is over, or that a guest gives up, is forgotten, or dropped before the
// Remote gets it.
func TestStandInGivenUp(t *testing.T) {
	for _, waits := range []bool{false, true} {
		h := newHand(t, 1)
		r := newTape(h.workers[0], 0)
		r.closed = waits
		a := &near{to: r.h}
		at := settleOn(h, 0, a)
		tell(h, at, nearAsk, words{5000, 1})
		direct, passed := guestAsks(t, h, r.h, farAsked, 1), guestAsks(t, h, at, nearForward, 1)
		h.settle()
		h.now += 10_000
		require.True(t, h.guests.giveUp(direct))
		require.True(t, h.guests.giveUp(passed))
		h.settle()
		require.Equal(t, []error{fault.ErrTimeout}, a.errs)
		if r.closed = false; waits {
			r.w.Readmit(r.h)
			h.settle()
			require.Empty(t, r.asks)
		} else {
			require.Equal(t, 3, r.forgot)
		}
		require.EqualValues(t, 3, tallied(h.workers[0], count.Cancelled))
		at.Stop(&h.guests)
	}
}

// What is told to a stand-in beside calls is passed on. It ends when its Remote says so: those who
// wait and those who watch hear of it, once; calls end with the reason.
func TestStandInVanishes(t *testing.T) {
	h := newHand(t, 1)
	r := newTape(h.workers[0], 0)
	l := &listener2{}
	at := settleOn(h, 0, l)
	for _, what := range []func(s *Stack){
		func(s *Stack) { s.Watch(r.h, toldGone, fillGone) },
		func(s *Stack) { s.Watch(r.h, toldGone, fillGone) },
		func(s *Stack) { s.Unwatch(r.h, toldGone) },
		func(s *Stack) { s.Watch(r.h, toldGone, fillGone) },
	} {
		tell(h, at, doStep, what)
		h.settle()
	}
	r.h.Pause(&h.guests)
	h.settle()
	r.h.Continue(&h.guests)
	h.settle()
	r.h.Restart(&h.guests, errFar)
	r.h.Drain(&h.guests)
	h.settle()
	stopped := h.guests.Call(r.h, controlHandler)
	Request[control, struct{}](stopped.asked).verb = command.Stop
	stopped.asked.lane = System
	stopped.asked.send()
	h.settle()
	require.Equal(t, []command.Verb{command.Pause, command.Continue, command.Restart, command.Drain, command.Stop}, r.commands)
	require.Equal(t, []bool{true, false, true}, r.awaits)
	require.False(t, stopped.Ready())
	require.Zero(t, l.gone)

	r.closed = true
	waiting := guestAsks(t, h, r.h, farAsked, 1)
	require.NoError(t, Tell(&h.guests, r.h, farTold, &words{}))
	h.settle()
	r.w.Vanish(r.h, errFar)
	h.settle()
	r.w.Vanish(r.h, errors.New("again"))
	h.settle()
	require.True(t, stopped.Ready())
	require.Equal(t, errFar, stopped.asked.Err())
	h.guests.Done(stopped)
	require.Equal(t, 1, l.gone)
	_, err := h.ends(waiting)
	require.ErrorIs(t, err, errFar)
	require.EqualValues(t, 1, h.letters())

	a := &near{to: r.h}
	at = settleOn(h, 0, a)
	tell(h, at, nearAsk, words{})
	h.settle()
	require.Equal(t, []error{errFar}, a.errs)
	at.Stop(&h.guests)
}

// An actor that has stopped elsewhere is gone as one of this process is; who waits for the end of
// one makes its Remote watch.
func TestStandInStopped(t *testing.T) {
	h := newHand(t, 1)
	r := newTape(h.workers[0], 0)
	stopped := h.guests.Call(r.h, controlHandler)
	Request[control, struct{}](stopped.asked).verb = command.Gone
	stopped.asked.lane = System
	stopped.asked.send()
	h.settle()
	require.Equal(t, []bool{true}, r.awaits)
	require.Empty(t, r.commands)
	r.w.Vanish(r.h, nil)
	h.settle()
	require.True(t, stopped.Ready())
	require.NoError(t, stopped.asked.Err())
	h.guests.Done(stopped)
	require.NoError(t, r.h.Loss())
	require.Equal(t, fault.ErrStopped, Tell(&h.guests, r.h, farTold, &words{}))
}

var errFar = errors.New("far away")

// listener2 does what it is told, and counts who is gone.
type listener2 struct{ gone int }

func (l *listener2) do(s *NoticeStack[func(*Stack)]) Yield { s.Msg(Of(s)); return s.Return() }
func (l *listener2) hear(s *NoticeStack[words]) Yield      { l.gone++; return s.Return() }

var (
	doStep   = newNotice((*listener2).do)
	toldGone = newNotice((*listener2).hear)
)

func fillGone(s *Stack, _ AnyAddress) {}
