package channel_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/secure"
)

// floodConns is how many connections a flood keeps open. Each descriptor of the server has one in
// the process that floods.
const floodConns = 10_000

// TestLongTLSFlood: connections whose handshake never goes on cost little, slow plain ones down
// little, and keep nobody from a handshake who comes from elsewhere.
func TestLongTLSFlood(t *testing.T) {
	if os.Getenv("STACKHOUSE_FLOOD") != "" {
		flood(t)
		return
	}
	long(t)
	for _, again := range []bool{false, true} {
		for _, hello := range []bool{false, true} {
			for _, addresses := range []int{1, 50} {
				t.Run(fmt.Sprintf("again=%v/hello=%v/addresses=%d", again, hello, addresses), func(t *testing.T) { underFlood(t, again, hello, addresses) })
			}
		}
	}
}

// flood opens connections that stop behind what they say, and opens those that the server ends
// again, if it is to. It is a process of its own, which is killed.
func flood(t *testing.T) {
	addresses, _ := strconv.Atoi(os.Getenv("STACKHOUSE_ADDRESSES"))
	again := os.Getenv("STACKHOUSE_AGAIN") != ""
	hello, err := os.ReadFile(os.Getenv("STACKHOUSE_FLOOD"))
	require.NoError(t, err)
	for i := range floodConns {
		go func() {
			from := &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%addresses))}
			for opened := false; again || !opened; {
				d := net.Dialer{LocalAddr: from, Timeout: 10 * time.Second}
				c, err := d.Dial("tcp", os.Getenv("STACKHOUSE_SERVER"))
				if err != nil {
					time.Sleep(100 * time.Millisecond)
					continue
				}
				opened = true
				c.Write(hello)
				io.Copy(io.Discard, c) // until the server ends it
				c.Close()
			}
		}()
	}
	select {}
}

// times are how long something took, each time.
type times struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *times) add(d time.Duration) {
	l.mu.Lock()
	l.all = append(l.all, d)
	l.mu.Unlock()
}

func (l *times) p99() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.all)
	return l.all[len(l.all)*99/100]
}

func underFlood(t *testing.T, again, hello bool, addresses int) {
	s := newSecret(t)
	limits := secure.Limits{}
	if !again {
		limits.Time = time.Minute // so that they stand
	}
	by := secure.NewWith(&tls.Config{Certificates: []tls.Certificate{s.cert}}, limits)
	w := openWorld(t, place{network: "tcp", workers: 2}, nil)
	secured, err := channel.Listen(w.ctx, config{Network: "tcp", Address: "127.0.0.1:0", Codec: newLineCodec, TLS: by}, serve, w.fronts...)
	require.NoError(t, err)
	defer func() { require.NoError(t, secured.Close(w.ctx)) }()

	calm, calmHonest := w.floodTimes(secured.Addr(), s)
	memory := inUse()

	file := t.TempDir() + "/hello"
	require.NoError(t, os.WriteFile(file, clientHello(t, hello), 0o600))
	// who floods has processors elsewhere: of these it gets what the others leave
	cmd := exec.Command("nice", "-n", "19", os.Args[0], "-test.run=^TestLongTLSFlood$")
	cmd.Env = append(os.Environ(), "STACKHOUSE_FLOOD="+file, "STACKHOUSE_SERVER="+secured.Addr(), fmt.Sprint("STACKHOUSE_ADDRESSES=", addresses))
	if again {
		cmd.Env = append(cmd.Env, "STACKHOUSE_AGAIN=1")
	}
	require.NoError(t, cmd.Start())
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	w.await("the flood", func() bool { time.Sleep(time.Millisecond); return secured.Stats().Conns > floodConns*8/10 })
	if !again {
		w.await("all of it", func() bool {
			before := secured.Stats().Accepted
			time.Sleep(2 * time.Second)
			return secured.Stats().Accepted == before
		})
	}
	each := (inUse() - memory) / secured.Stats().Conns
	busy, honest := w.floodTimes(secured.Addr(), s)
	t.Logf("%d connections of %d bytes, %+v; plain p99 %v, calm %v; honest p99 %v of %d, calm %v", secured.Stats().Conns, each, by.Stats(),
		busy.p99(), calm.p99(), honest.p99(), len(honest.all), calmHonest.p99())
	require.Less(t, each, int64(16<<10))
	require.Less(t, honest.p99(), time.Second)
	if !again { // otherwise the system is at work to open and close connections
		require.Less(t, busy.p99(), calm.p99()*3/2+time.Millisecond)
	}
}

// floodTimes is how long requests of plain connections take, while clients of an address of their
// own greet the server at secured; and how long that takes.
func (w *world) floodTimes(secured string, s *secret) (plain, honest *times) {
	var stop atomic.Bool
	honest = &times{}
	done := begin(func() error {
		for !stop.Load() {
			began := time.Now()
			if err := greets(w.ctx, 0, secured, s.client()); err != nil {
				return err
			}
			honest.add(time.Since(began))
			time.Sleep(10 * time.Millisecond)
		}
		return nil
	})
	plain = w.plainTimes(10 * time.Second)
	stop.Store(true)
	require.NoError(w, <-done)
	return plain, honest
}

// inUse is the memory of the process that is in use.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// clientHello is what a client says first; nothing if it is silent.
func clientHello(t *testing.T, says bool) []byte {
	if !says {
		return nil
	}
	c, s := net.Pipe()
	go tls.Client(c, &tls.Config{ServerName: "a.test"}).Handshake()
	buffer := make([]byte, 4096)
	n, err := s.Read(buffer)
	require.NoError(t, err)
	s.Close()
	return buffer[:n]
}

// plainTimes is how long requests of plain connections take, for a while.
func (w *world) plainTimes(d time.Duration) *times {
	var all times
	var group sync.WaitGroup
	for range 20 {
		c := w.dial()
		group.Go(func() {
			defer c.Close()
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
				began := time.Now()
				c.send("a")
				c.expect("a")
				all.add(time.Since(began))
			}
		})
	}
	group.Wait()
	return &all
}

// greets opens a connection from an address of its own, one of 200, and has one request answered.
func greets(ctx context.Context, from int, address string, c *tls.Config) error {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 9, byte(1+from%200))}}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	s := tls.Client(conn, c)
	if _, err = s.Write([]byte("a\n")); err == nil {
		_, err = bufio.NewReader(s).ReadString('\n')
	}
	return err
}

// TestLongTLSHandshakes: nothing is left of many handshakes, of which half fail.
func TestLongTLSHandshakes(t *testing.T) {
	long(t)
	s := newSecret(t)
	by := secure.NewWith(&tls.Config{Certificates: []tls.Certificate{s.cert}}, secure.Limits{RunningOfOne: 64})
	w := openWorld(t, place{network: "tcp", workers: 2}, func(c *config) { c.TLS = by })
	const n = 100_000
	var group sync.WaitGroup
	var left atomic.Int64
	left.Store(n)
	for range 4 {
		group.Go(func() {
			for i := left.Add(-1); i >= 0; i = left.Add(-1) {
				c := s.client()
				if i%2 == 0 {
					c.ServerName = "b.test" // which the certificate hasn't
				}
				if err := greets(w.ctx, int(i), w.server.Addr(), c); (err != nil) != (i%2 == 0) {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	w.await("all gone", func() bool { return w.server.Stats().Conns == 0 && by.Stats().Running == 0 })
	t.Logf("%+v", by.Stats())
	require.EqualValues(t, n, by.Stats().Done+by.Stats().Failed)
}
