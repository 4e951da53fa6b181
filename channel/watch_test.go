package channel_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// lookout watches the peers that join, twice when they first do, and counts how often it hears of
// their end.
type lookout struct {
	peers []channel.Peer[reply]
	ended map[channel.Peer[reply]]int
	joins int // when it last heard of an end
	now   int
}

type (
	lookoutJoin struct{ core.NoticeStack[joining] }
	lookoutEnd  struct {
		core.NoticeStack[channel.Closed[reply]]
	}
	lookoutAsk struct{ core.AskStack[string, []int] }
)

var (
	lookoutJoins = core.HandleNotice((*lookout).join)
	lookoutHears = core.HandleNotice((*lookout).hear)
	lookoutTens  = core.HandleNotice((*lookout).hearTen)
	lookoutAsks  = core.Handle((*lookout).ask)
)

func (l *lookout) join(s *lookoutJoin) core.Yield {
	l.now++
	if slices.Contains(l.peers, s.Msg.peer) {
		return s.Return()
	}
	l.peers = append(l.peers, s.Msg.peer)
	for range 2 {
		channel.Watch(s, s.Msg.peer, lookoutHears)
	}
	return s.Return()
}

func (l *lookout) hear(s *lookoutEnd) core.Yield {
	l.ended[s.Msg.Peer]++
	l.joins = l.now
	return s.Return()
}

// hearTen is hear by another handler, whose ends count as ten.
func (l *lookout) hearTen(s *lookoutEnd) core.Yield {
	l.ended[s.Msg.Peer] += 10
	return s.Return()
}

// ask answers how often it has heard of the end of each peer, after it has done so to all of them:
// "close", "watch", "unwatch", "watch ten", "unwatch ten" or nothing; of "joins", how many joins
// came before the last end.
func (l *lookout) ask(s *lookoutAsk) core.Yield {
	if s.Req == "joins" {
		return s.Return([]int{l.joins})
	}
	var counts []int
	for _, p := range l.peers {
		switch s.Req {
		case "close":
			p.Close(s)
		case "watch":
			channel.Watch(s, p, lookoutHears)
		case "unwatch":
			channel.Unwatch(s, p, lookoutHears)
		case "watch ten":
			channel.Watch(s, p, lookoutTens)
		case "unwatch ten":
			channel.Unwatch(s, p, lookoutTens)
		}
		counts = append(counts, l.ended[p])
	}
	return s.Return(counts)
}

// post is a simulation of a hall on the first worker, whose peers a lookout watches.
type post struct {
	*housetest.Sim
	*server
	t    *testing.T
	near core.Address[hall]
	at   core.Address[lookout]
}

// inPosts runs f where the lookout is on the worker of the connections, and on another.
func inPosts(t *testing.T, f func(t *testing.T, p *post)) {
	for at := range 2 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			p := &post{Sim: housetest.New(t, 1, house.Config{Workers: 2, Logger: slog.New(slog.DiscardHandler)}), t: t}
			var err error
			p.at, err = core.SpawnWith(p.Workers()[at], func() *lookout { return &lookout{ended: map[channel.Peer[reply]]int{}} },
				core.Props{Mailbox: core.Bounded(1, core.Reject)})
			require.NoError(t, err)
			p.near = core.Spawn(p.Workers()[0], func() *hall { return &hall{other: lookoutJoins.At(p.at)} })
			p.server, err = channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:80", Codec: newLineCodec}, hallServe, p.near)
			require.NoError(t, err)
			f(t, p)
			require.NoError(t, p.Close(t.Context()))
			require.NoError(t, p.Shutdown(t.Context()))
		})
	}
}

// dial has the lookout watch n connections.
func (p *post) dial(n int) (all []*housetest.Peer) {
	for range n {
		peer := p.Net.Dial(p.Addr())
		p.Run(time.Millisecond)
		says(p.t, p.Sim, peer, "join x\n", "x\n")
		all = append(all, peer)
	}
	return all
}

// heard requires what the lookout has heard, after it has done something.
func (p *post) heard(do string, want ...int) {
	p.t.Helper()
	counts, err := housetest.Ask(p.t, p.Sim, lookoutAsks.At(p.at), do)
	require.NoError(p.t, err)
	require.Equal(p.t, want, counts, do)
	p.Run(time.Millisecond)
}

// TestWatch: the end of each connection is heard once, however it comes; afterwards at once.
func TestWatch(t *testing.T) {
	inPosts(t, func(t *testing.T, p *post) {
		all := p.dial(3)
		all[0].Reset()
		all[1].Close()
		p.Run(time.Millisecond)
		p.heard("", 1, 1, 0)
		p.heard("close", 1, 1, 0)
		all[2].Close()
		p.Run(time.Millisecond)
		p.heard("watch", 1, 1, 1)
		p.heard("unwatch", 2, 2, 2)
		p.heard("", 2, 2, 2)
	})
}

