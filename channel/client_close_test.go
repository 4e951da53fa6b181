package channel_test

import (
	"context"
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
	replied := core.Spawn(sim.System, func() *replier {
		return &replier{func() { peer.Write([]byte("1\n2\n")) }}
	})
	require.NoError(t, core.Notice(replierBegin.At(replied), struct{}{}))
	require.NoError(t, client.Close(t.Context()))
	require.NoError(t, a.GetInto(func(rep *reply) { require.Equal(t, "1", string(rep.text)) }))
	require.NoError(t, b.GetInto(func(rep *reply) { require.Equal(t, "2", string(rep.text)) }))
}

// TestClientCloseLosesTheLastConnection: it waits no longer than for what is lost with it.
func TestClientCloseLosesTheLastConnection(t *testing.T) {
	p := newPlay(t, nil)
	p.prove()
	a := p.ask("a")
	breaks := core.Spawn(p.System, func() *replier { return &replier{p.peers[0].Reset} })
	require.NoError(t, core.Notice(replierBegin.At(breaks), struct{}{}))
	began := p.Now
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // or it would wait for ever
	defer cancel()
	require.NoError(t, p.client.Close(ctx))
	require.Less(t, p.Now-began, int64(time.Second))
	p.fails(a, core.ErrLost)
}

type replierStack struct {
	core.NoticeStack[struct{}]
	tick core.Future[core.Tick]
}

// replier does what a peer does after ten milliseconds.
type replier struct{ do func() }

func (r *replier) begin(s *replierStack) core.Yield {
	core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
	return core.Suspend(s, (*replier).reply)
}

func (r *replier) reply(s *replierStack) core.Yield {
	r.do()
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
