package house

import (
	"fmt"
	"runtime"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/turns"
	"github.com/stackhouse-go/stackhouse/stack/count"
)

// loop runs the worker until it has left.
func (w *Worker) loop() {
	w.lockThread()
	defer w.exit(turns.Begin())
	w.work()
	w.poller.Close()
	w.left = true
}

// work takes turns and parks, until the worker is told to leave, and then leaves.
func (w *Worker) work() {
	for {
		w.yield()
		busy := w.Turn()
		if w.woken {
			w.heedWake(busy)
		}
		invariant.Point("loop.leaving")
		if w.leaving.Load() { // after the turn, whose look at the network takes wake-ups
			w.leave()
			return
		}
		if busy {
			w.resume()
		} else if !w.spinning() {
			w.park()
		}
	}
}

// leave ends sending to the worker, then handles what was sent before: that comes to an end,
// however much others try to send.
func (w *Worker) leave() {
	w.stopSpinning()
	w.hot.Leave()
	for w.Turn() {
		w.yield()
	}
	w.publish()
}

// dismiss tells the loop to leave.
func (w *Worker) dismiss() {
	w.leaving.Store(true)
	w.hot.Driver.Wake()
}

// yieldEvery is how long the loop runs before it yields, ns. Go's monitor takes a goroutine that
// runs for 10 ms for stuck: it preempts it, or takes its processor away while it is in a system
// call; and as long as it finds such goroutines it looks every 20 µs.
const yieldEvery = 9_000_000

// yield lets other goroutines have the processor, if any want it. A locked thread doesn't yield:
// another thread would have to hand the processor back, which costs more than the monitor does.
func (w *Worker) yield() {
	if w.hot.Now-w.yieldedAt >= yieldEvery && !w.system.config.LockThreads {
		w.yieldedAt, w.timely, w.follows = w.hot.Now, false, false
		w.hot.WakeNow() // yielding may take long
		runtime.Gosched()
	}
}

// lockThread locks the worker's goroutine to its thread and binds that to a CPU, as
// Config.LockThreads and CPUs say. It is never unlocked: the thread ends with the goroutine, so
// that no other goroutine gets its binding, or what actors have done to it.
func (w *Worker) lockThread() {
	c := &w.system.config
	if !c.LockThreads {
		return
	}
	// first: from a locked thread Go starts no threads, which would inherit the binding
	runtime.LockOSThread()
	nameThread(fmt.Sprintf("worker %d", w.hot.Index))
	if len(c.CPUs) == 0 {
		return
	}
	if err := bindThread(c.CPUs[w.hot.Index%len(c.CPUs)]); err != nil {
		// Start has bound a thread to it: so this CPU was taken from the process since.
		c.Logger.Error("house: a worker runs unbound", "worker", w.hot.Index, "error", err)
	}
}

// exit is deferred around the loop: a step that calls runtime.Goexit, as a test's FailNow does,
// ends the goroutine, and the worker goes on on another.
func (w *Worker) exit(turner *turns.Turner) {
	turner.End()
	if w.left {
		close(w.gone)
		return
	}
	go w.loop()
}

// spinning reports whether a worker with nothing to do should look again instead of parking: for
// Config.Spin, if others have sent to it since it parked last and may go on; or until the next
// timer, if that is due within Config.Spin. If it has connections it does for Config.BusyPoll,
// which all workers may at once.
func (w *Worker) spinning() bool {
	if w.idleAt == 0 {
		w.idleAt, w.spin = w.hot.Now, w.spinTime()
		if w.spin > 0 || w.busyPoll() > 0 {
			w.hot.Count.Add(count.Spins, 1)
		}
	}
	idle := w.hot.Now - w.idleAt
	polls, listens := idle < w.busyPoll(), idle < w.spin
	if idle >= shortSpin && (polls || listens) && !w.spinsLong && !w.startLongSpin() {
		listens = false
	}
	switch {
	case polls: // the next turn looks at everything
	case listens:
		w.watch()
	default:
		w.heeded(false)
		return false
	}
	return true
}

// busyPoll returns for how long the worker looks at the network before it parks, ns.
func (w *Worker) busyPoll() int64 {
	if w.poller == nil || w.poller.Len() == 0 {
		return 0
	}
	return int64(w.system.config.BusyPoll)
}

// spinTime returns how long a worker that has just become idle spins, ns.
func (w *Worker) spinTime() int64 {
	most := int64(w.system.config.Spin)
	if most <= 0 {
		return most
	}
	if w.hot.Heard {
		if w.skips == 0 {
			w.listens, w.hot.Heard = true, false
			return most
		}
		w.skips--
	}
	if at, armed := w.wheel.Next(); armed && at-w.hot.Now <= most {
		return at - w.hot.Now
	}
	return 0
}

