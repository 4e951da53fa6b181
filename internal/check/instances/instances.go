package instances

import (
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

type actor struct {
	group core.Group[actor]
	topic core.Topic[event]
}

type (
	event struct{ number int }
	quiet struct{ core.NoticeStack[core.Quiet] }
	asked struct{ core.AskStack[event, event] }
)

var (
	handler = core.Handle((*actor).ask)
	silence = core.HandleNotice((*actor).silence)

	_ = command
	_ = (*actor).ports
)

func command(out []byte) []byte {
	return resp.AppendCommand(resp.AppendCommand(out, "PING"), []byte("PING"))
}

// ports are of those that ask several actors.
func (a *actor) ports() (core.Port[event, core.Answers[event]], core.Port[event, event]) {
	return core.Broadcast(handler, &a.group), core.First(handler, &a.group)
}

func (a *actor) ask(s *asked) core.Yield {
	core.ReceiveTimeout(s, time.Second, silence)
	a.topic.Publish(s, event{})
	if s.Req.number == 0 {
		return core.SuspendAny(s, (*actor).ask)
	}
	return core.SuspendUntil(s, (*actor).ready, (*actor).ask)
}

func (a *actor) ready(*asked) bool { return true }

func (a *actor) silence(s *quiet) core.Yield { return s.Return() }
