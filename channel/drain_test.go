package channel_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// begin runs f in a goroutine and returns where its error will be.
func begin(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// refuses reports whether nobody listens on the server's address any more.
func (w *world) refuses() bool {
	conn, err := net.Dial(w.network, w.server.Addr())
	if err == nil {
		conn.Close()
	}
	return isRefused(err)
}

func TestDrain(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.InflightMax = 4 })
		var idle, busy []*client
		for i := range 10 {
			idle = append(idle, w.dial())
			busy = append(busy, w.dial())
			idle[i].send("a")
			idle[i].expect("a")
			busy[i].send("mark")
			busy[i].expect("mark")
			busy[i].send("hold 1 a", "b", "after 3 c", "hold 1 d", "e", "hold 1 f", "big 200000", "g")
			busy[i].Write([]byte("the start of a request"))
		}
		w.await("the asks", func() bool { return w.keeper.holding.Load() == 2*10 })
		drained := begin(func() error { return w.server.Drain(w.ctx) })
		for _, c := range idle {
			c.expectEnd()
		}
		w.await("the listeners closed", w.refuses)
		w.letGo(1)
		for _, c := range busy {
			c.expect("a", "b", "c", "d", "e", "f", big(200000), "g")
			c.expectEnd()
		}
		require.NoError(t, <-drained)
		require.Zero(t, w.server.Stats().Conns)
		require.NoError(t, w.server.Drain(w.ctx), "again")
		require.NoError(t, w.server.Close(w.ctx), "and closed")
	})
}

// TestDrainAnswersWhatHadArrived: bytes that the poller has not told of yet, and
// connections that are not accepted yet.
func TestDrainAnswersWhatHadArrived(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for range 20 {
			w := openWorld(t, p, nil)
			var all []*client
			for i := range 20 {
				c := w.dial()
				c.send(fmt.Sprint("x", i), "after 0 y")
				all = append(all, c)
			}
			drained := begin(func() error { return w.server.Drain(w.ctx) })
			for i, c := range all {
				c.expect(fmt.Sprint("x", i), "y")
				c.expectEnd()
			}
			require.NoError(t, <-drained)
		}
	})
}

// TestDrainUnderLoad: each request was answered, or the connection ended in order
// behind an answer.
func TestDrainUnderLoad(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		var answered atomic.Int64
		var group sync.WaitGroup
		for range 8 {
			c := w.dial()
			group.Go(func() {
				defer c.Close()
				for i := 0; ; i++ {
					line := fmt.Sprint("x", i, "\n")
					if _, err := io.WriteString(c, line); err != nil {
						if !isBroken(err) {
							t.Error(err)
						}
						return
					}
					switch got, err := c.r.ReadString('\n'); {
					case err == nil && got == line:
						answered.Add(1)
					case got == "" && (err == io.EOF || isBroken(err)):
						return // it was not taken in
					default:
						t.Errorf("%q, %v; want %q", got, err, line)
						return
					}
				}
			})
		}
		w.await("some load", func() bool { return answered.Load() > 1000 })
		require.NoError(t, w.server.Drain(w.ctx))
		group.Wait()
	})
}

// TestDrainEndsThoughAClientNeverStops: what such a client sends is not "what had arrived".
func TestDrainEndsThoughAClientNeverStops(t *testing.T) {
	// slower than the client
	w := openWorld(t, place{network: "tcp", workers: 2}, func(c *config) { c.ReadSize = 64 })
	c := w.dial()
	c.send("a")
	c.expect("a")
	ended := begin(func() error {
		text := []byte(strings.Repeat("\n", 1<<16))
		for {
			if _, err := c.Write(text); err != nil {
				return nil
			}
		}
	})
	require.NoError(t, w.server.Drain(w.ctx))
	<-ended
}

