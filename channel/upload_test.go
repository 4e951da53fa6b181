package channel_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack"
)

// storeroom is a receiver that looks what its connections hold.
type storeroom struct {
	disk core.Port[[]byte, int]
	most *atomic.Int64 // bytes received and not stored
}

var storing = channel.Handle((*storeroom).receive)

func (r *storeroom) receive(s *pieceStack) core.Yield {
	held := channel.Holds[piece, int](stack.InboundOf(stack.Of(s)).Conn)
	r.most.Store(max(r.most.Load(), int64(held.Input+len(s.Req.bytes))))
	if held.Inflight != 1 {
		return s.Throw(errNotAlone)
	}
	r.disk.Ask(s, &s.stored, s.Req.bytes)
	return core.Suspend(s, (*storeroom).stored)
}

func (r *storeroom) stored(s *pieceStack) core.Yield {
	all, err := s.stored.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(all)
}

// disk takes its time for each piece.
type disk struct {
	time time.Duration
	sum  atomic.Int64
}

type diskStack struct {
	core.AskStack[[]byte, int]
	tick core.Future[core.Tick]
}

var diskWrite = core.Handle((*disk).write)

func (d *disk) write(s *diskStack) core.Yield {
	core.Timer.Ask(s, &s.tick, d.time)
	return core.Suspend(s, (*disk).written)
}

func (d *disk) written(s *diskStack) core.Yield {
	if n := len(s.Req); bytes.Count(s.Req, []byte("u")) != n {
		panic("other bytes than the client sent")
	}
	return s.Return(int(d.sum.Add(int64(len(s.Req)))))
}

// TestUploadInParts: a disk that is slower than every timeout of the connection is the measure of
// an upload: the server holds no more than two reads of it, and refuses nothing.
func TestUploadInParts(t *testing.T) {
	const size, read, window = 1 << 20, 4 << 10, 8 << 10
	sim := housetest.New(t, 1, house.Config{Workers: 2, AskTimeout: time.Hour})
	slow, most := &disk{time: 20 * time.Second}, atomic.Int64{}
	to := diskWrite.At(core.Spawn(sim.Workers()[0], func() *disk { return slow }))
	at := core.Spawn(sim.Workers()[1], func() *storeroom { return &storeroom{to, &most} })
	server, err := channel.Listen(t.Context(), channel.Config[piece, int]{Network: "tcp", Address: "127.0.0.1:80",
		Codec:    func() channel.Codec[piece, int] { return &uploads{} },
		ReadSize: read, InputMax: 2 * read, WorkMax: 1, RequestsMax: 1,
		RequestTimeout: time.Second, IdleTimeout: 10 * time.Second,
	}, storing, at)
	require.NoError(t, err)
	sim.Net.Faults.Window = window
	peer := sim.Net.Dial(server.Addr())
	sim.Run(time.Second)
	text := fmt.Sprint(size, "\n", strings.Repeat("u", size))
	for rest := []byte(text); len(rest) > 0; {
		n := peer.Write(rest)
		rest = rest[n:]
		sim.Run(time.Second)
		sent := len(text) - len(rest)
		require.LessOrEqual(t, sent-int(slow.sum.Load()), 2*read+2*window, "sent and not stored")
	}
	sim.Run(time.Hour)
	require.Equal(t, fmt.Sprint(size, " bytes are stored\n"), string(peer.Read(100)))
	require.LessOrEqual(t, most.Load(), int64(4*read))
	stats := server.Stats()
	require.Zero(t, stats.Refused+stats.Overloaded+stats.RequestTimeouts)
	require.NoError(t, server.Close(t.Context()))
}

// TestUploadsOverSockets: several at once, one behind the other on each connection, and some that
// break off.
func TestUploadsOverSockets(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		const size, conns = 3 << 20, 4
		w := openWorld(t, p, nil)
		var most atomic.Int64
		var fronts []core.Address[storeroom]
		for _, on := range w.system.Workers() {
			fronts = append(fronts, core.Spawn(on, func() *storeroom {
				return &storeroom{diskWrite.At(core.Spawn(w.system, func() *disk { return &disk{} })), &most}
			}))
		}
		server, err := channel.Listen(w.ctx, channel.Config[piece, int]{Network: p.network, Address: address(t, p.network),
			Codec: func() channel.Codec[piece, int] { return &uploads{} }}, storing, fronts...)
		require.NoError(t, err)
		upload := fmt.Sprint(size, "\n", strings.Repeat("u", size))
		var sent []<-chan error
		var all []*client
		for range conns {
			c, breaks := dialTo(t, p.network, server.Addr()), dialTo(t, p.network, server.Addr())
			all = append(all, c)
			sent = append(sent, begin(func() error { _, err := c.Write([]byte(upload + upload + "1\nu")); return err }))
			breaks.part(upload[:size/10])
			breaks.reset()
		}
		for i, c := range all {
			for range 3 {
				line, err := c.r.ReadString('\n')
				require.NoError(t, err)
				require.Contains(t, line, "bytes are stored")
			}
			require.NoError(t, <-sent[i])
			c.Close()
		}
		require.LessOrEqual(t, most.Load(), int64(4*16<<10))
		require.NoError(t, server.Drain(w.ctx))
	})
}