// resume ends idleness: there is something to do. Spinning for mail has paid if mail came: the
// network or a timer would have woken the worker. If none came, the sender has something else to
// do, or other processes have its processor.
func (w *Worker) resume() {
	w.idleAt = 0
	w.heeded(w.hot.Heard)
	if w.hot.Gathers && w.hot.Idle() {
		w.gather()
	}
}

// heeded ends spinning for mail, if the worker did that, and notes whether mail came.
func (w *Worker) heeded(mail bool) {
	if w.listens {
		w.listens = false
		w.skips = w.vain.note(mail)
		w.hot.Heard = true // as it was when spinning began: others may go on
	}
}

// gatherTime is how long after the beginning of a turn notices of goroutines gather for the next
// turn, ns, if the turn found only such notices and the worker has nothing else to do. A turn takes
// away the newest envelope, to which the goroutines add: a worker that keeps up would take two
// notices at a time, and each such crossing costs both sides as much as dozens of notices.
// gatherLooks bounds the wait if the clock stands still.
const (
	gatherTime  = 1_000
	gatherLooks = 100
)

// gather waits until gatherTime has passed since the turn began.
func (w *Worker) gather() {
	w.hot.Now = w.system.config.Clock()
	w.hot.Measure() // counts what the turn took: the next one doesn't follow it
	for i := 0; i < gatherLooks && w.hot.Now-w.began < gatherTime; i++ {
		w.hot.Now = w.system.config.Clock()
	}
	w.timely, w.follows = true, false
}

// watchMax is how often watch looks: that takes about as long as a turn with nothing to do.
const watchMax = 100

// watch looks for mail, and for nothing else, until the next turn is due: mail that comes during an
// idle turn would wait until that has read the clock and asked the network.
func (w *Worker) watch() {
	w.hot.Now = w.system.config.Clock()
	w.timely, w.follows = true, false
	for range watchMax {
		if w.hot.Pending() {
			return
		}
	}
}

// shortSpin is how long all workers may spin at once, ns; beyond it, all but one, unless they poll
// the network: see startLongSpin.
const shortSpin = 5_000

// startLongSpin makes the worker one of those that spin beyond shortSpin. It reports false if all
// other workers do already.
//
//go:noinline
func (w *Worker) startLongSpin() bool {
	n := &w.system.longSpinners
	for {
		old := n.Load()
		if int(old) >= len(w.system.workers)-1 {
			return false
		}
		if n.CompareAndSwap(old, old+1) {
			w.spinsLong = true
			w.offerHelp()
			return true
		}
	}
}

// endLongSpin ends long spinning once there is something to do, before that is done.
func (w *Worker) endLongSpin() {
	if w.spinsLong && !w.hot.Idle() {
		w.stopSpinning()
	}
}

func (w *Worker) stopSpinning() {
	if w.spinsLong {
		w.spinsLong = false
		w.system.longSpinners.Add(-1)
		w.endHelp()
	}
}

// park blocks until another worker, a guest, the network or a timer has work. While it is in Sleep,
// a guest or another worker may run the worker's turns.
func (w *Worker) park() {
	w.idleAt, w.follows = 0, false
	w.stopSpinning()
	w.hot.Heard = false
	ns := w.NextWake()
	if ns == 0 {
		return
	}
	w.hot.Count.Add(count.Parks, 1)
	naps := w.naps()
	if naps {
		w.hot.Count.Add(count.Naps, 1)
		ns = min(ns, int64(w.system.config.Nap))
	}
	w.publish()
	w.offerHelp()
	before := w.hot.Now
	woken := w.hot.Sleep(ns, !naps)
	w.endHelp()
	if w.woken = woken; woken {
		w.hot.Count.Add(count.Woken, 1)
	}
	if w.hot.Now = w.system.config.Clock(); w.hot.Now-before >= yieldEvery {
		w.yieldedAt = w.hot.Now // while it slept others had the processor
	}
	w.heedEvents(w.poller.Deliver())
}

// heedWake counts a wake-up as vain if the first turn after it had nothing to do: a borrower of the
// turn may have done the work before.
func (w *Worker) heedWake(busy bool) {
	w.woken = false
	if !busy {
		w.hot.Count.Add(count.Vain, 1)
	}
}

// checkPoll ends the process if the poller is broken: a worker that can't wait can't work.
func (w *Worker) checkPoll(err error) {
	if err != nil {
		panic(fmt.Sprintf("house: worker %d can't poll: %v", w.hot.Index, err))
	}
}
