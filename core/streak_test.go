package core_test

import (
	"fmt"
	"testing"

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
				if c.answers > (asks+1)*streak+budget { // each of these calls, and those that were there when it ended
					t.Errorf("%d answers came first", c.answers)
				}
			})
		}
	}
}
