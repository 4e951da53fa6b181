//go:build !portable

package house

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/stack"
)

// warded is a system without loops, whose workers tests have park and sleep. Each but the first has a descriptor that
// is never ready.
type warded struct {
	*testing.T
	*System
	watcher, w *Worker
}

func newWarded(t *testing.T, workers int) *warded {
	s, err := New(Config{Workers: workers, Manual: true})
	require.NoError(t, err)
	require.NoError(t, s.openPollers())
	t.Cleanup(s.closePollers)
	s.appointWatcher()
	f := &warded{t, s, s.workers[0], s.workers[1]}
	for _, w := range s.workers[1:] {
		fds := make([]int, 2)
		require.NoError(t, unix.Pipe2(fds, unix.O_CLOEXEC))
		t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
		_, err := w.poller.Add(fds[0], &summons{f.watcher, 0})
		require.NoError(t, err)
		_, err = w.poller.WaitForWake(0)
		require.NoError(t, err)
	}
	return f
}

// parks has w park n times, a ms each, of which it is idle for so long, ns. The watcher has parked as often.
func (f *warded) parks(w *Worker, n int, idle int64) {
	f.Helper()
	for range n {
		f.watcherDoes(1, 0)
		w.hot.Now += 1_000_000
		w.ward.idle += idle
		w.considerWard()
	}
}

func (f *warded) watcherDoes(parks, messages uint64) {
	f.pulse.parks.Add(parks)
	f.pulse.turns.Add(messages) // one each
	f.pulse.messages.Add(messages)
}

// becomes has w become a ward.
func (f *warded) becomes(w *Worker) {
	f.Helper()
	w.ward.since = w.hot.Now
	for range wardParks {
		f.watcherDoes(1, 0)
		w.hot.Now += wardParksIn / wardParks
		w.ward.idle += wardParksIn / wardParks
		w.considerWard()
	}
	require.True(f, w.hot.Ward.Load())
}

// look has the ward look one time more, the watcher having done so much since.
func (f *warded) look(w *Worker, parks, messages uint64) (ends bool) {
	f.watcherDoes(parks, messages)
	return w.look(w.ward.lookedAt + wardLook)
}

func TestWhoBecomesAWard(t *testing.T) {
	const each = wardParksIn / wardParks
	for _, test := range []struct {
		name   string
		took   int64 // from park to park
		idle   int64 // of that
		theirs uint64
		change func(f *warded)
		want   bool
	}{
		{"often idle", each, each, 1, nil, true},
		{"half idle", each, each / 2, 1, nil, true},
		{"busy", each, each/2 - 1, 1, nil, false},
		{"seldom", each + 1, each + 1, 1, nil, false},
		{"watcher without a pause", each, each, 0, nil, false},
		{"skips", each, each, 1, func(f *warded) { f.w.ward.skips = 1 }, false},
		{"no network", each, each, 1, func(f *warded) {
			p := f.w.poller
			f.w.poller = f.watcher.poller
			f.Cleanup(func() { f.w.poller = p })
		}, false},
		{"the watcher itself", each, each, 1, func(f *warded) { f.w = f.watcher }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newWarded(t, 2)
			if test.change != nil {
				test.change(f)
			}
			f.w.ward.since = f.w.hot.Now
			for n := range wardParks {
				require.False(t, f.w.hot.Ward.Load(), n)
				f.watcherDoes(test.theirs, 0)
				f.w.hot.Now += test.took
				f.w.ward.idle += test.idle
				f.w.considerWard()
			}
			require.Equal(t, test.want, f.w.hot.Ward.Load())
			require.Equal(t, test.want, f.pulse.wards.Load() == 1)
			require.Equal(t, test.want, f.pulse.looking.Load() == 1)
		})
	}
}

