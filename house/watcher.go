package house

import (
	"math/bits"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/netio"
)

// summons is told that a ward's network has something.
type summons struct {
	watcher *Worker
	ward    uint64 // its bit
}

func (s *summons) Ready(netio.Ready) { s.watcher.astir |= s.ward }

// bit is what stands for w among its watcher's.
func (w *Worker) bit() uint64 { return 1 << w.hot.Index }

// appointWatcher makes the first worker the watcher, and all others such as may be wards; before they run.
func (s *System) appointWatcher() {
	if s.config.LockThreads || s.config.ShareAfter < 0 {
		return
	}
	watcher := s.workers[0]
	for _, w := range s.workers[1:min(len(s.workers), wardsMax)] {
		if err := w.poller.MayEntrust(watcher.poller, &summons{watcher, w.bit()}); err != nil {
			return // this system's pollers can't, or there are no descriptors left
		}
		w.ward.may, watcher.hot.Watches = true, true
	}
}

// called reports whether a ward has something to do.
func (w *Worker) called() bool { return w.hot.Calling|w.astir != 0 }

// tend runs a turn of each ward that has something to do, which looks at the network too if that is asked for. It
// returns the number of messages that they handled.
func (w *Worker) tend(polls bool) (handled int) {
	called := w.hot.Calling
	if w.pollsWards = polls; polls {
		called |= w.astir
	}
	if called == 0 {
		return 0
	}
	began := w.hot.Driver.Clock()
	for ; called != 0; called &= called - 1 {
		to := w.system.workers[bits.TrailingZeros64(called)]
		w.hot.Calling &^= to.bit() // one at a time: a step may end this goroutine
		n, tended := w.hot.Tend(&to.hot)
		if !tended {
			w.leaveTo(to)
		}
		handled += n
		now := w.hot.Driver.Clock()
		if tended && now-began >= wardLook {
			to.ward.slow.Store(true)
			to.hot.Driver.Wake()
		}
		began = now
	}
	w.tended += uint64(handled)
	return handled
}

// leaveTo leaves the network of a worker that isn't a ward any more, or wasn't parked, to its own goroutine, which looks
// before it parks. Others, who may have its turn, don't look.
func (w *Worker) leaveTo(to *Worker) {
	if w.astir&to.bit() != 0 {
		w.astir &^= to.bit()
		if !to.hot.Woken() {
			to.hot.Driver.Wake()
		}
	}
}

// pollTended is poll in a turn that the watcher runs. Once there is nothing more the watcher is told of what comes.
func (w *Worker) pollTended() {
	watcher := w.system.workers[0]
	invariant.Point("ward.poll")
	if watcher.pollsWards && watcher.astir&w.bit() != 0 {
		n := w.poll()
		watcher.events += n
		if n == 0 {
			watcher.astir &^= w.bit()
		}
	}
}

// showPulse shows wards what the watcher has done.
func (w *Worker) showPulse() {
	if p := &w.system.pulse; w.hot.Watches && p.looking.Load() > 0 {
		p.turns.Store(w.turns + p.parks.Load())
		p.messages.Store(w.hot.Handled() + w.tended)
	}
}
