package cluster

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// cutter passes bytes on between two nodes, and resets connections after some.
type cutter struct {
	listener net.Listener
	to       string
	cuts     atomic.Int64
	most     int64 // cuts
	bytes    int64 // until one, about
	mu       sync.Mutex
	conns    []net.Conn
}

// close cuts all connections, and takes no more.
func (c *cutter) close() {
	c.listener.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
}

func newCutter(t *testing.T, to string, most, bytes int64) *cutter {
	c := &cutter{to: to, most: most, bytes: bytes}
	c.open(t, "127.0.0.1:0")
	return c
}

// open has c listen.
func (c *cutter) open(t *testing.T, address string) {
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	c.listener = l
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go c.carry(in)
		}
	}()
}

func (c *cutter) carry(in net.Conn) {
	out, err := net.Dial("tcp", c.to)
	if err != nil {
		in.Close()
		return
	}
	c.mu.Lock()
	c.conns = append(c.conns, in, out)
	c.mu.Unlock()
	var once sync.Once
	cut := func() {
		once.Do(func() {
			for _, conn := range []net.Conn{in, out} {
				conn.(*net.TCPConn).SetLinger(0)
				conn.Close()
			}
		})
	}
	left := int64(1) << 60
	if c.cuts.Add(1) <= c.most {
		left = rand.Int64N(2 * c.bytes)
	}
	go func() { io.Copy(in, out); cut() }()
	io.CopyN(out, in, left)
	cut()
}

// ledger is told of items, and requires that they come in order.
type ledger struct{ next, wrong int }

func (l *ledger) tell(s *core.NoticeStack[item]) core.Yield {
	if s.Msg.N != l.next {
		l.wrong++
	}
	l.next = s.Msg.N + 1
	return s.Return()
}

// count returns how many have come, or -1 if they weren't in order.
func (l *ledger) count(s *core.AskStack[struct{}, addRep]) core.Yield {
	if l.wrong > 0 {
		return s.Return(addRep{-1})
	}
	return s.Return(addRep{l.next})
}

func (l *ledger) add(s *core.AskStack[addReq, addRep]) core.Yield {
	if s.Req.N < 0 {
		return s.Throw(errNegative)
	}
	return s.Return(addRep{2 * s.Req.N})
}

var (
	errNegative = RegisterError("cluster.test.negative", fmt.Errorf("a number below zero: %w", core.ErrNotFound))

	_ = core.HandleNotice((*ledger).tell).As(tells)
	_ = core.Handle((*ledger).count).As(count)
	_ = core.Handle((*ledger).add).As(add)
)

// TestResets: connections are cut at any byte; no notice is lost, none comes twice, none overtakes
// another one, and each ask is answered.
func TestResets(t *testing.T) {
	n, cuts := 1_000_000, int64(500)
	if housetest.Slow {
		n, cuts = 50_000, 50
	}
	resets(t, n, cuts)
}

// TestLongResets is the same for a hundred times as many.
func TestLongResets(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG")
	}
	resets(t, 100_000_000, 10_000)
}

func resets(t *testing.T, n int, cuts int64) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	_, err := core.SpawnWith(there.sys, func() *ledger { return &ledger{} }, core.Props{Name: "ledger"})
	require.NoError(t, err)
	// an item takes some 10 bytes, and most are in frames of many: what comes in part comes again
	between := newCutter(t, there.node.Addr(), cuts, int64(n)*8/cuts)
	here := newPlace(t, Config{Name: "here", Peers: map[string]string{"there": between.listener.Addr().String()},
		Timing: session.Timing{BackoffMin: 1e6, BackoffMax: 4e6}})
	far, err := here.node.Lookup(t.Context(), "there", "/user/ledger")
	require.NoError(t, err)
	over := make(chan struct{})
	var asked sync.WaitGroup
	asked.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-over:
				return
			default:
			}
			rep, err := core.Ask(t.Context(), add.At(far), addReq{n})
			for ; err == core.ErrMailboxFull; rep, err = core.Ask(t.Context(), add.At(far), addReq{n}) {
				time.Sleep(time.Millisecond)
			}
			if err != nil || rep.Sum != 2*n {
				t.Errorf("ask %d: %v, %v", n, rep, err)
				return
			}
		}
	})
	for i := range n {
		if err := core.NoticeWait(t.Context(), tells.At(far), item{N: i}); err != nil {
			t.Errorf("notice %d: %v", i, err)
			break
		}
	}
	close(over)
	asked.Wait()
	require.Eventually(t, func() bool {
		rep, err := core.Ask(t.Context(), count.At(far), struct{}{})
		return err == nil && (rep.Sum == n || rep.Sum < 0)
	}, 20*time.Second, 10*time.Millisecond)
	rep, err := core.Ask(t.Context(), count.At(far), struct{}{})
	require.NoError(t, err)
	require.Equal(t, n, rep.Sum)
	t.Logf("%d connections", between.cuts.Load())
	require.Greater(t, between.cuts.Load(), cuts*9/10)
}
