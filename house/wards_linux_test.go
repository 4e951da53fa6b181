//go:build !portable

package house_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
)

// echo sends back what its socket has.
type echo struct{ fd int }

func (e *echo) Ready(netio.Ready) {
	var buf [64]byte
	for {
		n, err := unix.Read(e.fd, buf[:])
		if n <= 0 || err != nil {
			return
		}
		unix.Write(e.fd, buf[:n])
	}
}

// An exchange has sockets on its worker.
type exchange struct{}

type joinStack struct{ core.AskStack[int, error] }

func (*exchange) join(s *joinStack) core.Yield {
	_, err := stack.Of(s).Worker().Net.(*netio.Poller).Add(s.Req, &echo{s.Req})
	return s.Return(err)
}

type restStack struct {
	core.AskStack[time.Duration, int]
}

func (*exchange) rest(s *restStack) core.Yield {
	time.Sleep(s.Req)
	return s.Return(0)
}

var (
	onJoin = core.Handle((*exchange).join)
	onRest = core.Handle((*exchange).rest)
)

// talk is a client of each of several sockets on each worker, that sends, and waits for what comes back.
type talk struct {
	*testing.T
	sys   *house.System
	ends  atomic.Bool
	rests atomic.Bool // for a while
	worst []atomic.Int64
	done  sync.WaitGroup
	first core.Address[exchange]
}

func newTalk(t *testing.T, workers, each int) *talk {
	f := &talk{T: t, sys: started(t, house.Config{Workers: workers})}
	f.worst = make([]atomic.Int64, workers)
	for i, w := range f.sys.Workers() {
		a := core.Spawn(w, func() *exchange { return &exchange{} })
		if i == 0 {
			f.first = a
		}
		for range each {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			require.NoError(t, err)
			require.NoError(t, unix.SetNonblock(fds[0], true))
			refused, err := core.Ask(context.Background(), onJoin.At(a), fds[0])
			require.NoError(t, err)
			require.NoError(t, refused)
			f.done.Go(func() { f.client(i, fds[1]) })
			t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
		}
	}
	t.Cleanup(f.end)
	return f
}

func (f *talk) client(worker, fd int) {
	buf := []byte{0}
	for !f.ends.Load() {
		if f.rests.Load() {
			time.Sleep(time.Millisecond)
			continue
		}
		began := time.Now()
		unix.Write(fd, buf)
		if n, err := unix.Read(fd, buf); n != 1 || err != nil {
			f.Errorf("%d, %v", n, err)
			return
		}
		took := int64(time.Since(began))
		for worst := &f.worst[worker]; ; {
			if old := worst.Load(); took <= old || worst.CompareAndSwap(old, took) {
				break
			}
		}
	}
}

// end ends the clients.
func (f *talk) end() {
	f.ends.Store(true)
	f.done.Wait()
}

// await waits until cond holds.
func (f *talk) await(what string, cond func() bool) {
	f.Helper()
	for began := time.Now(); !cond(); runtime.Gosched() {
		if time.Since(began) > 30*time.Second {
			f.Fatalf("%s: not in half a minute: %+v", what, f.sys.Stats())
		}
	}
}

// TestWards: with little to do, one worker looks at all networks, for as long as there is something to do.
func TestWards(t *testing.T) {
	f := newTalk(t, 3, 2)
	f.await("wards", func() bool { return f.sys.Wards() > 0 })
	tended := f.sys.Stats().Tended
	f.await("turns of wards", func() bool { return f.sys.Stats().Tended > tended+1000 })
	f.rests.Store(true)
	f.await("no wards", func() bool { return f.sys.Wards() == 0 })
	f.rests.Store(false)
	f.await("wards again", func() bool { return f.sys.Wards() > 0 })
}

// TestWardsOfASlowStep: a step that takes long keeps its own worker's connections waiting, not those of others.
func TestWardsOfASlowStep(t *testing.T) {
	const long = time.Second
	f := newTalk(t, 2, 2)
	f.await("wards", func() bool { return f.sys.Wards() > 0 })
	for i := range f.worst {
		f.worst[i].Store(0)
	}
	_, err := core.Ask(context.Background(), onRest.At(f.first), long)
	require.NoError(t, err)
	f.end()
	slow, other := time.Duration(f.worst[0].Load()), time.Duration(f.worst[1].Load())
	t.Logf("waits of up to %v, and %v", slow, other)
	require.Greater(t, slow, long/2)
	require.Less(t, other, long/2)
}

// TestShutdownOfWards: they leave as others do.
func TestShutdownOfWards(t *testing.T) {
	for range 5 {
		f := newTalk(t, 3, 2)
		f.await("wards", func() bool { return f.sys.Wards() > 0 })
		f.end()
		require.NoError(t, f.sys.Shutdown(context.Background()))
	}
}
