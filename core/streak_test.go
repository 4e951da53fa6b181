package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// chatter always has an ask under way for each notice, until it is told to be quiet.
type chatter struct {
	to      core.Port[int, int]
	answers int
	quiet   bool
}

type chatterStack struct {
	core.NoticeStack[struct{}]
	answer core.Future[int]
}

func (c *chatter) begin(s *chatterStack) core.Yield {
	c.to.Ask(s, &s.answer, c.answers)
	return core.Suspend(s, (*chatter).again)
}

func (c *chatter) again(s *chatterStack) core.Yield {
	c.answers++
	if c.quiet || c.answers >= 1000 {
		return s.Return()
	}
	return c.begin(s)
}

func (c *chatter) hush(s *core.NoticeStack[int]) core.Yield {
	c.quiet = true
	return s.Return()
}

type repeater struct{}

func (repeater) say(s *core.AskStack[int, int]) core.Yield { return s.Return(s.Req) }

var (
	chatterBegin = core.HandleNotice((*chatter).begin)
	chatterHush  = core.HandleNotice((*chatter).hush)
	repeaterSay  = core.Handle((*repeater).say)
)

// A call begins behind so many answers at most, though each visit ends behind answers and no other
// is there yet: of as many asks under way as a visit takes messages.
func TestCallsBeginBesideAnswers(t *testing.T) {
	const streak = 16
	for budget := 1; budget <= 4; budget++ {
		for asks := 1; asks <= budget; asks++ {
			t.Run(fmt.Sprint(budget, asks), func(t *testing.T) {
				sim := housetest.New(t, 1, house.Config{Workers: 1, Budget: budget})
				c := &chatter{to: repeaterSay.At(core.Spawn(sim, func() *repeater { return &repeater{} }))}
				at := core.Spawn(sim, func() *chatter { return c })
				for range asks {
					core.Notice(chatterBegin.At(at), struct{}{})
				}
				core.Notice(chatterHush.At(at), 0)
				sim.Rest()
				// each of these calls, and those that were there when it ended
				if c.answers > (asks+1)*streak+budget {
					t.Errorf("%d answers came first", c.answers)
				}
			})
		}
	}
}

// lanes notes in which order answers and calls are handled.
type (
	lanes      struct{ log []byte }
	lanesStack struct {
		core.NoticeStack[core.Port[int, int]]
		answer core.Future[int]
	}
)

func (l *lanes) waits(s *lanesStack) core.Yield {
	s.Msg.Ask(s, &s.answer, 1)
	return core.Suspend(s, (*lanes).goesOn)
}

func (l *lanes) goesOn(s *lanesStack) core.Yield {
	l.log = append(l.log, 'a')
	return s.Return()
}

func (l *lanes) call(s *core.NoticeStack[int]) core.Yield {
	l.log = append(l.log, 'c')
	return s.Return()
}

var (
	lanesWait = core.HandleNotice((*lanes).waits)
	lanesCall = core.HandleNotice((*lanes).call)
)

// Answers go ahead of calls, but a call begins behind 16 of them, and 16 of them go behind it.
func TestAnswersAndCallsTakeTurns(t *testing.T) {
	for name, mailbox := range mailboxes {
		for _, budget := range []int{1, 3, 1000} {
			t.Run(fmt.Sprint(name, budget), func(t *testing.T) {
				sim := housetest.New(t, 1, house.Config{Workers: 2, Budget: budget, TurnTime: -1})
				here, there := sim.Workers()[0], sim.Workers()[1]
				l := &lanes{}
				at, err := core.SpawnWith(here, func() *lanes { return l }, core.Props{Mailbox: mailbox})
				require.NoError(t, err)
				to := repeaterSay.At(core.Spawn(there, func() *repeater { return &repeater{} }))
				for range 70 {
					core.Notice(lanesWait.At(at), to)
				}
				for range 100 {
					here.Turn()
				}
				require.Empty(t, l.log)
				for range 100 {
					there.Turn() // all answers are on their way
				}
				for range 10 {
					core.Notice(lanesCall.At(at), 0)
				}
				for range 100 {
					here.Turn()
				}
				streak := strings.Repeat("a", 16) + "c"
				require.Equal(t, strings.Repeat(streak, 4)+"aaaaaacccccc", string(l.log))
			})
		}
	}
}
