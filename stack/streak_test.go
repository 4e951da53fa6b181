package stack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// alarmist notes in which order timers and calls are handled.
type (
	alarmist      struct{ log []byte }
	alarmistStack struct {
		NoticeStack[int]
		tick Future[struct{}]
	}
)

func (a *alarmist) sleep(s *alarmistStack) Yield {
	s.Alarm(s.tick.Promise(), 1e6, 0)
	return Suspend(s, (*alarmist).wake)
}

func (a *alarmist) wake(s *alarmistStack) Yield {
	a.log = append(a.log, 't')
	return s.Return()
}

func (a *alarmist) call(s *NoticeStack[int]) Yield {
	a.log = append(a.log, 'c')
	return s.Return()
}

var (
	alarmistSleep = newNotice((*alarmist).sleep)
	alarmistCall  = newNotice((*alarmist).call)
)

// Timers whose time has come go ahead of calls, but after 16 of them a call begins, and then 16
// more follow.
func TestTimersAndCallsTakeTurns(t *testing.T) {
	for _, m := range []MailboxRules{{}, {Max: 100, Full: DropOldest}, {Max: 100, Sort: NewFair}} {
		for _, budget := range []int{1, 3, 1000} {
			h := newHand(t, 1)
			w, d := h.workers[0], h.drivers[0]
			w.Budget = budget
			a := &alarmist{}
			to, make := NewHouse(func() *alarmist { return a })
			to.Mailbox(m)
			d.Register(to, make, w)
			for range 70 {
				require.NoError(t, notify(w, to, alarmistSleep, 0))
			}
			h.settle()
			require.Len(t, d.armed, 70)
			for len(d.armed) > 0 {
				n := d.armed[0]
				d.Disarm(n)
				w.Fire(n)
			}
			for range 10 {
				require.NoError(t, notify(w, to, alarmistCall, 0))
			}
			h.settle()
			require.Equal(t, strings.Repeat(strings.Repeat("t", 16)+"c", 4)+"ttttttcccccc", string(a.log), "%v, budget %d", m, budget)
			to.Stop(&h.guests)
		}
	}
}
