//go:build !portable

package cluster

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// slip says where its sender is, and whom it knows.
type slip struct {
	N    int
	From core.AnyAddress
	Of   core.Address[sink]
	Port core.Port[int, int]
}

func (k *sink) pass(s *core.AskStack[slip, slip]) core.Yield { return s.Return(s.Req) }

// pen asks by slips, as often as it is told, some at a time.
type pen struct{}

type penStep struct {
	core.AskStack[tapOf, struct{}]
	begun int
	away  [16]core.Future[slip]
}

func (*pen) write(s *penStep) core.Yield {
	waits := false
	at := core.Self[pen](s).Any()
	of, _ := core.As[sink](s.Req.to)
	sent := slip{From: at, Of: of, Port: penTwice.At(at)}
	for i := range s.away {
		f := &s.away[i]
		if f.Ready() {
			got, err := f.Get()
			if err != nil {
				return s.Throw(err)
			}
			if got.N = 0; got != sent {
				panic("another slip")
			}
		}
		if !f.Waiting() && s.begun < s.Req.rounds {
			s.begun++
			pass.At(s.Req.to).Ask(s, f, sent)
		}
		waits = waits || f.Waiting()
	}
	if waits {
		return core.SuspendAny(s, (*pen).write)
	}
	return s.Return(struct{}{})
}

func (*pen) twice(s *core.AskStack[int, int]) core.Yield { return s.Return(2 * s.Req) }

var (
	pass     = core.NewMethod[slip, slip]("test.sink.pass")
	penTwice = core.NewMethod[int, int]("test.pen.twice")
	penWrite = core.Handle((*pen).write)
	_        = core.Handle((*pen).twice).As(penTwice)
	_        = core.Handle((*sink).pass).As(pass)
)

// TestNamesAllocateNothing: no malloc, at either end, for addresses and ports that both know.
func TestNamesAllocateNothing(t *testing.T) {
	n := 300_000
	if housetest.Slow {
		n = 10_000
	}
	here, _, far := pours(t)
	by := penWrite.At(core.Spawn(here.sys.Workers()[1], func() *pen { return &pen{} }))
	housetest.ZeroAlloc(t, n, func(n int) { pour(t, by, far, n, 0) })
}
