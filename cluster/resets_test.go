package cluster

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
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

// TestResets: connections are cut at any byte; no notice is lost, none comes twice, none overtakes
// another one, and each ask is answered.
func TestResets(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	c := &counter{}
	_, err := core.SpawnWith(there.sys, func() *counter { return c }, core.Props{Name: "counter"})
	require.NoError(t, err)
	between := newCutter(t, there.node.Addr(), 50, 20_000)
	here := newPlace(t, Config{Name: "here", Peers: map[string]string{"there": between.listener.Addr().String()},
		Timing: session.Timing{BackoffMin: 1e6, BackoffMax: 4e6}})
	far, err := here.node.Lookup(t.Context(), "there", "/user/counter")
	require.NoError(t, err)
	var asked sync.WaitGroup
	asked.Go(func() {
		for n := range 2000 {
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
	const n = 50_000
	for i := 0; i < n; {
		switch err := core.Notice(tells.At(far), item{N: i}); err {
		case nil:
			i++
		case core.ErrMailboxFull:
			time.Sleep(time.Millisecond)
		default:
			require.NoError(t, err)
		}
	}
	asked.Wait()
	require.Eventually(t, func() bool {
		rep, err := core.Ask(t.Context(), count.At(far), struct{}{})
		return err == nil && rep.Sum == n
	}, 20*time.Second, 10*time.Millisecond)
	requireInOrder(t, n, c)
	require.Greater(t, between.cuts.Load(), int64(20))
}