// TestDrainEndsThoughThereIsAlwaysMoreToRead: a connection answers a MiB at most of what comes
// behind the begin of the drain.
func TestDrainEndsThoughThereIsAlwaysMoreToRead(t *testing.T) {
	sim, server, _ := openHall(t, 1, 1, 0, func(c *config) { c.ReadSize = 16 << 10 })
	sim.Net.Faults.Window = 4 << 20
	p := sim.Net.Dial(server.Addr())
	sim.Run(time.Millisecond)
	says(t, sim, p, "z z\n", "z\n")
	text := []byte("z " + strings.Repeat("z", 8000) + "\n")
	channel.BeginDrain(server)
	got := 0
	for rounds := 0; p.Err() == nil; rounds++ {
		require.Less(t, rounds, 1000, "answered %d bytes", got)
		for p.Write(text) > 0 {
			// the end of what didn't fit begins a next line
		}
		sim.Turn()
		got += len(p.Read(1 << 20))
	}
	require.Greater(t, got, 900_000)
	p.Close()
	sim.Run(time.Millisecond)
	require.Zero(t, server.Stats().Conns)
}

// TestDrainCutsOffWhatLingers: whose client has all and doesn't end its side.
func TestDrainCutsOffWhatLingers(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil, virtual) // time doesn't end it
		c := w.dial()
		c.send("last a")
		c.expect("a")
		_, err := c.r.ReadByte()
		require.Equal(t, io.EOF, err)
		ctx, cancel := context.WithTimeout(w.ctx, 20*time.Millisecond)
		defer cancel()
		require.EqualError(t, w.server.Drain(ctx), "channel: 0 connections were cut off: "+context.DeadlineExceeded.Error())
		require.Zero(t, w.server.Stats().Conns)
	})
}

func TestDrainCutOff(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		var all []*client
		for i := range 4 {
			c := w.dial()
			c.send("hold 1 a", "b", "never")
			all = append(all, c)
			w.await("the ask", func() bool { return w.keeper.holding.Load() == int64(i+1) })
		}
		ctx, cancel := context.WithTimeout(w.ctx, 20*time.Millisecond)
		defer cancel()
		err := w.server.Drain(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "4 connections were cut off")
		require.Zero(t, w.server.Stats().Conns)
		for _, c := range all {
			c.expectEnd()
		}
		w.await("the asks cancelled", func() bool { return w.freed.Load() == 4 })
	})
}

// One worker that is blocked keeps neither Drain nor Close from the connections of others. They
// return in their time, say what is true, and what they left is closed when the worker is back.
func TestOneWorkerIsBlocked(t *testing.T) {
	for _, blocked := range []string{"0", "1"} {
		for _, draining := range []bool{true, false} {
			w := openWorld(t, place{network: "unix", workers: 2}, nil)
			conns := map[string][]*client{}
			for len(conns["0"]) < 3 || len(conns["1"]) < 3 {
				c := w.dial()
				c.send("worker")
				at, err := c.r.ReadString('\n')
				require.NoError(t, err)
				conns[at[:1]] = append(conns[at[:1]], c)
			}
			conns[blocked][0].send("block")
			w.await("the step that blocks", func() bool { return w.blocked.Load() == 1 })
			other := conns[map[string]string{"0": "1", "1": "0"}[blocked]]
			other[0].send("a", "never")
			other[0].expect("a")

			ctx, cancel := context.WithTimeout(w.ctx, 100*time.Millisecond)
			ended := begin(func() error {
				if draining {
					return w.server.Drain(ctx)
				}
				return w.server.Close(ctx)
			})
			for _, c := range other {
				c.expectEnd()
			}
			began := time.Now()
			err := <-ended
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Less(t, time.Since(began), 1500*time.Millisecond)
			if draining {
				require.ErrorContains(t, err, "1 connections were cut off")
				require.ErrorContains(t, err, "1 of 2 workers don't answer")
			}
			require.EqualValues(t, len(conns[blocked]), w.server.Stats().Conns)
			close(w.gate)
			w.await("all connections gone", func() bool { return w.server.Stats().Conns == 0 })
		}
	}
}

