//go:build !portable

package house

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
)

// dozer is a worker with a descriptor, for tests that have it park. Its clock stands still.
type dozer struct {
	*testing.T
	*Worker
	fd    int
	token netio.Token
	told  int // events handled
}

func newDozer(t *testing.T, nap, busyPoll time.Duration) *dozer {
	s, err := New(Config{Workers: 1, Manual: true, Nap: nap, BusyPoll: busyPoll, Clock: func() int64 { return 1000 }})
	require.NoError(t, err)
	require.NoError(t, s.openPollers())
	t.Cleanup(s.closePollers)
	n := &dozer{T: t, Worker: s.workers[0]}
	n.fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	require.NoError(t, err)
	t.Cleanup(func() { unix.Close(n.fd) })
	n.token, err = n.poller.Add(n.fd, n)
	require.NoError(t, err)
	n.Turn() // it can be written to
	n.told, n.events = 0, 0
	return n
}

func (n *dozer) Ready(netio.Ready) { n.told++ }

// event has the descriptor be readable.
func (n *dozer) event() {
	_, err := unix.Write(n.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	require.NoError(n, err)
}

// works has the worker park several times, each time behind so many events.
func (n *dozer) works(events int) {
	for range 5 * napMean {
		for range events {
			n.event()
			n.Turn()
		}
		n.poller.Wake()
		n.park()
	}
	n.told = 0
}

// parksThrough parks while there is an event, and reports whether it went by unheeded.
func (n *dozer) parksThrough() bool {
	n.Helper()
	n.event()
	n.publish()
	before := n.system.Stats().Naps
	n.park()
	through := n.told == 0
	n.publish()
	want(n.T, "it counts as one nap", n.system.Stats().Naps == before+1, through)
	n.Turn()
	assert.Equal(n, 1, n.told, "in the next turn the event is found, or has been")
	n.told = 0
	return through
}

// TestNap: a worker that the network keeps busy sleeps through an event, and looks for it then.
func TestNap(t *testing.T) {
	for _, c := range []struct {
		what          string
		nap, busyPoll time.Duration
		events        int
		want          bool
	}{
		{"more than 20 events a park", 0, 0, napEvents + 1, true}, // the mean is a little less
		{"fewer", 0, 0, napEvents - 1, false},
		{"no event", 0, 0, 0, false},
		{"never", -1, 0, 10 * napEvents, false},
		{"who polls", 0, time.Microsecond, 10 * napEvents, false},
	} {
		n := newDozer(t, c.nap, c.busyPoll)
		n.works(c.events)
		want(t, c.what, n.parksThrough(), c.want)
	}
}

// TestNapLength: a nap takes as long as it should.
func TestNapLength(t *testing.T) {
	const nap = 3 * time.Millisecond
	n := newDozer(t, 0, 0)
	n.works(2 * napEvents)
	n.system.config.Nap = nap
	began := time.Now()
	want(t, "a nap", n.parksThrough(), true)
	if took := time.Since(began); took < nap {
		t.Errorf("it took %v, want %v", took, nap)
	}
}

// TestNapMean: neither one busy time, however long, nor one idle park decides.
func TestNapMean(t *testing.T) {
	n := newDozer(t, 0, 0)
	for range 1000 * napEvents {
		n.event()
		n.Turn()
	}
	n.poller.Wake()
	n.park()
	n.told = 0
	want(t, "busy once", n.parksThrough(), false)
	n.works(100 * napEvents)
	n.poller.Wake()
	n.park()
	want(t, "idle once", n.parksThrough(), true)
	vain := 0
	for ; n.naps(); vain++ {
		n.park()
		n.Turn()
	}
	if vain > napMean {
		t.Errorf("%d naps in vain behind the last event, want %d at most", vain, napMean)
	}
}

// TestNapEnds: a timer ends a nap, and so does whoever wakes the worker.
func TestNapEnds(t *testing.T) {
	n := newDozer(t, 0, 0)
	n.works(2 * napEvents)
	n.system.config.Nap = time.Hour
	timer := &future.Node{When: 1000 + 2_000_000}
	n.hot.Driver.Arm(timer)
	began := time.Now()
	want(t, "until a timer is due", n.parksThrough(), true)
	if took := time.Since(began); took < 2*time.Millisecond || took > time.Minute/2 {
		t.Errorf("it took %v, want 2 ms", took)
	}
	n.hot.Driver.Disarm(timer)

	h, _ := stack.NewHouse(func() *int { return new(int) })
	n.Register(h, nil)
	time.AfterFunc(2*time.Millisecond, func() { h.Stop(&n.system.guests) })
	began = time.Now()
	want(t, "until somebody has a message", n.parksThrough(), true)
	if took := time.Since(began); took > time.Minute/2 {
		t.Errorf("it took %v, want 2 ms", took)
	}
}

// TestBusyPoll: a worker to whom nobody spoke looks at the network for BusyPoll, if it has
// connections, also if it is the last that doesn't park; and for mail for Spin behind it.
func TestBusyPoll(t *testing.T) {
	for _, c := range []struct {
		poll, spin time.Duration
		heard      bool
		most       int64 // until it parks
	}{
		{0, 0, false, 0}, {30 * time.Microsecond, 0, false, 30_000}, {30 * time.Microsecond, -1, true, 30_000},
		{2 * time.Microsecond, 0, false, 2_000}, {2 * time.Microsecond, 4 * time.Microsecond, true, 4_000},
		{30 * time.Microsecond, time.Second, true, 30_000}, {-1, -1, true, 0},
	} {
		n := newDozer(t, 0, c.poll)
		now := int64(1000)
		n.system.config.Spin, n.system.config.Clock = c.spin, func() int64 { return now }
		looks := func() bool {
			n.timely = false
			return n.Turn() || n.spinning()
		}
		n.hot.Heard = c.heard
		for _, idle := range []int64{0, c.most / 2, max(0, c.most-1)} {
			now = 1000 + idle
			want(t, fmt.Sprint(c, idle), looks(), c.most > 0)
		}
		now = 1000 + c.most
		want(t, fmt.Sprint(c, "at the end"), looks(), false)
	}
	n := newDozer(t, 0, time.Second)
	want(t, "with a connection", n.spinning(), true)
	require.NoError(t, n.poller.Remove(n.token, n.fd))
	n.idleAt = 0
	want(t, "without", n.spinning(), false)
}
