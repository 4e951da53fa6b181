//go:build !portable

package channel_test

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// horn sends a text to a peer many times. Its asks are answered when all is on its way.
type horn struct {
	peer  channel.Peer[reply]
	front core.Port[struct{}, struct{}]
}

type blowStack struct {
	core.AskStack[int, struct{}]
	left int
	nap  core.Future[struct{}]
}

// askStack is blowStack for messages by Ask.
type askStack struct {
	core.AskStack[int, struct{}]
	left    int
	written [20]core.Future[core.Written]
}

var (
	hornBlow = core.Handle((*horn).blow)
	hornAsk  = core.Handle((*horn).ask)
)

func (h *horn) ask(s *askStack) core.Yield {
	s.left = s.Req
	return h.askOn(s)
}

// askOn sends 20 messages at a time, of which the connection has room for some.
func (h *horn) askOn(s *askStack) core.Yield {
	for i := range s.written {
		if f := &s.written[i]; f.Ready() {
			if _, err := f.Get(); err != nil {
				return s.Throw(err)
			}
		}
		if s.left > 0 {
			h.peer.Ask(s, &s.written[i], reply{hornText})
			s.left--
		}
	}
	if s.left > 0 {
		return core.Suspend(s, (*horn).askOn)
	}
	return core.Suspend(s, (*horn).asked)
}

func (h *horn) asked(s *askStack) core.Yield { return s.Return(struct{}{}) }

func (h *horn) blow(s *blowStack) core.Yield {
	s.left = s.Req
	return h.on(s)
}

var hornText = []byte("a text that nobody writes to")

func (h *horn) on(s *blowStack) core.Yield {
	for range 100 { // a mailbox takes them
		if s.left == 0 || h.peer.Notice(s, reply{hornText}) != nil {
			break
		}
		s.left--
	}
	if s.left == 0 {
		return s.Return(struct{}{})
	}
	h.front.Ask(s, &s.nap, struct{}{}) // its mailbox holds no more than a few hundred
	return core.Suspend(s, (*horn).on)
}

// horns has f called with what sends messages by some way to a connection of the sender's worker,
// and of another one, and reads them.
func horns(t *testing.T, by core.Handler[horn, int, struct{}], set func(*config), f func(blow func(n int))) {
	for _, workers := range []int{1, 2} {
		w := openWorld(t, place{network: "tcp", workers: workers}, set)
		fd := dialRaw(t, w.server.Addr())
		defer unix.Close(fd)
		writeAll(t, fd, []byte("whose x\n"))
		readAll(t, fd, make([]byte, 8))
		var peer channel.Peer[reply]
		var front core.Port[struct{}, struct{}]
		for _, at := range w.fronts {
			if p, err := core.Ask(w.ctx, frontPeer.At(at), struct{}{}); err == nil && p != (channel.Peer[reply]{}) {
				peer, front = p, frontNap.At(at)
			}
		}
		all := w.system.Workers()
		far := core.Spawn(all[len(all)-1], func() *horn { return &horn{peer, front} })
		near := core.Spawn(all[0], func() *horn { return &horn{peer, front} })
		want := bytes.Repeat(append(bytes.Clone(hornText), '\n'), 100)
		got := make([]byte, len(want))
		for _, at := range []core.Address[horn]{far, near} {
			f(func(n int) {
				call := core.Begin(by.At(at), n)
				for range n / 100 {
					readAll(t, fd, got)
				}
				_, err := call.Get()
				require.NoError(t, err)
				require.True(t, bytes.Equal(want, got))
			})
		}
	}
}

// TestPushesAllocateNothing: a million messages to a connection of the sender's worker, and of
// another one.
func TestPushesAllocateNothing(t *testing.T) { blowsAllocateNothing(t, hornBlow, nil) }

// TestAsksOfPeersAllocateNothing: also if most wait for room.
func TestAsksOfPeersAllocateNothing(t *testing.T) {
	blowsAllocateNothing(t, hornAsk, func(c *config) { c.OutputMax = 15 * len(hornText) })
}

func blowsAllocateNothing(t *testing.T, by core.Handler[horn, int, struct{}], set func(*config)) {
	n := 1_000_000
	if invariant.Race || invariant.Enabled {
		n = 10_000
	}
	horns(t, by, set, func(blow func(n int)) {
		blow(n / 10)
		housetest.ZeroAlloc(t, n, blow)
	})
}

// TestLongPushesCollectNothing: a minute of messages, and the collector has nothing to do.
func TestLongPushesCollectNothing(t *testing.T) {
	long(t)
	horns(t, hornBlow, nil, func(blow func(n int)) {
		const n = 100_000
		blow(n)
		var before, after runtime.MemStats
		sent := 0
		runtime.GC()
		runtime.ReadMemStats(&before)
		for began := time.Now(); time.Since(began) < time.Minute; sent += n {
			blow(n)
		}
		runtime.ReadMemStats(&after)
		t.Logf("%d messages, %d mallocs", sent, after.Mallocs-before.Mallocs)
		require.Equal(t, before.NumGC, after.NumGC)
	})
}