// TestDrainOutlivesTheDefaultDeadline: a context without a deadline means for ever.
func TestDrainOutlivesTheDefaultDeadline(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 2}, nil, func(_ *world, c *house.Config) { c.AskTimeout = 5 * time.Millisecond })
	c := w.dial()
	c.send("after 50 a")
	c.send("mark")
	w.await("the connection", func() bool { return w.server.Stats().Conns == 1 })
	drained := begin(func() error { return w.server.Drain(context.Background()) })
	c.expect("a", "mark")
	c.expectEnd()
	require.NoError(t, <-drained)
}

func TestDrainWithAnEndedContext(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 2}, nil)
	c := w.dial()
	c.send("a")
	c.expect("a")
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	require.ErrorIs(t, w.server.Drain(ctx), context.Canceled)
	require.Zero(t, w.server.Stats().Conns)
	c.expectEnd()
	require.True(t, w.refuses())
}

// TestDrainAnswersWhatWasNotRead: what had arrived, and wasn't read as too much was in flight, is
// answered to the end.
func TestDrainAnswersWhatWasNotRead(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.InflightMax = 2 })
		c := w.dial()
		c.send("hold 1 a", "hold 1 b")
		w.await("the asks", func() bool { return w.keeper.holding.Load() == 2 })
		c.send("c", "d", "e", "f", "g", "h")
		drained := begin(func() error { return w.server.Drain(w.ctx) })
		time.Sleep(20 * time.Millisecond)
		w.letGo(1)
		c.expect("a", "b", "c", "d", "e", "f", "g", "h")
		c.expectEnd()
		require.NoError(t, <-drained)
	})
}

func TestClose(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		var all []*client
		for i := range 10 {
			c := w.dial()
			c.send("a", "hold 1 b", "after 3600000 c", "hold 1 d", "e")
			c.expect("a")
			all = append(all, c)
			w.await("the asks", func() bool { return w.keeper.holding.Load() == int64(2*(i+1)) })
		}
		require.NoError(t, w.server.Close(w.ctx))
		require.Zero(t, w.server.Stats().Conns)
		for _, c := range all {
			c.expectEnd()
		}
		require.True(t, w.refuses())
		w.await("the asks cancelled", func() bool { return w.freed.Load() == 20 })
		require.NoError(t, w.server.Close(w.ctx), "again")
	})
}

// TestCloseWhileDraining: Close, Drain and the end of the work meet in any order.
func TestCloseWhileDraining(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for range 10 {
			w := openWorld(t, p, nil)
			for range 10 {
				w.dial().send("after 1 a", "hold 1 b", "after 2 c", "d")
			}
			first := begin(func() error { return w.server.Drain(w.ctx) })
			second := begin(func() error { return w.server.Close(w.ctx) })
			w.letGo(1)
			require.NoError(t, <-first)
			require.NoError(t, <-second)
			require.Zero(t, w.server.Stats().Conns)
		}
	})
}

func TestFrontStops(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		var all []*client
		for i := range 8 {
			c := w.dial()
			c.send("a", "hold 1 b", "never", "hold 1 c", "d")
			c.expect("a")
			all = append(all, c)
			w.await("the asks", func() bool { return w.keeper.holding.Load() == int64(2*(i+1)) })
		}
		for _, at := range w.fronts {
			require.NoError(t, at.StopWait(w.ctx))
		}
		for _, c := range all {
			c.expectEnd()
		}
		w.await("the asks cancelled", func() bool { return w.freed.Load() == 16 })
		w.await("all connections gone", func() bool { return w.server.Stats().Conns == 0 })
		// accepted and closed, or refused: never served
		conn, err := net.Dial(w.network, w.server.Addr())
		if err == nil {
			conn.SetDeadline(time.Now().Add(lostAfter))
			rest, _ := io.ReadAll(conn)
			require.Empty(t, rest)
			conn.Close()
		}
		require.NoError(t, w.server.Close(w.ctx))
	})
}