// ended checks that w, whose look has said so, is no ward any more.
func (f *warded) ended(w *Worker, state wardState) {
	f.Helper()
	require.True(f, w.ward.ends)
	w.heedLook()
	require.False(f, w.ward.ends)
	require.False(f, w.hot.Ward.Load())
	require.Zero(f, f.pulse.wards.Load())
	require.Equal(f, state, w.ward.state)
	looking := int32(0)
	if state == trial {
		looking = 1
	}
	require.Equal(f, looking, f.pulse.looking.Load())
}

func TestWardOfAStuckWatcher(t *testing.T) {
	f := newWarded(t, 2)
	pause := 1
	for range 3 {
		f.becomes(f.w)
		require.False(t, f.look(f.w, 0, 0), "it hadn't looked before")
		require.False(t, f.look(f.w, 0, 1))
		require.True(t, f.look(f.w, 0, 0))
		f.ended(f.w, alone)
		require.Equal(t, pause, f.w.ward.skips)
		pause = 2*pause + 1
		f.w.ward.skips = 0
	}
}

// A watcher that sleeps isn't stuck, and one that does little isn't looked at for long.
func TestWardOfAQuietWatcher(t *testing.T) {
	f := newWarded(t, 2)
	f.becomes(f.w)
	f.look(f.w, 0, 0)
	f.w.ward.quiet = 0
	require.True(t, f.watcher.hot.Park())
	for range quietLooks - 1 {
		require.False(t, f.look(f.w, 0, quietTurns-1))
	}
	require.False(t, f.look(f.w, 0, quietTurns))
	for range quietLooks - 1 {
		require.False(t, f.look(f.w, 0, 0))
	}
	require.True(t, f.look(f.w, 0, 0))
	f.ended(f.w, alone)
	require.Zero(t, f.w.ward.skips)
}

// full has the ward find the watcher to be full, which handles so many messages a second.
func (f *warded) full(rate uint64) {
	f.Helper()
	f.look(f.w, 1, 0)
	for range fullLooks - 1 {
		require.False(f, f.look(f.w, 0, rate*wardLook/1e9))
	}
	require.False(f, f.look(f.w, 1, rate*wardLook/1e9), "it had a pause")
	for range fullLooks - 1 {
		require.False(f, f.look(f.w, 0, rate*wardLook/1e9))
	}
	require.True(f, f.look(f.w, 0, rate*wardLook/1e9))
}

func TestTrialThatPays(t *testing.T) {
	f := newWarded(t, 2)
	f.becomes(f.w)
	f.full(1_000_000)
	f.ended(f.w, trial)
	f.parks(f.w, 4, 0)
	require.Equal(t, trial, f.w.ward.state)
	f.watcherDoes(0, 5700) // in 5 ms
	f.parks(f.w, 1, 0)
	require.Equal(t, alone, f.w.ward.state)
	require.False(t, f.w.hot.Ward.Load())
	require.Zero(t, f.pulse.looking.Load())
	require.Zero(t, f.w.ward.fullSkips)
}

func TestTrialInVain(t *testing.T) {
	f := newWarded(t, 2)
	f.becomes(f.w)
	f.full(1_000_000)
	f.ended(f.w, trial)
	f.watcherDoes(0, 5600)
	f.parks(f.w, 5, 0)
	require.True(t, f.w.hot.Ward.Load())
	require.Equal(t, int32(1), f.pulse.looking.Load())
	require.Equal(t, trialLooks, f.w.ward.fullSkips)
	f.look(f.w, 1, 0)
	for range f.w.ward.fullSkips + fullLooks - 1 {
		require.False(t, f.look(f.w, 0, 5000))
	}
}

// Who finds the watcher stuck has the others take their networks back too.
func TestAlarm(t *testing.T) {
	f := newWarded(t, 3)
	other := f.workers[2]
	f.becomes(f.w)
	f.becomes(other)
	for _, w := range []*Worker{f.w, other} {
		_, err := w.poller.WaitForWake(0) // an old one
		require.NoError(t, err)
	}
	f.look(f.w, 0, 1)
	require.True(t, f.look(f.w, 0, 0))
	other.ward.lookedAt = 0
	require.NoError(t, other.wait(0, 1<<62))
	require.Zero(t, other.ward.looks, "it was woken")
	other.heedLook()
	require.False(t, other.hot.Ward.Load())
	require.Positive(t, other.ward.skips)
}

