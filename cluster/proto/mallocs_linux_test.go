//go:build !portable

package proto_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/stackhouse-go/stackhouse/cluster"
	"github.com/stackhouse-go/stackhouse/cluster/proto"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// mirror returns what it gets.
type mirror struct{}

func (*mirror) back(s *core.AskStack[*timestamppb.Timestamp, *timestamppb.Timestamp]) core.Yield {
	if s.Req.Seconds != 1234567890 || s.Req.Nanos != 42 {
		panic("another message")
	}
	return s.Return(s.Req)
}

var (
	back = core.NewMethod[*timestamppb.Timestamp, *timestamppb.Timestamp]("test.mirror.back")
	_    = core.Handle((*mirror).back).As(back)
	_    = proto.Reuse[*timestamppb.Timestamp]()
	sent = &timestamppb.Timestamp{Seconds: 1234567890, Nanos: 42}
)

// asker asks as often as it is told, some at a time.
type asker struct{}

type askStep struct {
	core.AskStack[askOf, struct{}]
	begun int
	away  [16]core.Future[*timestamppb.Timestamp]
}

type askOf struct {
	to    core.AnyAddress
	times int
}

func (*asker) ask(s *askStep) core.Yield {
	waits := false
	for i := range s.away {
		f := &s.away[i]
		if f.Ready() {
			if got, err := f.Get(); err != nil {
				return s.Throw(err)
			} else if got.Nanos != 42 {
				panic("another reply")
			}
		}
		if !f.Waiting() && s.begun < s.Req.times {
			s.begun++
			back.At(s.Req.to).Ask(s, f, sent)
		}
		waits = waits || f.Waiting()
	}
	if waits {
		return core.SuspendAny(s, (*asker).ask)
	}
	return s.Return(struct{}{})
}

var askerAsk = core.Handle((*asker).ask)

func start(t *testing.T, c cluster.Config) (*house.System, *cluster.Node) {
	sys, err := house.New(house.Config{Workers: 2, AskTimeout: 2 * time.Minute, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, sys.Shutdown(context.Background())) })
	c.Plaintext = true
	n, err := cluster.Start(t.Context(), sys, c)
	require.NoError(t, err)
	return sys, n
}

// TestReusedMessagesAllocateNothing: no malloc for a million asks, at either end.
func TestReusedMessagesAllocateNothing(t *testing.T) {
	n := 1_000_000
	if housetest.Slow {
		n = 10_000
	}
	sys, there := start(t, cluster.Config{Name: "there", Listen: "127.0.0.1:0"})
	_, err := core.SpawnWith(sys, func() *mirror { return &mirror{} }, core.Props{Name: "mirror"})
	require.NoError(t, err)
	sys, here := start(t, cluster.Config{Name: "here", Peers: map[string]string{"there": there.Addr()}})
	far, err := here.Lookup(t.Context(), "there", "/user/mirror")
	require.NoError(t, err)
	by := askerAsk.At(core.Spawn(sys.Workers()[1], func() *asker { return &asker{} }))
	housetest.ZeroAlloc(t, n, func(n int) {
		if _, err := core.Ask(t.Context(), by, askOf{far, n}); err != nil {
			t.Error(err)
		}
	})
}
