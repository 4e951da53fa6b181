package channel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestClientCloseBesideAFullMailbox: Close waits for asks though more of them are on their way than
// the pool's mailbox takes.
func TestClientCloseBesideAFullMailbox(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1, AskTimeout: time.Hour, MailboxMax: 2})
	door := sim.Net.Serve(doorAddress)
	client, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: doorAddress, Codec: newLineClient})
	require.NoError(t, err)
	sim.Run(time.Millisecond)
	peer := door.Accept()
	a := core.Begin(client.Port(), request{[]byte("a")})
	b := core.Begin(client.Port(), request{[]byte("b")})
	replied := core.Spawn(sim.System, func() *replier { return &replier{peer} })
	require.NoError(t, core.Notice(replierBegin.At(replied), struct{}{}))
	require.NoError(t, client.Close(t.Context()))
	require.NoError(t, a.GetInto(func(rep *reply) { require.Equal(t, "1", string(rep.text)) }))
	require.NoError(t, b.GetInto(func(rep *reply) { require.Equal(t, "2", string(rep.text)) }))
}

type replierStack struct {
	core.NoticeStack[struct{}]
	tick core.Future[core.Tick]
}

// replier has a peer reply after ten milliseconds.
type replier struct{ peer *housetest.Peer }

func (r *replier) begin(s *replierStack) core.Yield {
	core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
	return core.Suspend(s, (*replier).reply)
}

func (r *replier) reply(s *replierStack) core.Yield {
	r.peer.Write([]byte("1\n2\n"))
	return s.Return()
}

var replierBegin = core.HandleNotice((*replier).begin)

// TestClientCloseOutlastsAskTimeout: however often the system's default deadline passes meanwhile.
func TestClientCloseOutlastsAskTimeout(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1, AskTimeout: 10 * time.Millisecond, MailboxMax: 8})
	door := sim.Net.Serve(doorAddress)
	client, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: doorAddress, Codec: newLineClient})
	require.NoError(t, err)
	at := callerAsk.At(core.Spawn(sim.System, func() *caller { return &caller{client.Port()} }))
	asked := core.Begin(at, call{line: []byte("a"), limit: time.Hour})
	sim.Run(time.Millisecond)
	peer := door.Accept()
	replied := core.Spawn(sim.System, func() *slowReplier { return &slowReplier{peer} })
	require.NoError(t, core.Notice(slowReplierBegin.At(replied), struct{}{}))
	require.NoError(t, client.Close(t.Context()))
	_, err = asked.Get()
	require.ErrorIs(t, err, core.ErrTimeout)
}

type slowReplier struct{ peer *housetest.Peer }

func (r *slowReplier) begin(s *replierStack) core.Yield {
	core.Timer.Ask(s, &s.tick, time.Second)
	return core.Suspend(s, (*slowReplier).reply)
}

func (r *slowReplier) reply(s *replierStack) core.Yield {
	r.peer.Write([]byte("1\n2\n"))
	return s.Return()
}

var slowReplierBegin = core.HandleNotice((*slowReplier).begin)