// TestOneOfTwoFrontsStops: what comes afterwards goes to the other.
func TestOneOfTwoFrontsStops(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for i := range 2 {
			w := openWorld(t, place{network: network, workers: 2}, nil)
			require.NoError(t, w.fronts[i].StopWait(w.ctx))
			for range 50 {
				c := w.dial()
				c.send("last a")
				c.expect("a")
				c.expectEnd()
			}
		}
	}
}

// TestShutdownWithoutDrain: all houses stop, in any order, with connections in
// every state and more arriving.
func TestShutdownWithoutDrain(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for range 10 {
			w := openWorld(t, p, nil)
			for i := range 10 {
				c := w.dial()
				c.send("a", "hold 1 b", "never", "after 1 c", "hold 1 d", strings.Repeat("e", i*10_000), "big 1000000")
				if i%2 == 0 {
					c.expect("a")
				}
			}
			stop := make(chan struct{})
			var group sync.WaitGroup
			group.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						w.refuses()
					}
				}
			})
			require.NoError(t, w.system.Shutdown(w.ctx))
			close(stop)
			group.Wait()
		}
	})
}

func TestListenFails(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 2}, nil)
	c := config{Network: "tcp", Address: w.server.Addr(), Codec: newLineCodec}
	listen := func(ctx context.Context, c config, fronts ...core.Address[front]) error {
		_, err := channel.Listen(ctx, c, serve, fronts...)
		return err
	}
	before, actors := descriptors(t), w.system.Actors()
	require.ErrorIs(t, listen(w.ctx, c, w.fronts[0]), syscall.EADDRINUSE)
	require.Error(t, listen(w.ctx, c), "no front")
	c.Network = "carrier pigeon"
	require.Error(t, listen(w.ctx, c, w.fronts...))
	c.Network, c.Address = "tcp", "127.0.0.1:0"
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	require.ErrorIs(t, listen(ctx, c, w.fronts...), context.Canceled)
	w.await("the descriptors closed", func() bool { return descriptors(t) <= before })
	require.Equal(t, actors, w.system.Actors())
	require.NoError(t, w.system.Shutdown(w.ctx))
	require.ErrorIs(t, listen(w.ctx, c, w.fronts...), core.ErrStopped)
}

// TestUnixSocketFile: a path, not a name that leaves no file. It has the mode that it is given,
// and goes with its server, however that ends; what another process has put there since stays.
func TestUnixSocketFile(t *testing.T) {
	dir, err := os.MkdirTemp("", "channel")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	for _, way := range []string{"drain", "close", "shutdown", "left", "replaced"} {
		w := openWorld(t, place{network: "unix", workers: 2}, func(c *config) { c.Address, c.SocketMode = path, 0o620 })
		require.Equal(t, path, w.server.Addr())
		if runtime.GOOS == "linux" {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o620), info.Mode().Perm())
		}
		c := w.dial()
		c.send("a")
		c.expect("a")
		switch way {
		case "drain", "replaced":
			if way == "replaced" {
				require.NoError(t, os.Remove(path))
				require.NoError(t, os.WriteFile(path, nil, 0o600))
			}
			drained := begin(func() error { return w.server.Drain(w.ctx) })
			c.expectEnd()
			require.NoError(t, <-drained)
		case "close":
			require.NoError(t, w.server.Close(w.ctx))
		case "shutdown":
			require.NoError(t, w.system.Shutdown(w.ctx))
		case "left": // as by a process that was killed; the next one finds it
			require.NoError(t, os.Rename(path, path+".left"))
			require.NoError(t, w.server.Close(w.ctx))
			require.NoError(t, os.Rename(path+".left", path))
			continue
		}
		_, err := os.Lstat(path)
		if way == "replaced" {
			require.NoError(t, err)
			require.NoError(t, os.Remove(path))
		} else {
			require.ErrorIs(t, err, fs.ErrNotExist, way)
		}
	}
}
