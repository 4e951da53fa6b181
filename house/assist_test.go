package house

import (
	"context"
	"testing"

	"github.com/stackhouse-go/stackhouse/stack"
)

// teller passes on what it is told, after some time.
type teller struct {
	now   *int64
	takes int64 // ns
	to    *stack.House
	heard int
}

func (a *teller) hear(s *stack.NoticeStack[int]) stack.Yield {
	a.heard++
	*a.now += a.takes
	if a.to != nil {
		n := s.Worker().Begin(tellerHear)
		*stack.Message[int](n) = s.Msg
		s.Worker().Push(a.to, n)
	}
	return s.Return()
}

var tellerHear *stack.Handler

func init() { tellerHear = stack.NewNotice((*teller).hear) } // which hear refers to

// TestAssistsUnlessSlow: a turn runs the turn of the parked worker to which it has sent, and what
// comes back. Behind slow turns the other is woken at once, for longer each time.
func TestAssistsUnlessSlow(t *testing.T) {
	now := int64(1000)
	s, err := New(Config{Workers: 2, Manual: true, Clock: func() int64 { return now }})
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.workers[0], s.workers[1]
	settle := func(w *Worker, actor *teller) *stack.House {
		h := stack.NewHouse(func() *teller { return actor })
		w.Settle(h)
		return h
	}
	back := &teller{now: &now}
	far := &teller{now: &now, to: settle(a, back)}
	near := &teller{now: &now, to: settle(b, far)}
	door := settle(a, near)
	turn := func() (woken bool) {
		t.Helper()
		if !b.hot.Park() {
			t.Fatal("mail is left")
		}
		s.guests.Begin(door, tellerHear).Post()
		a.Turn()
		if woken = b.hot.Woken(); woken {
			b.Turn()
			a.Turn()
		}
		b.hot.Unpark()
		if back.heard != near.heard {
			t.Fatalf("%d messages are back, of %d", back.heard, near.heard)
		}
		return woken
	}
	want(t, "usually", turn(), false)
	near.takes = slowTurn / 2
	far.takes = slowTurn/2 - 1
	want(t, "fast enough", turn(), false)
	far.takes++
	for _, pause := range []int{1, 3, 7, 15, 31, 63, 127, 255, 255} {
		want(t, "a slow turn", turn(), false)
		for range pause {
			want(t, "behind slow ones", turn(), true)
		}
	}
	near.takes = 0
	want(t, "a fast turn", turn(), false)
	want(t, "behind it", turn(), false)
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}