// What a ward's network has is there for it before it sleeps, and wakes the watcher.
func TestWardsNetwork(t *testing.T) {
	f := newWarded(t, 2)
	f.becomes(f.w)
	fd, err := unix.Eventfd(1, unix.EFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	heard := summons{f.w, 4}
	_, err = f.w.poller.Add(fd, &heard)
	require.NoError(t, err)
	f.w.ward.lookedAt = 0
	require.NoError(t, f.w.wait(0, 1<<62))
	require.Zero(t, f.w.ward.looks, "it slept")
	require.False(t, f.w.ward.ends)

	require.NoError(t, f.watcher.poller.Wait(-1))
	require.Equal(t, 1, f.watcher.poller.Deliver())
	require.True(t, f.watcher.called())
	require.Zero(t, f.watcher.NextWake())
	f.watcher.tend(true)
	require.Zero(t, f.w.astir, "the ward wasn't parked: it does that itself")
	require.False(t, f.watcher.called())

	_, err = unix.Write(fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	require.NoError(t, err)
	require.True(t, f.w.hot.Park())
	require.Positive(t, f.watcher.poll())
	f.watcher.tend(true)
	require.Equal(t, uint64(4), f.w.astir, "the watcher hasn't run the handler")
	require.True(t, f.watcher.called(), "there may be more")
	require.Zero(t, f.w.events)
	require.Equal(t, 1, f.watcher.events, "it is the watcher's for whether it naps")
	f.watcher.tend(true)
	require.False(t, f.watcher.called())
	require.True(t, f.w.hot.Resting())
}

// A watcher that is told of a network too late leaves it alone: its worker may be waiting for it.
func TestSummonsTooLate(t *testing.T) {
	f := newWarded(t, 2)
	f.becomes(f.w)
	f.watcher.astir = f.w.bit()
	f.w.ward.ends = true
	f.w.heedLook()
	require.True(t, f.w.hot.Park())
	f.watcher.tend(true)
	require.False(t, f.watcher.called())
	require.True(t, f.w.hot.Resting())
}

// More than a turn handles goes on in the watcher's next one, and the ward sleeps on.
func TestWardWithMuchToDo(t *testing.T) {
	f := newWarded(t, 2)
	f.becomes(f.w)
	h, _ := stack.NewHouse(func() *counter { return &counter{} })
	f.w.Settle(h, nil)
	calls := make([]*stack.Call, 3*turnMax)
	for i := range calls {
		calls[i] = f.guests.Call(h, counterAsk)
		*stack.Request[int, int](calls[i].Stack()) = i
		f.guests.Send(calls[i])
	}
	f.w.hot.Park()
	f.watcher.hot.Calling = f.w.bit()
	turns := 0
	for ; f.watcher.called(); turns++ {
		f.watcher.tend(true)
		require.True(t, f.w.hot.Resting())
	}
	require.Greater(t, turns, 1)
	for i, c := range calls {
		require.NoError(t, f.guests.Finish(c))
		require.Equal(t, i, *stack.Reply[int](c.Stack()))
		f.guests.Done(c)
	}
}

// counter answers what it is asked.
type counter struct{}

type counterStack struct{ stack.AskStack[int, int] }

func (*counter) asked(s *counterStack) stack.Yield { return s.Return(s.Req) }

var counterAsk = stack.NewAsk((*counter).asked)

// Two wards that find the watcher full are not on trial at the same time: neither could tell what it was good for.
func TestTrialsOneByOne(t *testing.T) {
	f := newWarded(t, 3)
	other := f.workers[2]
	f.becomes(f.w)
	f.becomes(other)
	for range fullLooks {
		f.look(f.w, 0, 5000)
		f.look(other, 0, 0)
	}
	require.True(t, f.look(f.w, 0, 5000))
	f.w.heedLook()
	require.Equal(t, trial, f.w.ward.state)
	require.False(t, f.look(other, 0, 5000))
	f.w.hot.Now += trialTime
	f.w.reconsiderWard()
	require.True(t, f.w.hot.Ward.Load(), "in vain")
	require.True(t, f.look(other, 0, 5000))
}

// A ward whose step kept the watcher for long looks after its network itself.
func TestSlowWard(t *testing.T) {
	f := newWarded(t, 2)
	now := int64(0)
	f.config.Clock = func() int64 { now += wardLook; return now }
	f.becomes(f.w)
	f.w.hot.Park()
	f.w.ward.lookedAt = 1 << 61
	f.watcher.hot.Calling = f.w.bit()
	f.watcher.tend(true)
	require.NoError(t, f.w.wait(0, 1<<62))
	require.True(t, f.w.hot.Unpark())
	f.ended(f.w, alone)
	require.Positive(t, f.w.ward.skips)
}

// So does one that is awake without a pause.
func TestBusyWard(t *testing.T) {
	f := newWarded(t, 2)
	f.becomes(f.w)
	f.w.ward.awakeAt = f.w.hot.Now
	f.w.hot.Now += yieldEvery - 1
	f.w.reconsiderWard()
	require.True(t, f.w.hot.Ward.Load())
	f.w.hot.Now++
	f.w.reconsiderWard()
	require.False(t, f.w.hot.Ward.Load())
}

// A timer that the watcher's turn arms doesn't wake the ward at once, but it wakes in time.
func TestAlarmOfAWard(t *testing.T) {
	f := newWarded(t, 2)
	now := int64(0)
	f.config.Clock = func() int64 { now += wardLook; return now }
	f.becomes(f.w)
	f.watcher.hot.Park()
	_, err := f.w.poller.WaitForWake(0) // an old one
	require.NoError(t, err)
	f.w.hot.Now, f.w.ward.lookedAt = 0, 0
	require.False(t, f.w.alarmLater(2*wardLook), "it may look later than that")
	require.True(t, f.w.alarmLater(10*wardLook))
	require.NoError(t, f.w.wait(0, 1<<62))
	require.False(t, f.w.ward.ends)
	require.Equal(t, int64(10*wardLook), now)
}

// A step that ends the watcher's goroutine in one ward's turn doesn't keep it from the next.
func TestWardWhoseStepExits(t *testing.T) {
	f := newWarded(t, 3)
	calls := make([]*stack.Call, 2)
	for i, w := range f.workers[1:] {
		f.becomes(w)
		h, _ := stack.NewHouse(func() *counter { return &counter{} })
		w.Settle(h, nil)
		calls[i] = f.guests.Call(h, []*stack.Handler{counterExit, counterAsk}[i])
		f.guests.Send(calls[i])
		w.hot.Park()
		f.watcher.hot.Calling |= w.bit()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.watcher.tend(true)
		t.Error("the goroutine goes on")
	}()
	<-ended
	require.True(t, f.watcher.called())
	f.watcher.tend(true)
	for _, c := range calls {
		require.NoError(t, f.guests.Finish(c))
		f.guests.Done(c)
	}
}

func (*counter) exit(s *counterStack) stack.Yield {
	runtime.Goexit()
	return s.Return(0)
}

var counterExit = stack.NewAsk((*counter).exit)

// TestWardDoesntNap: whose network the watcher looks at has none to sleep through.
func TestWardDoesntNap(t *testing.T) {
	f := newWarded(t, 2)
	f.w.eventful = 2 * napEvents * napMean
	require.True(t, f.w.naps())
	f.becomes(f.w)
	require.False(t, f.w.naps())
}