// TestWatchByTwoHandlers: each of an actor's handlers hears, and is let go alone.
func TestWatchByTwoHandlers(t *testing.T) {
	inPosts(t, func(t *testing.T, p *post) {
		all := p.dial(3)
		p.heard("watch ten", 0, 0, 0)
		all[0].Reset()
		p.Run(time.Millisecond)
		p.heard("unwatch ten", 11, 0, 0)
		all[1].Reset()
		p.Run(time.Millisecond)
		p.heard("watch ten", 11, 1, 0)
		p.heard("unwatch", 21, 11, 0)
		all[2].Reset()
		p.Run(time.Millisecond)
		p.heard("", 21, 11, 10)
	})
}

func TestUnwatch(t *testing.T) {
	inPosts(t, func(t *testing.T, p *post) {
		all := p.dial(2)
		p.heard("unwatch", 0, 0)
		all[0].Reset()
		p.Run(time.Millisecond)
		p.heard("watch", 0, 0)
		all[1].Reset()
		p.Run(time.Millisecond)
		p.heard("", 1, 1)
	})
}

// TestWatchWithAFullMailbox: of the actor that watches, and of the one that has the connection.
func TestWatchWithAFullMailbox(t *testing.T) {
	inPosts(t, func(t *testing.T, p *post) {
		all := p.dial(10)
		p.near.Pause()
		p.Run(time.Millisecond)
		for core.Notice(hallJoin.At(p.near), joining{}) == nil {
		}
		p.heard("unwatch", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		p.heard("watch", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		p.near.Continue()
		p.at.Pause()
		p.Run(time.Millisecond)
		for _, peer := range all {
			peer.Reset()
		}
		p.Run(time.Millisecond)
		p.at.Continue()
		p.Run(time.Millisecond)
		p.heard("", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	})
}

// TestWatchOfAFrontThatStops: also if Watch is on its way then.
func TestWatchOfAFrontThatStops(t *testing.T) {
	inPosts(t, func(t *testing.T, p *post) {
		p.dial(2)
		p.heard("unwatch", 0, 0)
		p.near.Pause()
		p.Run(time.Millisecond)
		p.heard("watch", 0, 0)
		p.near.Stop()
		p.Run(time.Millisecond)
		p.heard("watch", 1, 1)
		p.heard("", 2, 2)
	})
}

// TestWatcherStops: nobody is told, and nothing is a dead letter.
func TestWatcherStops(t *testing.T) {
	inPosts(t, func(t *testing.T, p *post) {
		all := p.dial(2)
		p.at.Stop()
		p.Run(time.Millisecond)
		for _, peer := range all {
			peer.Reset()
		}
		p.Run(time.Millisecond)
		require.Empty(t, p.DeadLetters())
	})
}

// TestClosedComesLast: behind what the front has sent to the watcher before.
func TestClosedComesLast(t *testing.T) {
	inPosts(t, func(t *testing.T, p *post) {
		peer := p.dial(1)[0]
		peer.Write([]byte("join y\nlast z\n"))
		peer.End()
		p.Run(time.Millisecond)
		p.heard("", 1)
		p.heard("joins", 2)
	})
}

// TestWatchOfNobody panics, as does one of another system.
func TestWatchOfNobody(t *testing.T) {
	inPosts(t, func(t *testing.T, p *post) {
		_, err := core.Ask(t.Context(), lookoutTries.At(core.Spawn(p.Workers()[0], func() *lookout { return &lookout{} })), channel.Peer[reply]{})
		require.ErrorContains(t, err, "the zero Peer")
		p.dial(1)
		other := housetest.New(t, 2, house.Config{Logger: slog.New(slog.DiscardHandler)})
		var of channel.Peer[reply]
		require.NoError(t, core.AskInto(t.Context(), lookoutTells.At(p.at), struct{}{}, func(p *channel.Peer[reply]) { of = *p }))
		_, err = core.Ask(t.Context(), lookoutTries.At(core.Spawn(other.Workers()[0], func() *lookout { return &lookout{} })), of)
		require.ErrorContains(t, err, "another system")
		require.NoError(t, other.Shutdown(t.Context()))
	})
}

type (
	lookoutTry struct {
		core.AskStack[channel.Peer[reply], int]
	}
	lookoutTell struct {
		core.AskStack[struct{}, channel.Peer[reply]]
	}
)

var (
	lookoutTries = core.Handle((*lookout).try)
	lookoutTells = core.Handle((*lookout).tell)
)

func (l *lookout) try(s *lookoutTry) core.Yield {
	channel.Watch(s, s.Req, lookoutHears)
	return s.Return(0)
}

func (l *lookout) tell(s *lookoutTell) core.Yield { return s.Return(l.peers[0]) }
