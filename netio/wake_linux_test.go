package netio

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestWakeBeforeWait(t *testing.T) {
	f := newFixture(t, batchMax)
	for range 3 { // also between two Waits, though nobody reads the counter
		f.p.Wake()
		require.Equal(t, 0, f.wait(-1))
	}
	f.p.Wake()
	f.p.Wake()
	require.Equal(t, 0, f.wait(-1))
	start := time.Now()
	require.Equal(t, 0, f.wait(time.Millisecond))
	require.GreaterOrEqual(t, time.Since(start), time.Millisecond, "two wakes are one edge until taken")
}

func TestPollTakesWake(t *testing.T) {
	f := newFixture(t, batchMax)
	f.p.Wake()
	require.Equal(t, 0, f.poll())
	start := time.Now()
	require.Equal(t, 0, f.wait(time.Millisecond))
	require.GreaterOrEqual(t, time.Since(start), time.Millisecond)
	f.p.Wake()
	require.Equal(t, 0, f.wait(-1))
}

// The worker keeps the rule: it looks at its queue after polling and before waiting.
// Each sender awaits the answer to its last wake, so one lost wake stops everything.
func TestWakeIsNeverLost(t *testing.T) {
	for _, batch := range batches {
		for _, polls := range []bool{false, true} {
			f := newFixture(t, batch)
			const senders = 3
			rounds := fewer(2000)
			var queue atomic.Int64
			var g sync.WaitGroup
			acks := make(chan struct{}, senders)
			for range senders {
				g.Go(func() {
					for range rounds {
						queue.Add(1)
						f.p.Wake()
						<-acks
					}
				})
			}
			// Sockets that are ready too must not displace the wake.
			a, b := f.pair()
			f.add(a, new(recorder))
			for got := 0; got < senders*rounds; {
				if polls {
					f.poll()
				}
				n := int(queue.Swap(0))
				if n == 0 {
					start := time.Now()
					f.wait(lostAfter)
					require.Less(t, time.Since(start), lostAfter, "a wake is lost")
				}
				if got += n; got%8 == 0 {
					Write(b, []byte{1})
				}
				for range n {
					acks <- struct{}{}
				}
			}
			g.Wait()
			require.NoError(t, f.p.Close())
		}
	}
}

// A ring in progress keeps the eventfd open; the last one out closes it.
func TestCloseDuringWake(t *testing.T) {
	f := newFixture(t, batchMax)
	fd := f.p.bell.fd
	open := func() bool {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		return err == nil
	}
	require.True(t, f.p.bell.enter())
	require.NoError(t, f.p.Close())
	require.True(t, open())
	require.False(t, f.p.bell.enter())
	f.p.bell.exit()
	require.True(t, open())
	f.p.bell.exit()
	require.False(t, open())
	f.p.Wake() // must not close it a second time, by now it may be another's
	require.Equal(t, uint32(bellClosed|bellGone), f.p.bell.users.Load())
}

// Wakes that come too late never reach a descriptor with the eventfd's number.
func TestLateWakesHitNobody(t *testing.T) {
	checkDescriptors(t)
	for range fewer(300) {
		p, err := open(1)
		require.NoError(t, err)
		var g sync.WaitGroup
		var closed atomic.Bool
		for range 2 {
			g.Go(func() {
				for late := 0; late < 5; {
					p.Wake()
					if closed.Load() {
						late++
					}
				}
			})
		}
		require.NoError(t, p.Close())
		var fds [2]int
		for i := range fds {
			fds[i], err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
			require.NoError(t, err)
		}
		closed.Store(true)
		g.Wait()
		for _, fd := range fds {
			_, err := Read(fd, make([]byte, 8))
			require.Equal(t, ErrAgain, err, "somebody wrote into it")
			require.NoError(t, Close(fd))
		}
	}
}
